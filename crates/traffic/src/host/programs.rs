//! Programs that own several sockets: when they are called.

use super::{Due, Host};
use crate::duty::{HostedEnd, PairEnd};
use crate::hosted::{Hosted, NUMBER_BYTES, Owned, ProgramCalls};
use crate::sockets::Sockets;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;
use tailrace_programs::{Ends, Message, Peer, Program, Tallies};
use tailrace_transport::tcp::Failure;
use tailrace_units::Time;

impl Host {
    pub(super) fn add_program(&mut self, end: HostedEnd) {
        let HostedEnd { workload, program, counts_goodput, port, .. } = end;
        let own = Owned {
            workload,
            counts_goodput,
            port,
            due: Time::NEVER,
            waiting: VecDeque::new(),
            accepted: VecDeque::new(),
            connections: BTreeMap::new(),
            datagrams: Vec::new(),
        };
        self.programs.push(Hosted { program, own });
        self.arm_hosted(self.programs.len() as u32 - 1);
    }

    /// A socket for datagrams of the program with this index.
    pub(super) fn add_pair(&mut self, program: usize, end: PairEnd) {
        let number = self.ends.len() as u32;
        self.ends.push(None);
        let own = &mut self.programs[program].own;
        self.numbers.owners.insert(number, (program as u32, Some(own.datagrams.len() as u32)));
        own.datagrams.push(number);
        self.datagram_ends.push((number, end.route, own.workload));
    }

