//! Deadlines of a host: those of its interface, and of the transports and programs of its sockets.

use super::environment::{Environment, Timer};
use super::event::Event;
use super::hosted_calls::waiter_of;
use super::socket::OwnSocket;
use super::uplink::Uplink;
use super::{Host, Waiter};
use crate::nic::Nic;
use tailrace_programs::App;
use tailrace_units::Time;

/// Deadlines.
impl<P> Host<P> {
    /// When the interface is due, or [`Time::NEVER`]. Sockets have deadlines of their own:
    /// [`Socket::poll_timeout`].
    pub fn poll_timeout(&self) -> Time {
        self.nic.poll_timeout()
    }

    /// The interface is due, or has received a control frame: it sends what it may.
    pub fn handle_timeout(&mut self, now: Time, out: &mut impl Environment<Place = P>) {
        if let Nic::Lossless(_) = self.nic {
            Uplink { nic: &mut self.nic, attachment: &self.attachment, out, now, origin: None }
                .send_due();
        }
    }

    /// The transport's or the program's deadline has come.
    #[inline(never)]
    pub fn handle_socket_timeout(
        &mut self,
        now: Time,
        number: u32,
        out: &mut impl Environment<Place = P>,
    ) {
        if self.threads.is_some() {
            return self.interrupt_socket(now, number, out);
        }
        let socket = &mut self.table.sockets[number as usize];
        if socket.tcp.poll_timeout() <= now {
            socket.tcp.handle_timeout(
                now,
                &mut Uplink {
                    nic: &mut self.nic,
                    attachment: &self.attachment,
                    out,
                    now,
                    origin: None,
                },
            );
        }
        if socket.app.poll_timeout() <= now {
            return self.wake_program(now, number, out);
        }
        out.arm(&self.attachment, Timer::Socket(socket.timer), socket.poll_timeout());
    }

    /// The program's deadline has come. It may leave its core to others.
    fn wake_program<O: Environment<Place = P>>(&mut self, now: Time, number: u32, out: &mut O) {
        self.call_program(now, number, out, |app, calls| app.handle_timeout(now, calls));
        self.grant_cores(now, out);
    }

    /// Notifies the programs that have been granted a core by now.
    pub(super) fn grant_cores<O: Environment<Place = P>>(&mut self, now: Time, out: &mut O) {
        while let Some(next) = self.cores.poll_granted() {
            let waiter = match next {
                Waiter::Socket(number) => number.into(),
                Waiter::Thread { program, thread } => waiter_of(program, thread),
            };
            out.on_event(now, &self.attachment, Event::CoreGranted { waiter });
            match next {
                Waiter::Socket(number) => {
                    self.call_program(now, number, out, |app, calls| app.handle_core(calls))
                }
                Waiter::Thread { program, thread } => {
                    self.tell_program(now, program, out, |program, calls| {
                        program.handle_core(now, thread, calls);
                    })
                }
            }
        }
    }

    fn call_program<O: Environment<Place = P>>(
        &mut self,
        now: Time,
        number: u32,
        out: &mut O,
        call: impl FnOnce(&mut App, &mut OwnSocket<'_, O>),
    ) {
        let Host { attachment, table, nic, cores, number: host, .. } = self;
        let socket = &mut table.sockets[number as usize];
        let mut calls = OwnSocket {
            number,
            host: *host,
            owner: socket.owner,
            is_transient: socket.is_transient,
            has_finished: false,
            tcp: &mut socket.tcp,
            cores,
            uplink: Uplink { nic, attachment, out, now, origin: None },
        };
        call(&mut socket.app, &mut calls);
        out.arm(attachment, Timer::Socket(socket.timer), socket.poll_timeout());
    }

    /// The program of this socket for datagrams sends one, of at most 65 507 bytes: above the MTU
    /// in fragments.
    pub fn send_datagram(
        &mut self,
        now: Time,
        number: u32,
        payload_bytes: u32,
        out: &mut impl Environment<Place = P>,
    ) {
        if self.threads.is_some() {
            return self.ask_to_send(now, number, payload_bytes, out);
        }
        let mut uplink =
            Uplink { nic: &mut self.nic, attachment: &self.attachment, out, now, origin: None };
        self.udp_sockets[number as usize].send(now, payload_bytes, &mut self.ip, &mut uplink);
    }

    /// When the program of this socket for datagrams may send the next: now, or when its send
    /// buffer has room.
    pub fn datagram_room_at(&mut self, now: Time, number: u32) -> Time {
        self.udp_sockets[number as usize]
            .send_buffer
            .as_mut()
            .map_or(now, |buffer| buffer.room_at(now))
    }
}
