//! Receive queues of the interface: flows are spread over them by hash, and each interrupts a core
//! of its own.

use std::collections::VecDeque;
use tailrace_wire::Packet;

/// Counters of the receive side.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiveCounters {
    /// Receive interrupts.
    pub interrupts: u64,
    /// NAPI polls.
    pub polls: u64,
    /// Soft interrupts that ended with work left (Linux `time_squeeze`).
    pub squeezes: u64,
    /// Times that `ksoftirqd` was woken.
    pub handed_over: u64,
    /// Datagrams that did not fit the receive buffer of their socket.
    pub datagram_drops: u64,
}

/// One receive queue.
#[derive(Debug)]
pub(super) struct RxQueue {
    pub(super) core: usize,
    ring: VecDeque<Packet>,
    ring_frames: usize,
    /// Its interrupt is off: its core has it on its list.
    pub(super) is_scheduled: bool,
}

impl RxQueue {
    pub(super) fn new(core: usize, ring_frames: usize) -> RxQueue {
        RxQueue { core, ring: VecDeque::new(), ring_frames, is_scheduled: false }
    }
    /// Puts a frame into the ring. Returns whether it fits.
    pub(super) fn push(&mut self, packet: &Packet) -> bool {
        let fits = self.ring.len() < self.ring_frames;
        if fits {
            self.ring.push_back(*packet);
        }
        fits
    }
    pub(super) fn pop(&mut self) -> Option<Packet> {
        self.ring.pop_front()
    }
    pub(super) fn len(&self) -> usize {
        self.ring.len()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
}

/// The queue of a flow (RSS): its hash is mixed as it is, like Toeplitz's with a random key.
pub(super) fn queue_of(flow_hash: u32, queues: usize) -> usize {
    if queues == 1 {
        return 0;
    }
    (tailrace_units::mix64(u64::from(flow_hash)) % queues as u64) as usize
}
