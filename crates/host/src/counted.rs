//! Counters of a host.

use super::threads::ReceiveCounters;
use super::{Host, Socket};
use crate::cpu::{Kind, Processor};
use tailrace_transport::ip::IpCounters;
use tailrace_units::{Span, Time};

/// Counters of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounters {
    /// Frames that polls took.
    pub rx_frames: u64,
    /// Frames that did not fit the receive ring.
    pub rx_ring_drops: u64,
    /// Frames that the interface has sent, or whose departure is decided.
    pub tx_frames: u64,
    /// Frames that did not fit the queue of the interface.
    pub nic_queue_drops: u64,
    /// SYNs, and last segments of an opening, that found as many connections waiting as the program
    /// at their port lets wait. Linux counts each as `ListenOverflows` and as `ListenDrops`.
    pub listen_drops: u64,
    /// Work of receiving.
    pub receive_busy: Span,
    /// Work of programs.
    pub program_busy: Span,
}

impl<P> Host<P> {
    /// The processor, if it has one.
    pub fn processor(&self) -> Option<&Processor> {
        self.threads.as_ref().map(|threads| &threads.processor)
    }
    /// The processor, to keep a log of its cores.
    pub fn processor_mut(&mut self) -> Option<&mut Processor> {
        self.threads.as_mut().map(|threads| &mut threads.processor)
    }
    /// Counters of the receive side on a processor.
    pub fn receive_counters(&self) -> ReceiveCounters {
        self.threads.as_ref().map_or_else(ReceiveCounters::default, |threads| threads.counted)
    }

    /// How long the core was busy that receives for a socket: the one of its receive queue, or the
    /// only one.
    pub fn receive_busy(&self, socket: &Socket) -> Span {
        match &self.threads {
            None => self.receive.busy,
            Some(threads) => {
                let busy = threads.processor.busy(threads.core_of_flow(socket.expects));
                busy.total().less(busy.of(Kind::Idle))
            }
        }
    }

    /// Counters of fragmentation and reassembly.
    pub fn ip_counters(&self) -> IpCounters {
        self.ip.counters()
    }
    /// Memory of incomplete datagrams, and the most that there was.
    pub fn reassembly_memory(&self) -> (u64, u64) {
        self.ip.memory()
    }

    /// Counters of this host.
    pub fn counters(&self) -> HostCounters {
        HostCounters {
            rx_frames: self.receive.frames,
            rx_ring_drops: self.receive.ring_drops,
            tx_frames: self.nic.sent_frames(),
            nic_queue_drops: self.nic.queue_drops(),
            listen_drops: self.listeners.drops,
            receive_busy: self
                .threads
                .as_ref()
                .map_or(self.receive.busy, |threads| threads.processor.time_of(&[Kind::Softirq])),
            program_busy: self.threads.as_ref().map_or(self.cores.busy, |threads| {
                threads.processor.time_of(&[Kind::User, Kind::System])
            }),
        }
    }

    /// Counts from `now` on.
    pub fn begin_counting(&mut self, now: Time) {
        self.nic.begin_counting(now);
        self.ip.begin_counting(now);
        self.cores.busy = Span::ZERO;
        self.listeners.drops = 0;
        if let Some(threads) = &mut self.threads {
            threads.processor.begin_counting(now);
            threads.counted = ReceiveCounters::default();
        }
        (self.receive.frames, self.receive.ring_drops, self.receive.busy) = (0, 0, Span::ZERO);
    }
}
