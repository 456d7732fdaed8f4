//! A hypervisor: real cores that run virtual machines and switch their frames.
//!
//! It surrounds a virtual switch: a frame that comes to a port of the switch waits here until a
//! core has switched it, and a frame from the switch to a virtual machine waits until a core has
//! passed it on. The [`Processor`] runs virtual cores, vhost or polling threads, and neighbours.
//! The hypervisor is handed frames and the time, as a host is.

mod config;
mod counters;
mod lane;
mod machine;
mod neighbours;
mod outputs;
mod polling;
mod softirq;
#[cfg(test)]
mod tests;
mod vhost;

pub use config::{HypervisorConfig, HypervisorCosts, Neighbour, PortConfig, Switching};
pub use counters::{HypervisorCounters, Overruns};
pub use machine::Gate;
pub use outputs::{HypervisorOutputs, Passage};

use crate::cpu::{Done, NewTask, Processor, TaskId};
use lane::Lane;
use machine::VirtualCore;
use neighbours::NeighbourTask;
use polling::{PolledPort, Polling};
use softirq::{Softirq, UplinkQueue};
use tailrace_units::{Span, Time, mix64};
use tailrace_wire::Packet;
use vhost::Vhost;

/// Work that ends only when something else is to be done.
const FOREVER: Span = Span::from_secs(1_000_000);
/// Frames or super-frames of one soft interrupt (Linux `netdev_budget`).
const SOFTIRQ_FRAMES_MAX: u32 = 300;

/// The actor to which a task belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Actor {
    VirtualCore(usize),
    Vhost(usize),
    Polling(usize),
    Neighbour(usize),
}

/// Where the frames of a port wait.
#[derive(Clone, Copy, Debug)]
enum PortQueue {
    /// In the receive queues of an uplink, of which this is the first.
    Uplink(usize),
    /// At the vhost thread of a machine.
    Vhost(usize),
    /// At a polling thread, at this index among its ports.
    Polled { thread: usize, at: usize },
}

/// A hypervisor.
#[derive(Debug)]
pub struct Hypervisor {
    config: HypervisorConfig,
    processor: Processor,
    /// By task, without the first ones, which are the kernel's.
    actors: Vec<Actor>,
    virtual_cores: Vec<VirtualCore>,
    vhosts: Vec<Vhost>,
    polling: Vec<Polling>,
    /// By port.
    port_queues: Vec<PortQueue>,
    uplinks: Vec<UplinkQueue>,
    softirqs: Vec<Softirq>,
    neighbours: Vec<NeighbourTask>,
    /// When the first of their disks answers.
    disks_due: Time,
    /// The core that has switched last: it is charged for waking the thread that passes the frame
    /// on.
    waker: usize,
    counted: HypervisorCounters,
    gates: Vec<Gate>,
    /// By port, frames that found the ring of a machine full.
    ring_overruns: Vec<u64>,
    overruns_before: Vec<Overruns>,
}

impl Hypervisor {
    /// A hypervisor at time zero.
    pub fn new(config: HypervisorConfig) -> Hypervisor {
        let processor = Processor::new(config.processor.clone());
        let cores = processor.cores();
        let mut new = Hypervisor {
            processor,
            actors: Vec::new(),
            virtual_cores: Vec::new(),
            vhosts: Vec::new(),
            polling: Vec::new(),
            port_queues: Vec::with_capacity(config.ports.len()),
            uplinks: Vec::new(),
            softirqs: (0..cores).map(|_| Softirq::new()).collect(),
            neighbours: Vec::new(),
            disks_due: Time::NEVER,
            waker: 0,
            counted: HypervisorCounters::default(),
            gates: Vec::new(),
            ring_overruns: vec![0; config.ports.len()],
            overruns_before: vec![Overruns::default(); config.ports.len()],
            config,
        };
        new.add_machines();
        match new.config.switching {
            Switching::Kernel => new.add_kernel(),
            Switching::Polling => new.add_polling(),
        }
        new.add_neighbours();
        new.start_polling(Time::ZERO);
        new
    }

    fn machines(&self) -> usize {
        self.config.ports.iter().filter(|port| matches!(port, PortConfig::Machine { .. })).count()
    }

    fn add_task(&mut self, owner: usize, group: u32, actor: Actor) -> TaskId {
        let task = self.processor.add_task(NewTask { owner: owner as u32, group });
        self.actors.push(actor);
        task
    }

    fn add_machines(&mut self) {
        let mut machine = 0;
        for port in 0..self.config.ports.len() {
            let PortConfig::Machine { cores, .. } = self.config.ports[port].clone() else {
                continue;
            };
            for (number, group) in cores.into_iter().enumerate() {
                let task =
                    self.add_task(machine, group, Actor::VirtualCore(self.virtual_cores.len()));
                self.virtual_cores.push(VirtualCore::new(task, port, number));
            }
            machine += 1;
        }
    }

    fn add_kernel(&mut self) {
        let machines = self.machines();
        for port in 0..self.config.ports.len() {
            match self.config.ports[port] {
                PortConfig::Uplink => {
                    self.port_queues.push(PortQueue::Uplink(self.uplinks.len()));
                    for core in self.config.irq_cores.clone() {
                        let lane =
                            Lane::new(self.config.uplink_ring_frames, self.config.merge_bytes);
                        let interrupt_at = Time::NEVER;
                        self.uplinks.push(UplinkQueue {
                            port,
                            core: core as usize,
                            lane: lane.counting_frames(),
                            is_scheduled: false,
                            interrupt_at,
                        });
                    }
                }
                PortConfig::Machine { vhost: group, .. } => {
                    let number = self.vhosts.len();
                    self.port_queues.push(PortQueue::Vhost(number));
                    let task = self.add_task(machines + number, group, Actor::Vhost(number));
                    let lane = |frames| Lane::new(frames, self.config.merge_bytes);
                    self.vhosts.push(Vhost::new(
                        task,
                        port,
                        lane(self.config.tap_frames),
                        lane(self.config.sent_frames),
                    ));
                }
            }
        }
    }

