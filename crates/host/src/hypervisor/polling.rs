//! Polling threads (DPDK's poll-mode drivers): each has ports of its own, takes up to 32 frames of
//! one after the other, switches them and puts them where they go, into the rings of virtual
//! machines too. It never sleeps, so that nothing has to wake it.

use super::lane::Lane;
use super::{FOREVER, Hypervisor, HypervisorOutputs, Passage};
use crate::cpu::{Kind, TaskId, time_for};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Frames or super-frames of one batch (Open vSwitch `NETDEV_MAX_BURST`).
const BATCH: usize = 32;

/// Frames that wait at a port of a polling thread.
#[derive(Debug)]
pub(super) struct PolledPort {
    pub(super) port: usize,
    pub(super) lane: Lane,
}

/// A polling thread.
#[derive(Debug)]
pub(super) struct Polling {
    pub(super) task: TaskId,
    pub(super) ports: Vec<PolledPort>,
    next: usize,
    batch: Vec<Packet>,
    batch_port: usize,
    one: Vec<Packet>,
    /// It has had its core; before that it has no work that could be replaced.
    has_begun: bool,
    is_working: bool,
    pub(super) debt: Span,
    /// Time for frames; the rest of its time it has polled for nothing.
    pub(super) worked: Span,
}

impl Polling {
    pub(super) fn new(task: TaskId) -> Polling {
        Polling {
            task,
            ports: Vec::new(),
            next: 0,
            batch: Vec::new(),
            batch_port: 0,
            one: Vec::new(),
            has_begun: false,
            is_working: false,
            debt: Span::ZERO,
            worked: Span::ZERO,
        }
    }

    pub(super) fn frames(&self) -> usize {
        self.batch.len() + self.ports.iter().map(|port| port.lane.frames()).sum::<usize>()
    }

    /// Takes a batch of the next port that has frames. Returns how many frames or super-frames.
    fn take(&mut self) -> usize {
        for offset in 0..self.ports.len() {
            let at = (self.next + offset) % self.ports.len();
            let PolledPort { port, lane } = &mut self.ports[at];
            let mut taken = 0;
            while taken < BATCH && lane.take(&mut self.one) {
                self.batch.append(&mut self.one);
                taken += 1;
            }
            if taken > 0 {
                (self.batch_port, self.next) = (*port, at + 1);
                return taken;
            }
        }
        0
    }
}

impl Hypervisor {
    /// Polling threads begin to poll.
    pub(super) fn start_polling(&mut self, now: Time) {
        for thread in &self.polling {
            self.processor.wake(thread.task, now);
        }
    }

    /// A frame has come to a port that is polled.
    pub(super) fn queue_for_polling(
        &mut self,
        (thread, at): (usize, usize),
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let own = &mut self.polling[thread];
        let PolledPort { port, lane } = &mut own.ports[at];
        if !lane.push(packet) {
            return out.dropped(now, *port, packet);
        }
        if !own.is_working && own.has_begun {
            // It is on a round that finds nothing, and sees the frame in the next.
            self.begin_batch(thread, self.config.costs.poll, now, out);
        }
    }

    fn begin_batch(
        &mut self,
        thread: usize,
        before: Span,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let own = &mut self.polling[thread];
        let taken = own.take() as u64;
        let debt = std::mem::take(&mut own.debt);
        let task = own.task;
        if taken == 0 && debt == Span::ZERO {
            return self.processor.replace_work(task, Kind::User, FOREVER, now);
        }
        own.is_working = true;
        let bytes: u64 = own.batch.iter().map(|packet| u64::from(packet.frame_bytes)).sum();
        let work = self.config.costs.switch.times(taken)
            + time_for(bytes, self.config.costs.copy_byte_fs)
            + debt;
        own.worked += work;
        out.passed(now, &own.batch, Passage::Switching(before + work));
        self.processor.replace_work(task, Kind::User, before + work, now);
    }

    /// A polling thread has its core, or has switched a batch.
    pub(super) fn end_of_polling(
        &mut self,
        thread: usize,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let own = &mut self.polling[thread];
        (own.has_begun, own.is_working) = (true, false);
        let (batch, port) = (std::mem::take(&mut own.batch), own.batch_port);
        batch.iter().for_each(|packet| out.forward(now, port, packet));
        self.polling[thread].batch = batch;
        self.polling[thread].batch.clear();
        self.begin_batch(thread, Span::ZERO, now, out);
    }

    /// A frame for a machine has come out of the virtual switch: the thread that switched it puts
    /// it into the ring.
    pub(super) fn put_into_ring(
        &mut self,
        port: usize,
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        if self.has_room(port, out) {
            return out.deliver(now, port, packet);
        }
        self.ring_overruns[port] += 1;
        out.dropped(now, port, packet);
    }
}
