//! The sockets of all hosts: their places in the agenda, and what the world does with both ends of a connection.

use super::{SocketPlace, World};
use crate::agenda::Source;
use crate::observe::News;
use tailrace_endpoint::host::Socket;
use tailrace_units::Time;

impl World {
    pub(crate) fn socket_source(&self, socket: u32) -> Source {
        self.first_socket_source + socket
    }

    /// A socket, by its place in the order in which connections were opened.
    pub(crate) fn socket(&self, socket: u32) -> &Socket {
        let SocketPlace { host, number } = self.sockets[socket as usize];
        &self.hosts[host as usize].sockets()[number as usize]
    }

    /// All sockets in the order in which their connections were opened: the side that opened each first.
    pub(crate) fn all_sockets(&self) -> impl Iterator<Item = &Socket> {
        (0..self.sockets.len() as u32).map(|socket| self.socket(socket))
    }

    /// Tells workload, user and intended start of every operation in progress.
    pub(crate) fn running(&self, tell: &mut dyn FnMut(u32, u32, Time)) {
        for socket in self.all_sockets() {
            socket.app().running(self.now, |user, start| tell(socket.owner(), user, start));
        }
        for place in &self.programs {
            self.hosts[place.host as usize].running_of(place.number, &mut *tell);
        }
    }

    /// The transport's or the program's deadline has come.
    #[inline(never)]
    pub(crate) fn wake_socket(&mut self, now: Time, socket: u32) {
        let SocketPlace { host, number } = self.sockets[socket as usize];
        let (host, out) = self.host_and_links(host);
        host.handle_socket_timeout(now, number, out);
    }

    /// Executes the requests of hosts.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_news(&mut self) {
        while let Some(news) = self.links.observe.news.pop() {
            match news {
                News::Over { host, socket } => self.release_flow(host, socket),
                News::Flow(key) => {
                    self.tell_flow(key);
                    self.tell_flow(key.reversed());
                }
            }
        }
    }

    /// Gives back both ends of a flow that is complete.
    fn release_flow(&mut self, host: u32, number: u32) {
        let noticed = self.hosts[host as usize].sockets()[number as usize].timer() - self.first_socket_source;
        let client = noticed & !1; // the ends of a connection follow each other, the client first
        for end in [noticed, noticed ^ 1] {
            self.links.agenda.arm(self.socket_source(end), Time::NEVER);
            let socket = self.socket(end);
            let (owner, stats, limits) = (socket.owner() as usize, *socket.tcp().stats(), socket.tcp().limits(self.now));
            let record = &mut self.links.observe.workloads[owner];
            record.retired.add(&stats);
            record.retired_limits.add(&limits);
            let SocketPlace { host, number } = self.sockets[end as usize];
            let now = self.now;
            let (host, out) = self.host_and_links(host);
            host.release(now, number, out);
        }
        self.free_sockets.push(client);
    }
}