    fn add_polling(&mut self) {
        let owner = 2 * self.machines();
        for (number, group) in self.config.polling.clone().into_iter().enumerate() {
            let task = self.add_task(owner, group, Actor::Polling(number));
            self.polling.push(Polling::new(task));
        }
        for port in 0..self.config.ports.len() {
            let lane = match self.config.ports[port] {
                // DPDK has no receive offload: frames stay as they came.
                PortConfig::Uplink => Lane::new(self.config.uplink_ring_frames, 0),
                PortConfig::Machine { .. } => {
                    Lane::new(self.config.sent_frames, self.config.merge_bytes)
                }
            };
            let thread = port % self.polling.len();
            let ports = &mut self.polling[thread].ports;
            self.port_queues.push(PortQueue::Polled { thread, at: ports.len() });
            ports.push(PolledPort { port, lane });
        }
    }

    fn add_neighbours(&mut self) {
        let first = 2 * self.machines() + 1;
        for (number, neighbour) in self.config.neighbours.clone().into_iter().enumerate() {
            for _ in 0..neighbour.tasks {
                let task = self.add_task(
                    first + number,
                    neighbour.group,
                    Actor::Neighbour(self.neighbours.len()),
                );
                self.neighbours.push(NeighbourTask::new(task, neighbour.work, neighbour.wait));
                self.disks_due = Time::ZERO; // they begin at once
            }
        }
    }

    /// The actor that interrupts the machine at a port.
    fn sender_to(&self, port: usize) -> Option<Actor> {
        match self.port_queues[port] {
            PortQueue::Uplink(_) => None,
            PortQueue::Vhost(vhost) => Some(Actor::Vhost(vhost)),
            PortQueue::Polled { thread, .. } => Some(Actor::Polling(thread)),
        }
    }
}

/// Inputs.
impl Hypervisor {
    /// A frame has come to a port from outside: from the network, or from a virtual machine that
    /// sends it. [`Hypervisor::run`] must follow.
    pub fn handle_frame(
        &mut self,
        port: usize,
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        match self.port_queues[port] {
            PortQueue::Uplink(first) => self.queue_from_uplink(first, packet, now, out),
            PortQueue::Vhost(vhost) => self.queue_from_machine(vhost, packet, now, out),
            PortQueue::Polled { thread, at } => {
                self.queue_for_polling((thread, at), packet, now, out)
            }
        }
    }

    /// The virtual switch has sent a frame to a machine. [`Hypervisor::run`] must follow.
    pub fn handle_switched(
        &mut self,
        port: usize,
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        match self.port_queues[port] {
            PortQueue::Vhost(vhost) => self.queue_for_machine(vhost, packet, now, out),
            PortQueue::Polled { .. } | PortQueue::Uplink(_) => {
                self.put_into_ring(port, packet, now, out)
            }
        }
    }

    /// Flows are spread over the receive queues of an uplink by hash.
    fn queue_from_uplink(
        &mut self,
        first: usize,
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let queues = self.config.irq_cores.len();
        let queue = &mut self.uplinks
            [first + (mix64(u64::from(packet.flow_hash)) % queues as u64) as usize];
        if !queue.lane.push(packet) {
            return out.dropped(now, queue.port, packet);
        }
        if !queue.is_scheduled && queue.interrupt_at.is_never() {
            queue.interrupt_at = now + self.config.coalesce;
        }
    }

    /// Carries out everything that is due by now.
    pub fn run(&mut self, now: Time, out: &mut impl HypervisorOutputs) {
        for queue in 0..self.uplinks.len() {
            if self.uplinks[queue].interrupt_at <= now {
                self.raise_uplink(queue);
            }
        }
        self.wake_neighbours(now);
        loop {
            self.start_softirqs(now, out);
            match self.processor.poll(now) {
                Some(done) => self.end(done, now, out),
                // The notifications may have changed whether machines have work.
                None if self.advance_virtual_cores(now, out) | self.wake_ready_vhosts(now, out) => {
                }
                None => break,
            }
        }
        self.update_gates();
    }

    fn end(&mut self, done: Done, now: Time, out: &mut impl HypervisorOutputs) {
        let cores = self.processor.cores();
        let task = match done {
            Done::Softirq(core) => return self.end_softirq_work(core, now, out),
            Done::Task(task) if (task as usize) < cores => {
                return self.end_softirq_work(task as usize, now, out);
            }
            Done::Task(task) => task,
        };
        match self.actors[task as usize - cores] {
            Actor::VirtualCore(index) => self.end_of_virtual_core(index, now, out),
            Actor::Vhost(index) => self.end_of_vhost(index, now, out),
            Actor::Polling(index) => self.end_of_polling(index, now, out),
            Actor::Neighbour(index) => self.end_of_neighbour(index, now),
        }
    }

    /// The next deadline, or [`Time::NEVER`].
    pub fn poll_timeout(&self) -> Time {
        let interrupts = self.uplinks.iter().map(|queue| queue.interrupt_at);
        interrupts.fold(self.processor.poll_timeout().min(self.disks_due), Time::min)
    }

    /// The next virtual core that began or ceased to run, to be reported to its machine.
    pub fn poll_gate(&mut self) -> Option<Gate> {
        self.gates.pop()
    }
}
