//! The receive side of a host: interrupt moderation, polling, one core that works through what was polled.
//!
//! As with Linux's NAPI, the first frame after a quiet time arms a poll; a poll takes what has arrived, merges it, and
//! works on it; while frames keep arriving the next poll follows at once. So a wire that ends at a host needs one event
//! for each poll, not one for each frame.

use tailrace_endpoint::gro::Gro;
use tailrace_network::Wire;
use tailrace_units::{Distribution, Span, Stream, Time};
use tailrace_wire::Packet;

/// Frames of one poll (Linux: NAPI_POLL_WEIGHT, 64). Only a host whose work takes time needs the limit.
const POLL_BUDGET: usize = 64;

/// The receive stage of one host.
#[derive(Debug)]
pub(crate) struct ReceiveStage {
    /// Whether receiving costs time.
    has_costs: bool,
    /// From a first arrival to its poll.
    delay: Span,
    /// What is drawn and added to it; `None` when it is always the same, and then part of it.
    jitter: Option<Distribution>,
    luck: Stream,
    per_packet: Span,
    per_byte_fs: u64,
    ring_frames: usize,
    pub(crate) gro: Gro,
    /// The core works on what was polled, until the wire's source is due.
    is_working: bool,
    pub(crate) ring_drops: u64,
    pub(crate) frames: u64,
    pub(crate) busy: Span,
}

/// What a poll found to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Polled {
    /// The aggregates go up now.
    Deliver,
    /// The core works on them until then.
    WorkUntil(Time),
}

impl ReceiveStage {
    pub(crate) fn new(
        nic: &tailrace_plan::RawNic,
        cpu: &tailrace_plan::RawCpu,
        jitter: Distribution,
        luck: Stream,
    ) -> ReceiveStage {
        let coalesce = Span::from_ps(nic.rx_coalesce_ps);
        let (delay, jitter) = match jitter {
            Distribution::Constant(ps) => (coalesce + Span::from_ps(ps), None),
            drawn => (coalesce, Some(drawn)),
        };
        ReceiveStage {
            has_costs: cpu.per_packet_ps > 0 || cpu.per_byte_fs > 0,
            delay,
            jitter,
            luck,
            per_packet: Span::from_ps(cpu.per_packet_ps),
            per_byte_fs: cpu.per_byte_fs,
            ring_frames: nic.rx_ring_frames as usize,
            gro: Gro::new(nic.gro_bytes),
            is_working: false,
            ring_drops: 0,
            frames: 0,
            busy: Span::ZERO,
        }
    }

    /// When a frame that arrives at `arrival` after a quiet time is polled.
    #[inline]
    pub(crate) fn poll_after(&mut self, arrival: Time) -> Time {
        match &self.jitter {
            None => arrival + self.delay,
            Some(jitter) => arrival + self.delay + Span::from_ps(jitter.draw(&mut self.luck)),
        }
    }

    /// When the wire's source must be due next, after a delivery at `now`.
    #[inline]
    pub(crate) fn next_poll(&mut self, wire: &Wire<Packet>, now: Time) -> Time {
        let head = wire.next_arrival();
        if head.is_never() {
            Time::NEVER
        } else if head <= now {
            now
        } else {
            self.poll_after(head)
        }
    }

    /// The source of the wire is due: when it is due next if now there is one frame and it costs no work, and `None` for
    /// everything else. Most polls of a host without interrupt moderation are like this, and need nothing merged.
    #[inline]
    pub(crate) fn after_single(&mut self, wire: &Wire<Packet>, now: Time) -> Option<Time> {
        let next = wire.second_arrival();
        if self.has_costs || next <= now || wire.next_arrival() > now {
            return None;
        }
        Some(if next.is_never() { next } else { self.poll_after(next) })
    }

    /// The source of the wire is due: takes frames, or finishes work on frames taken before.
    /// `slot_of` gives the merge slot of a packet's socket.
    pub(crate) fn poll(&mut self, now: Time, wire: &mut Wire<Packet>, mut each: impl FnMut(Time, &Packet, &mut Gro)) -> Polled {
        if self.is_working {
            self.is_working = false;
            return Polled::Deliver;
        }
        let costs = self.has_costs;
        let mut budget = if costs { POLL_BUDGET } else { usize::MAX };
        self.ring_drops += wire.drop_arrived_beyond(self.ring_frames, now);
        while budget > 0
            && let Some((arrival, packet)) = wire.pop_arrived(now)
        {
            budget -= 1;
            self.frames += 1;
            each(arrival, &packet, &mut self.gro);
        }
        if !costs {
            return Polled::Deliver;
        }
        let work = self.work();
        self.busy += work;
        self.is_working = true;
        Polled::WorkUntil(now + work)
    }

    fn work(&self) -> Span {
        let aggregates = self.gro.aggregates();
        let bytes: u64 = aggregates.iter().map(|aggregate| u64::from(aggregate.payload_bytes)).sum();
        self.per_packet.times(aggregates.len() as u64) + Span::from_ps(bytes * self.per_byte_fs / 1000)
    }
}
