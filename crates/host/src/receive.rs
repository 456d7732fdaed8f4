//! The receive side of a host: interrupt moderation, polling, and one core that processes the
//! polled frames.
//!
//! As with Linux's NAPI, the first frame after a quiet time arms a poll; a poll takes the frames
//! that have arrived, merges them, and processes them; while frames keep arriving the next poll
//! follows at once. So a wire that ends at a host needs one event for each poll, not one for each
//! frame.

use super::environment::{Environment, ReceiveRing as _};
use crate::cpu::softirq::POLL_BUDGET;
use crate::gro::{Aggregate, Gro};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// The cost of receiving on one host.
#[derive(Clone, Debug)]
pub struct ReceivePolicy {
    /// Work for each aggregate.
    pub per_packet: Span,
    /// Femtoseconds of work for each byte of payload.
    pub per_byte_fs: u64,
    /// Frames that the receive ring holds.
    pub ring_frames: usize,
    /// Payload bytes that receive offload merges at most; 0 for none.
    pub gro_bytes: u32,
}

/// The receive stage of one host.
#[derive(Debug)]
pub(super) struct ReceiveStage {
    /// Whether receiving costs time.
    has_costs: bool,
    per_packet: Span,
    per_byte_fs: u64,
    ring_frames: usize,
    pub(super) gro: Gro,
    /// The core processes the polled frames until the next poll is due.
    is_working: bool,
    pub(super) ring_drops: u64,
    pub(super) frames: u64,
    pub(super) busy: Span,
}

/// The result of a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Polled {
    /// The aggregates go up now.
    Deliver,
    /// The core works on them until then.
    WorkUntil(Time),
}

impl ReceiveStage {
    pub(super) fn new(policy: ReceivePolicy, has_processor: bool) -> ReceiveStage {
        ReceiveStage {
            has_costs: has_processor || policy.per_packet > Span::ZERO || policy.per_byte_fs > 0,
            per_packet: policy.per_packet,
            per_byte_fs: policy.per_byte_fs,
            ring_frames: policy.ring_frames,
            gro: Gro::new(policy.gro_bytes),
            is_working: false,
            ring_drops: 0,
            frames: 0,
            busy: Span::ZERO,
        }
    }

    /// Whether arriving frames are processed before they are read.
    pub(super) fn has_costs(&self) -> bool {
        self.has_costs
    }

    /// When the next poll is due, after a delivery at `now`.
    #[inline]
    pub(super) fn next_poll<O: Environment>(
        &self,
        now: Time,
        attachment: &O::Place,
        out: &mut O,
    ) -> Time {
        let head = out.ring(attachment).next_arrival();
        if head.is_never() {
            Time::NEVER
        } else if head <= now {
            now
        } else {
            out.poll_after(attachment, head)
        }
    }

    /// A poll is due: when the next is if now there is one frame and it costs no work, and `None`
    /// for everything else. Most polls of a host without interrupt moderation are like this, and
    /// need nothing merged.
    #[inline]
    pub(super) fn after_single<O: Environment>(
        &self,
        now: Time,
        attachment: &O::Place,
        out: &mut O,
    ) -> Option<Time> {
        let ring = out.ring(attachment);
        if self.has_costs || ring.next_arrival() > now {
            return None;
        }
        let next = ring.second_arrival();
        if next <= now {
            return None;
        }
        Some(if next.is_never() { next } else { out.poll_after(attachment, next) })
    }

    /// A poll is due: takes frames from the ring, or finishes work on frames taken before.
    pub(super) fn poll<O: Environment>(
        &mut self,
        now: Time,
        attachment: &O::Place,
        out: &mut O,
        mut each: impl FnMut(&mut O, &Packet, &mut Gro),
    ) -> Polled {
        if self.is_working {
            self.is_working = false;
            return Polled::Deliver;
        }
        let costs = self.has_costs;
        // Only a host whose work takes time needs the limit.
        let mut budget = if costs { POLL_BUDGET } else { usize::MAX };
        self.ring_drops += out.ring(attachment).drop_arrived_beyond(self.ring_frames, now);
        while budget > 0
            && let Some((_, packet)) = out.ring(attachment).pop_arrived(now)
        {
            budget -= 1;
            self.frames += 1;
            each(out, &packet, &mut self.gro);
        }
        if !costs {
            return Polled::Deliver;
        }
        let work = self.work_on(self.gro.aggregates());
        self.busy += work;
        self.is_working = true;
        Polled::WorkUntil(now + work)
    }

    /// Time that the polled frames take.
    pub(super) fn work_on(&self, aggregates: &[Aggregate]) -> Span {
        let bytes: u64 =
            aggregates.iter().map(|aggregate| u64::from(aggregate.payload_bytes)).sum();
        self.per_packet.times(aggregates.len() as u64)
            + Span::from_ps(bytes * self.per_byte_fs / 1000)
    }
}
