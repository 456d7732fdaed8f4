//! Counters of a hypervisor.

use super::polling::Polling;
use super::softirq::Softirq;
use super::vhost::Vhost;
use super::{Hypervisor, HypervisorConfig, PortConfig, PortQueue};
use crate::cpu::Processor;
use tailrace_units::{Span, Time};

/// Counters of a hypervisor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HypervisorCounters {
    /// Exits of virtual cores.
    pub exits: u64,
    /// Exits by which machines notified their vhost threads.
    pub notifications: u64,
    /// Interrupts that machines were sent.
    pub signals: u64,
    /// Times that a virtual core lost its core while it had work.
    pub preemptions: u64,
    /// Interrupts of uplinks.
    pub interrupts: u64,
    /// Soft interrupts that ended with work left.
    pub squeezes: u64,
    /// Times that `ksoftirqd` was woken.
    pub handed_over: u64,
    /// Frames that found the backlog of a core full.
    pub backlog_overruns: u64,
}

/// Frames that found a queue of a port full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overruns {
    /// Of an uplink: its receive rings. Of a machine: the queue or ring towards it.
    pub received: u64,
    /// Of a machine: the ring in which it sends.
    pub sent: u64,
}

/// Counters.
impl Hypervisor {
    /// Its cores.
    pub fn processor(&self) -> &Processor {
        &self.processor
    }
    /// Its cores, to bring their counters up to date.
    pub fn processor_mut(&mut self) -> &mut Processor {
        &mut self.processor
    }
    /// Its settings.
    pub fn config(&self) -> &HypervisorConfig {
        &self.config
    }
    /// Further counters.
    pub fn counters(&self) -> HypervisorCounters {
        self.counted
    }
    /// Time that polling threads have spent on frames; the rest of their time they found nothing.
    pub fn polled_for_frames(&self) -> Span {
        self.polling.iter().fold(Span::ZERO, |sum, thread| sum + thread.worked)
    }

    /// Frames that found a queue of a port full.
    pub fn overruns(&self, port: usize) -> Overruns {
        let (whole, before) = (self.overruns_of(port), self.overruns_before[port]);
        Overruns { received: whole.received - before.received, sent: whole.sent - before.sent }
    }

    fn overruns_of(&self, port: usize) -> Overruns {
        match self.port_queues[port] {
            PortQueue::Uplink(first) => {
                let queues = &self.uplinks[first..first + self.config.irq_cores.len()];
                Overruns { received: queues.iter().map(|queue| queue.lane.overruns).sum(), sent: 0 }
            }
            PortQueue::Vhost(vhost) => {
                let Vhost { to_machine, from_machine, .. } = &self.vhosts[vhost];
                Overruns { received: to_machine.overruns, sent: from_machine.overruns }
            }
            PortQueue::Polled { thread, at } => {
                let polled = self.polling[thread].ports[at].lane.overruns;
                match self.config.ports[port] {
                    PortConfig::Uplink => Overruns { received: polled, sent: 0 },
                    PortConfig::Machine { .. } => {
                        Overruns { received: self.ring_overruns[port], sent: polled }
                    }
                }
            }
        }
    }

    /// Frames that it holds.
    pub fn frames(&self) -> u64 {
        let uplinks = self.uplinks.iter().map(|queue| queue.lane.frames());
        let vhosts = self.vhosts.iter().map(Vhost::frames);
        let polling = self.polling.iter().map(Polling::frames);
        let softirqs = self.softirqs.iter().map(Softirq::frames);
        uplinks.chain(vhosts).chain(polling).chain(softirqs).sum::<usize>() as u64
    }

    /// Counts from `now` on.
    pub fn begin_counting(&mut self, now: Time) {
        self.processor.begin_counting(now);
        self.counted = HypervisorCounters::default();
        self.polling.iter_mut().for_each(|thread| thread.worked = Span::ZERO);
        for port in 0..self.config.ports.len() {
            self.overruns_before[port] = self.overruns_of(port);
        }
    }
}
