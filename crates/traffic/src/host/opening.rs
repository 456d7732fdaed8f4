//! Opening of connections and sockets, and arrivals.

use super::{Due, Host};
use crate::datagrams::{Receiver, Sender};
use crate::duty::{DatagramEnd, LastingEnd};
use crate::end::{End, Link};
use crate::flows::Flow;
use crate::record::{Failure, Transaction};
use crate::sockets::Sockets;
use std::net::SocketAddrV4;
use tailrace_units::{Span, Time};
use tailrace_workloads::flow_programs;

/// A flow is known to its receiver this long before it starts, should clocks differ.
const AHEAD: Span = Span::from_secs(1);
/// Start of a datagram that is read.
const DATAGRAM_START_BYTES: usize = 8;

impl Host {
    pub(super) fn add_lasting(&mut self, end: LastingEnd) {
        let LastingEnd { workload, user, side, app, route, counts_goodput } = end;
        let (peer, port) = (route.peer, route.own.port());
        let number =
            self.add(End { app, link: Link::new(workload, user, side, route, counts_goodput) });
        if side == 1 {
            self.awaited.insert((peer, port), number);
        }
    }

    pub(super) fn add_datagrams(&mut self, end: DatagramEnd) {
        let number = self.ends.len() as u32;
        self.ends.push(None);
        let workload = end.arrivals.workload();
        if end.sends {
            let sender = Sender::new(end.arrivals);
            self.arm(sender.next_at(), Due::Datagram(number));
            self.senders.insert(number, sender);
        } else {
            self.receivers.insert(number, Receiver::new(end.arrivals));
        }
        self.datagram_ends.push((number, end.route, workload));
    }

    pub(super) fn add(&mut self, end: End) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.ends.push(None);
            self.ends.len() as u32 - 1
        });
        self.ends[number as usize] = Some(Box::new(end));
        self.arm_program(number);
        number
    }

    pub(super) fn arm(&mut self, at: Time, due: Due) {
        if !at.is_never() {
            self.due.insert((at, due));
        }
    }

    pub(super) fn arm_program(&mut self, number: u32) {
        let Some(end) = &mut self.ends[number as usize] else { return };
        let (before, due) = (end.link.due, end.app.poll_timeout());
        if before != due {
            end.link.due = due;
            self.due.remove(&(before, Due::Program(number)));
            self.arm(due, Due::Program(number));
        }
    }

    pub(super) fn arm_flow(&mut self) {
        let next = self.flows.next_own(&mut self.routes);
        self.arm(next, Due::Flow);
    }

    pub(super) fn start_flows<S: Sockets>(&mut self, now: Time, at: Time, sockets: &mut S) {
        self.record.was_late(now.since(at));
        if let Some(flow) = self.flows.take_own(now, &mut self.routes) {
            let [source, _] = flow_programs(flow.at, flow.bytes);
            let route = self.routes.route(flow.workload, flow.ends, flow.ports, 0);
            let number = self.add(End { app: source, link: Link::of_flow(flow, 0, route) });
            self.call(now, number, sockets, |app, calls| app.handle_timeout(now, calls));
        }
        self.arm_flow();
    }

    pub(super) fn accept<S: Sockets>(
        &mut self,
        now: Time,
        accepted: S::Accepted,
        from: (SocketAddrV4, u16),
        sockets: &mut S,
    ) {
        let number = match self.awaited.remove(&from) {
            Some(number) => number,
            None => {
                let (peer, own_port) = from;
                let Some(flow) =
                    self.flows.take_expected(peer, own_port, now + AHEAD, &mut self.routes)
                else {
                    return self.record.failed(&Failure {
                        at: now,
                        workload: u32::MAX,
                        user: u32::MAX,
                        side: 1,
                        error: 0,
                    });
                };
                self.add_sink(flow)
            }
        };
        let Some(end) = &mut self.ends[number as usize] else { return };
        end.link.is_open = true;
        if let Err(error) = sockets.adopt(number, accepted, &end.link.route) {
            return self.fail(now, number, error.raw_os_error().unwrap_or(0), sockets);
        }
        // Bytes may have come before it had a number.
        self.read(now, number, sockets);
    }

    pub(super) fn add_sink(&mut self, flow: Flow) -> u32 {
        let [_, sink] = flow_programs(flow.at, flow.bytes);
        let route = self.routes.route(flow.workload, flow.ends, flow.ports, 1);
        self.add(End { app: sink, link: Link::of_flow(flow, 1, route) })
    }

    pub(super) fn send_datagram<S: Sockets>(
        &mut self,
        now: Time,
        at: Time,
        number: u32,
        sockets: &mut S,
    ) {
        self.record.was_late(now.since(at));
        let Some(sender) = self.senders.get_mut(&number) else { return };
        let result = sockets.send(number, sender.take());
        let next = sender.next_at();
        if !matches!(result, Ok(true)) {
            self.record.unsent_datagrams += 1;
        }
        self.arm(next, Due::Datagram(number));
    }

    pub(super) fn receive_datagrams<S: Sockets>(
        &mut self,
        now: Time,
        number: u32,
        sockets: &mut S,
    ) {
        let Some(receiver) = self.receivers.get_mut(&number) else { return };
        let found = self.datagram_ends.iter().find(|end| end.0 == number);
        let workload = found.expect("a receiver has a socket").2;
        let mut start = [0; DATAGRAM_START_BYTES];
        while let Ok(Some(bytes)) = sockets.receive(number, &mut start) {
            self.record.received(now, workload, 0, bytes as u64);
            if let Some(intended) = receiver.intended(&start, bytes) {
                let transaction = Transaction {
                    workload,
                    user: 0,
                    intended,
                    first_byte: now,
                    end: now,
                    flow: None,
                };
                self.record.transaction(&transaction);
            }
        }
    }
}
