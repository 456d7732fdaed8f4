//! The sockets of all hosts: their agenda sources, and operations on both ends of a connection.

use super::{HostSocket, World};
use crate::agenda::Source;
use crate::boundary::Opening;
use crate::observe::HostEvent;
use crate::part_flows::FlowEnd;
use tailrace_host::Socket;
use tailrace_units::Time;

impl World {
    pub(crate) fn socket_source(&self, socket: u32) -> Source {
        self.sources.sockets + socket
    }

    /// A socket, by its index in the order in which connections were opened.
    pub(crate) fn socket(&self, socket: u32) -> &Socket {
        let HostSocket { host, number } = self.sockets[socket as usize];
        &self.hosts[host as usize].sockets()[number as usize]
    }

    /// The indices of connections, each that of the side that opened it; the other side's is the
    /// next. A released index is left out when the number of one of its sockets is used again: that
    /// socket has another index.
    pub(crate) fn connections(&self) -> impl Iterator<Item = u32> {
        let is_own = |index: u32| self.socket(index).timer() == self.socket_source(index);
        (0..self.sockets.len() as u32)
            .step_by(2)
            .filter(move |&opener| is_own(opener) && is_own(opener + 1))
    }

    /// All sockets by the indices of their connections: the side that opened each first.
    pub(crate) fn all_sockets(&self) -> impl Iterator<Item = &Socket> {
        self.connections().flat_map(|opener| [opener, opener + 1]).map(|socket| self.socket(socket))
    }

    /// Calls `tell` with workload, user and intended start of every operation in progress.
    pub(crate) fn running(&self, tell: &mut dyn FnMut(u32, u32, Time)) {
        for socket in self.all_sockets() {
            socket.app().running(self.now, |user, start| tell(socket.owner(), user, start));
        }
        for index in &self.programs {
            self.hosts[index.host as usize].running_of(index.number, &mut *tell);
        }
    }

    /// The transport's or the program's deadline has come.
    #[inline(never)]
    pub(crate) fn wake_socket(&mut self, now: Time, socket: u32) {
        let HostSocket { host, number } = self.sockets[socket as usize];
        let (host, out) = self.host_and_links(host);
        host.handle_socket_timeout(now, number, out);
    }

    /// Executes the requests of hosts.
    #[cold]
    #[inline(never)]
    pub(crate) fn handle_host_events(&mut self) {
        while let Some(event) = self.links.observe.host_events.pop() {
            match event {
                HostEvent::Over { host, socket } => self.release_flow(host, socket),
                HostEvent::Flow(key) => {
                    self.tell_flow(key);
                    self.tell_flow(key.reversed());
                }
            }
        }
    }

    /// In a part of a trial: a program of another part has opened a connection.
    pub(crate) fn learn_opening(&mut self, opening: &Opening) {
        let &Opening { host, socket, endpoint, key } = opening;
        if !self.is_own(host) {
            self.links.observe.note_endpoint(host, socket, endpoint);
            self.tell_flow(key);
            self.tell_flow(key.reversed());
        }
    }

    /// Releases both ends of a completed flow; in a part of a trial those of this part, and
    /// notifies the other parts.
    fn release_flow(&mut self, host: u32, number: u32) {
        let noticed =
            self.hosts[host as usize].sockets()[number as usize].timer() - self.sources.sockets;
        if self.links.boundary.is_some() {
            return self.end_flow_of_part(noticed);
        }
        for end in [noticed, noticed ^ 1] {
            self.release_end(self.now, end);
        }
        self.free_pair(noticed);
    }

    /// Gives back one end of a flow.
    fn release_end(&mut self, now: Time, end: u32) {
        self.links.agenda.arm(self.socket_source(end), Time::NEVER);
        let socket = self.socket(end);
        let (owner, stats, limits) =
            (socket.owner() as usize, *socket.tcp().stats(), socket.tcp().limits(now));
        let record = &mut self.links.observe.workloads[owner];
        record.retired.add(&stats);
        record.retired_limits.add(&limits);
        let HostSocket { host, number } = self.sockets[end as usize];
        let (host, out) = self.host_and_links(host);
        host.release(now, number, out);
    }

    /// The ends of a connection follow each other, the client first.
    fn free_pair(&mut self, end: u32) {
        self.free_sockets.push(end & !1);
    }

    #[cold]
    fn end_flow_of_part(&mut self, noticed: u32) {
        let is_shared = !self.is_own(self.sockets[(noticed ^ 1) as usize].host);
        let (Some(boundary), Some(log)) = (&mut self.links.boundary, &self.links.observe.log)
        else {
            return;
        };
        boundary.flows.ended.push(FlowEnd {
            event: log.event,
            now: self.now,
            socket: noticed,
            is_shared,
        });
        let hosts = [noticed, noticed ^ 1].map(|end| (end, self.sockets[end as usize].host));
        for (end, host) in hosts {
            if self.is_own(host) {
                self.release_end(self.now, end);
            }
        }
    }

    /// In a part of a trial: the other parts know now that a flow has ended, and have handled no
    /// later event, if they had its other end. Flows must be settled in their order.
    pub(crate) fn settle_flow(&mut self, flow: &FlowEnd) {
        let was_noticed_here = self.is_own(self.sockets[flow.socket as usize].host);
        for end in [flow.socket, flow.socket ^ 1] {
            match self.is_own(self.sockets[end as usize].host) {
                true if was_noticed_here => {}
                true => self.release_end(flow.now, end),
                false => {}
            }
        }
        self.free_pair(flow.socket);
        if let Some(boundary) = &mut self.links.boundary {
            boundary.flows.forget(flow.socket);
        }
    }

    /// Whether a host is one of this part of a trial.
    pub(crate) fn is_own(&self, host: u32) -> bool {
        self.links.boundary.as_ref().is_none_or(|boundary| boundary.flows.owns(host))
    }
}