    /// Calls a program, then carries out the consequences of its calls.
    pub(super) fn call_hosted<S: Sockets>(
        &mut self,
        now: Time,
        program: u32,
        sockets: &mut S,
        call: impl FnOnce(&mut dyn Program, &mut ProgramCalls<'_, S>),
    ) {
        self.call_hosted_alone(now, program, sockets, call);
        self.grant_cores(now, sockets);
    }

    pub(super) fn call_hosted_alone<S: Sockets>(
        &mut self,
        now: Time,
        program: u32,
        sockets: &mut S,
        call: impl FnOnce(&mut dyn Program, &mut ProgramCalls<'_, S>),
    ) {
        let Host {
            number: host,
            programs,
            numbers,
            ends,
            free,
            routes,
            cores,
            record,
            payload,
            ..
        } = self;
        let Hosted { program: called, own } = &mut programs[program as usize];
        let (host, finished) = (*host, 0);
        let mut calls = ProgramCalls {
            program,
            host,
            now,
            own,
            numbers,
            ends,
            free,
            routes,
            sockets,
            cores,
            record,
            payload,
            finished,
        };
        call(called.as_mut(), &mut calls);
        while let Some(number) = calls.own.accepted.pop_front() {
            read(called.as_mut(), now, number, &mut calls);
        }
        tell_broken(called.as_mut(), now, &mut calls);
        let finished = calls.finished;
        let workload = self.programs[program as usize].own.workload;
        if self.finite[workload as usize] {
            self.left = self.left.saturating_sub(finished);
        }
        self.arm_hosted(program);
    }

    fn arm_hosted(&mut self, program: u32) {
        let Hosted { program: called, own } = &mut self.programs[program as usize];
        let (before, due) = (own.due, called.poll_timeout());
        if before != due {
            own.due = due;
            self.due.remove(&(before, Due::Hosted(program)));
            self.arm(due, Due::Hosted(program));
        }
    }

    pub(super) fn wake_hosted<S: Sockets>(
        &mut self,
        now: Time,
        at: Time,
        program: u32,
        sockets: &mut S,
    ) {
        self.record.was_late(now.since(at));
        self.programs[program as usize].own.due = Time::NEVER;
        self.call_hosted(now, program, sockets, |program, calls| {
            program.handle_timeout(now, calls)
        });
    }

    /// A listener of a program has accepted a connection. One whose peer is gone already is
    /// forgotten.
    pub(super) fn accept_hosted<S: Sockets>(
        &mut self,
        now: Time,
        program: u32,
        accepted: S::Accepted,
        peer: SocketAddrV4,
        sockets: &mut S,
    ) {
        let Owned { workload, port, .. } = self.programs[program as usize].own;
        let (Some(&host), Some((own_port, own))) = (self.hosts.get(peer.ip()), port) else {
            return;
        };
        let peer = Peer { host: host as u16, port: peer.port() };
        let (ends, route) = (
            Ends { peer, own_port },
            self.routes.accepted_from(workload, self.number, peer, own.port()),
        );
        self.call_hosted(now, program, sockets, |program, calls| {
            if calls.adopt(accepted, ends, route).is_ok() {
                program.handle_waiting(now, own_port, calls);
            }
        });
    }

    /// The program that listens at this address.
    pub(super) fn program_at(&self, own: SocketAddrV4) -> Option<u32> {
        let listens = |hosted: &Hosted| hosted.own.port.is_some_and(|(_, address)| address == own);
        self.programs.iter().position(listens).map(|place| place as u32)
    }

    pub(super) fn connect_hosted<S: Sockets>(
        &mut self,
        now: Time,
        program: u32,
        number: u32,
        sockets: &mut S,
    ) {
        self.call_hosted(now, program, sockets, |program, calls| {
            if let Some(connection) = calls.own.connections.get_mut(&number) {
                connection.is_open = true;
                program.handle_connected(now, number, calls);
            }
        });
    }

    pub(super) fn read_hosted<S: Sockets>(
        &mut self,
        now: Time,
        (program, datagrams): (u32, Option<u32>),
        number: u32,
        sockets: &mut S,
    ) {
        self.call_hosted(now, program, sockets, |program, calls| match datagrams {
            None => read(program, now, number, calls),
            Some(socket) => {
                let mut start = [0; NUMBER_BYTES];
                while let Ok(Some(bytes)) = calls.sockets.receive(number, &mut start) {
                    count_goodput(now, bytes as u64, calls);
                    let message =
                        Message { socket, number: u64::from_le_bytes(start), bytes: bytes as u32 };
                    program.handle_datagram(now, message, calls);
                }
            }
        });
    }

    /// A connection could not be opened, or is broken. Errors of a socket for datagrams about lost
    /// ones are of no use.
    pub(super) fn fail_hosted<S: Sockets>(
        &mut self,
        now: Time,
        program: u32,
        number: u32,
        error: i32,
        sockets: &mut S,
    ) {
        let why = match error {
            libc::ECONNREFUSED => Failure::Refused,
            libc::ETIMEDOUT => Failure::TimedOut,
            _ => Failure::Reset,
        };
        self.call_hosted(now, program, sockets, |program, calls| {
            fail(program, now, number, why, calls)
        });
    }

    /// Notes what programs have counted, by workload.
    pub(super) fn tell_tallies<S: Sockets>(&mut self, now: Time, sockets: &mut S) {
        let mut of_workload: BTreeMap<u32, Tallies> = BTreeMap::new();
        for Hosted { program, own } in &mut self.programs {
            own.read_counters(now, sockets, &mut self.record);
            of_workload.entry(own.workload).or_default().add(&program.tallies());
        }
        for (workload, tallies) in of_workload {
            self.record.tallies(now, workload, &tallies);
        }
    }
}

fn read<S: Sockets>(
    program: &mut dyn Program,
    now: Time,
    number: u32,
    calls: &mut ProgramCalls<'_, S>,
) {
    if !calls
        .own
        .connections
        .get(&number)
        .is_some_and(|connection| connection.is_open && !connection.is_closed)
    {
        return;
    }
    let Ok(read) = calls.sockets.read(number, u64::MAX) else {
        return fail(program, now, number, Failure::Reset, calls);
    };
    if read.bytes > 0 {
        count_goodput(now, read.bytes, calls);
        if let Some(connection) = calls.own.connections.get_mut(&number) {
            connection.received += read.bytes;
        }
        program.handle_readable(now, number, read.bytes, calls);
    }
    let is_open =
        calls.own.connections.get(&number).is_some_and(|connection| !connection.is_closed);
    if read.has_ended && is_open {
        program.handle_ended(now, number, calls);
    }
}

fn count_goodput<S: Sockets>(now: Time, bytes: u64, calls: &mut ProgramCalls<'_, S>) {
    if calls.own.counts_goodput {
        calls.record.received(now, calls.own.workload, u32::MAX, bytes);
    }
}

fn fail<S: Sockets>(
    program: &mut dyn Program,
    now: Time,
    number: u32,
    why: Failure,
    calls: &mut ProgramCalls<'_, S>,
) {
    let Some(connection) = calls.own.connections.get(&number) else { return };
    let is_known = !connection.is_closed;
    calls.release(number);
    if is_known {
        program.handle_failed(now, number, why, calls);
    }
}

/// Notifies a program of connections on which a write has failed.
fn tell_broken<S: Sockets>(program: &mut dyn Program, now: Time, calls: &mut ProgramCalls<'_, S>) {
    let broken = |calls: &ProgramCalls<'_, S>| {
        calls
            .own
            .connections
            .iter()
            .find(|(_, connection)| connection.is_broken)
            .map(|(&number, _)| number)
    };
    while let Some(number) = broken(calls) {
        fail(program, now, number, Failure::Reset, calls);
    }
}
