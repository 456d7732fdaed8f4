//! vhost threads: one for each virtual machine, in both directions in turn. It sleeps when there is
//! nothing to pass on.

use super::lane::Lane;
use super::{Hypervisor, HypervisorOutputs, Passage};
use crate::cpu::{Kind, TaskId, time_for};
use tailrace_units::{Span, Time};
use tailrace_wire::Packet;

/// Frames or super-frames of one direction before the other has its turn (Linux `VHOST_NET_BATCH`).
const TURN: u32 = 64;

/// A direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    ToMachine,
    FromMachine,
}

/// The vhost thread of a machine.
#[derive(Debug)]
pub(super) struct Vhost {
    pub(super) task: TaskId,
    pub(super) port: usize,
    /// Frames for the machine.
    pub(super) to_machine: Lane,
    /// Frames from it.
    pub(super) from_machine: Lane,
    direction: Direction,
    turn: u32,
    batch: Vec<Packet>,
    is_working: bool,
    pub(super) debt: Span,
}

impl Vhost {
    pub(super) fn new(task: TaskId, port: usize, to_machine: Lane, from_machine: Lane) -> Vhost {
        let direction = Direction::FromMachine;
        Vhost {
            task,
            port,
            to_machine,
            from_machine,
            direction,
            turn: 0,
            batch: Vec::new(),
            is_working: false,
            debt: Span::ZERO,
        }
    }

    pub(super) fn frames(&self) -> usize {
        self.to_machine.frames() + self.from_machine.frames() + self.batch.len()
    }

    /// Takes the next frame. Frames for a machine wait while its ring is full.
    fn take(&mut self, has_room: bool) -> bool {
        if self.turn >= TURN {
            self.turn = 0;
            self.turn_round();
        }
        for _ in 0..2 {
            let has_taken = match self.direction {
                Direction::ToMachine => has_room && self.to_machine.take(&mut self.batch),
                Direction::FromMachine => self.from_machine.take(&mut self.batch),
            };
            if has_taken {
                self.turn += 1;
                return true;
            }
            self.turn = 0;
            self.turn_round();
        }
        false
    }

    fn turn_round(&mut self) {
        self.direction = match self.direction {
            Direction::ToMachine => Direction::FromMachine,
            Direction::FromMachine => Direction::ToMachine,
        };
    }
}

impl Hypervisor {
    /// A frame for a machine has come out of the virtual switch.
    pub(super) fn queue_for_machine(
        &mut self,
        vhost: usize,
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        if !self.vhosts[vhost].to_machine.push(packet) {
            return out.dropped(now, self.vhosts[vhost].port, packet);
        }
        if self.wake_vhost(vhost, now) {
            let waker = self.waker;
            self.softirqs[waker].debt += self.config.costs.wake_up;
        }
    }

    /// A machine has sent a frame. It notifies its thread if that sleeps.
    pub(super) fn queue_from_machine(
        &mut self,
        vhost: usize,
        packet: &Packet,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        let port = self.vhosts[vhost].port;
        if !self.vhosts[vhost].from_machine.push(packet) {
            return out.dropped(now, port, packet);
        }
        if self.wake_vhost(vhost, now) {
            self.notify(port, now, out);
        }
    }

    fn wake_vhost(&mut self, vhost: usize, now: Time) -> bool {
        self.processor.wake(self.vhosts[vhost].task, now).is_some()
    }

    /// Threads whose machine has room again go on. Returns whether any does.
    pub(super) fn wake_ready_vhosts(&mut self, now: Time, out: &impl HypervisorOutputs) -> bool {
        let mut followed = false;
        for vhost in 0..self.vhosts.len() {
            let own = &self.vhosts[vhost];
            if !own.to_machine.is_empty()
                && self.processor.is_asleep(own.task)
                && self.has_room(own.port, out)
            {
                followed |= self.wake_vhost(vhost, now);
            }
        }
        followed
    }

    pub(super) fn has_room(&self, port: usize, out: &impl HypervisorOutputs) -> bool {
        out.received(port) < self.config.guest_ring_frames
    }

    /// A vhost thread has its core, or has passed on the frame that it took.
    pub(super) fn end_of_vhost(
        &mut self,
        vhost: usize,
        now: Time,
        out: &mut impl HypervisorOutputs,
    ) {
        if std::mem::take(&mut self.vhosts[vhost].is_working) {
            self.pass_on(vhost, now, out);
        }
        let has_room = self.has_room(self.vhosts[vhost].port, out);
        let own = &mut self.vhosts[vhost];
        let debt = std::mem::take(&mut own.debt);
        let task = own.task;
        if own.take(has_room) {
            own.is_working = true;
            let bytes: u64 = own.batch.iter().map(|packet| u64::from(packet.frame_bytes)).sum();
            let work =
                self.config.costs.vhost + time_for(bytes, self.config.costs.copy_byte_fs) + debt;
            let passage = match own.direction {
                Direction::ToMachine => Passage::ToMachine(work),
                Direction::FromMachine => Passage::FromMachine(work),
            };
            out.passed(now, &own.batch, passage);
            self.processor.set_work(task, Kind::System, work, now);
        } else if debt > Span::ZERO {
            self.processor.set_work(task, Kind::System, debt, now);
        } else {
            self.processor.sleep(task, now);
        }
    }

    fn pass_on(&mut self, vhost: usize, now: Time, out: &mut impl HypervisorOutputs) {
        let batch = std::mem::take(&mut self.vhosts[vhost].batch);
        let Vhost { task, port, direction, .. } = self.vhosts[vhost];
        match direction {
            Direction::ToMachine => batch.iter().for_each(|packet| out.deliver(now, port, packet)),
            Direction::FromMachine => {
                let core = self.processor.core_of(task);
                if self.push_backlog(core, port, &batch) {
                    out.passed(now, &batch, Passage::Handed);
                } else {
                    batch.iter().for_each(|packet| out.dropped(now, port, packet));
                }
            }
        }
        self.vhosts[vhost].batch = batch;
        self.vhosts[vhost].batch.clear();
    }
}
