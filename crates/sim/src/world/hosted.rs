//! Programs that own several sockets: each is one source of the agenda, for itself and for all of
//! its connections.

use super::{ProgramId, World};
use tailrace_host::{NewProgram, Socket};
use tailrace_plan::Plan;
use tailrace_programs::Program;
use tailrace_units::Time;
use tailrace_wire::Tag;

/// A program that owns several sockets, to run on a host for a workload of the plan.
pub struct HostedProgram {
    /// Index of the host.
    pub host: u32,
    /// Index of the workload: its packets carry that workload's marks, and its results are counted
    /// there.
    pub workload: u32,
    /// The program.
    pub program: Box<dyn Program>,
    /// Whether bytes that arrive for it are the workload's goodput.
    pub counts_goodput: bool,
}

impl World {
    /// Starts a program, at the next of the agenda's sources for programs.
    pub(crate) fn start(&mut self, plan: &Plan, hosted: HostedProgram) {
        let HostedProgram { host, workload, program, counts_goodput } = hosted;
        let header = &plan.workloads[workload as usize].header;
        let timer = self.sources.programs + self.programs.len() as u32;
        debug_assert!(timer < self.sources.sockets, "the program has a place in the agenda");
        let model = &mut self.hosts[host as usize];
        let tag = Tag::new(header.priority, header.vlan).written(model.attachment().is_tagged);
        let new =
            NewProgram { program, owner: workload, timer, tag, dscp: header.dscp, counts_goodput };
        let number = model.add_program(new);
        self.links.agenda.arm(timer, model.poll_program(number));
        self.programs.push(ProgramId { host, number });
    }

    /// The deadline of a program with several sockets has come, or that of one of its connections.
    #[inline(never)]
    pub(crate) fn wake_hosted(&mut self, now: Time, program: u32) {
        let ProgramId { host, number } = self.programs[program as usize];
        let (host, out) = self.host_and_links(host);
        host.handle_program_timeout(now, number, out);
        self.handle_host_events();
    }

    /// Something on a core of a host is done.
    #[inline(never)]
    pub(crate) fn wake_processor(&mut self, now: Time, processor: u32) {
        let Some(&host) = self.processors.get(processor as usize) else {
            return self.wake_hypervisor(now, processor - self.processors.len() as u32);
        };
        let (host, out) = self.host_and_links(host);
        host.handle_processor(now, out);
        if !self.links.observe.host_events.is_empty() {
            self.handle_host_events();
        }
    }

    /// The sockets of programs that own several, by program.
    pub(crate) fn program_sockets(&self) -> impl Iterator<Item = &Socket> {
        self.programs
            .iter()
            .flat_map(|place| self.hosts[place.host as usize].program_sockets(place.number))
    }
}
