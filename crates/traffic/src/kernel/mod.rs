//! The sockets of Linux: one thread, which sleeps until something has happened or is due. It never
//! checks twice for the same event, so that virtual time, which stands still while a program runs,
//! can go on.

mod calls;
mod clock;
mod options;
mod run;
mod tcp_info;

pub use clock::{Clock, ClockKind};
pub use run::{Begin, Ended, HostProgress, Input, run};

use crate::sockets::Event;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::SocketError;
use std::io;
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use tailrace_units::Time;

/// Bytes of one call of `send`; they are zeros.
const WRITE_BYTES: usize = 1 << 18;
/// Bytes of one call of `recv`: with MSG_TRUNC the kernel discards the bytes that it reads, and
/// nothing is copied.
const READ_BYTES: usize = 1 << 20;
/// Events of one wait.
const EVENTS_MAX: usize = 256;
/// The events of a socket, each reported once when it changes: the thread then reads and writes
/// everything that it can.
const SOCKET_FLAGS: EpollFlags = EpollFlags::EPOLLIN
    .union(EpollFlags::EPOLLOUT)
    .union(EpollFlags::EPOLLRDHUP)
    .union(EpollFlags::EPOLLET);

/// The owner of an epoll event, in the upper half of its number; the lower half counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token {
    Timer,
    Input,
    Listener(u32),
    /// A number of a socket, and how often the number was used before.
    Socket(u32, u32),
}

const KIND_SHIFT: u32 = 62;
const USE_SHIFT: u32 = 32;
const USE_MASK: u32 = (1 << (KIND_SHIFT - USE_SHIFT)) - 1;

impl Token {
    fn number(self) -> u64 {
        match self {
            Token::Timer => 0,
            Token::Input => 1,
            Token::Listener(index) => 1 << KIND_SHIFT | u64::from(index),
            Token::Socket(number, used) => {
                2 << KIND_SHIFT | u64::from(used & USE_MASK) << USE_SHIFT | u64::from(number)
            }
        }
    }

    fn of(number: u64) -> Token {
        match (number >> KIND_SHIFT, number as u32) {
            (0, 0) => Token::Timer,
            (0, _) => Token::Input,
            (1, index) => Token::Listener(index),
            (_, index) => Token::Socket(index, (number >> USE_SHIFT) as u32 & USE_MASK),
        }
    }
}

/// A socket in use.
struct Slot {
    fd: Option<OwnedFd>,
    /// Its connection is not open yet.
    is_connecting: bool,
    /// The peer has closed its end: behind the bytes that can be read comes nothing more.
    has_ended: bool,
    /// How often the number was used before.
    used: u32,
}

/// A listener.
struct Listening {
    listener: TcpListener,
    own: SocketAddrV4,
    congestion: Option<Rc<str>>,
}

/// Linux's sockets, and the time.
pub struct Kernel {
    epoll: Epoll,
    clock: Clock,
    slots: Vec<Slot>,
    listeners: Vec<Listening>,
    found: Vec<EpollEvent>,
    /// How many of `found` have been handled.
    seen: usize,
    zeros: Vec<u8>,
    room: Vec<u8>,
    /// The end has been asked for.
    is_asked_to_end: bool,
}

impl Kernel {
    /// No sockets, by this clock.
    ///
    /// # Errors
    /// When the system has no epoll.
    pub fn new(clock: Clock) -> io::Result<Kernel> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        // Reported once when it expires: it need not be read.
        epoll.add(
            clock.timer(),
            EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, Token::Timer.number()),
        )?;
        Ok(Kernel {
            epoll,
            clock,
            slots: Vec::new(),
            listeners: Vec::new(),
            found: Vec::new(),
            seen: 0,
            zeros: vec![0; WRITE_BYTES],
            room: vec![0; READ_BYTES],
            is_asked_to_end: false,
        })
    }

    /// The end is asked for when this file can be read.
    fn end_on(&self, input: impl AsFd) -> io::Result<()> {
        Ok(self.epoll.add(input, EpollEvent::new(EpollFlags::EPOLLIN, Token::Input.number()))?)
    }

    /// Sleeps until something happens, or until then at the latest. Returns the time.
    fn wait(&mut self, until: Time) -> io::Result<Time> {
        self.clock.arm(until)?;
        self.found.resize(EVENTS_MAX, EpollEvent::empty());
        let count = loop {
            match self.epoll.wait(&mut self.found, EpollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                result => break result?,
            }
        };
        self.found.truncate(count);
        self.seen = 0;
        let now = self.clock.now()?;
        let is_due = self.found.iter().any(|event| Token::of(event.data()) == Token::Timer);
        // The clock may count in steps, and then stand just before the deadline.
        Ok(if is_due { now.max(self.clock.expired()) } else { now })
    }

    /// The next thing that the last wait has found.
    fn next_event(&mut self) -> Option<Event<(TcpStream, SocketAddrV4)>> {
        loop {
            let event = *self.found.get(self.seen)?;
            match Token::of(event.data()) {
                Token::Timer => {}
                Token::Input => self.is_asked_to_end = true,
                // A listener may have more: it is polled until it has none.
                Token::Listener(index) => {
                    let Listening { listener, own, .. } = &self.listeners[index as usize];
                    if let Ok((stream, SocketAddr::V4(peer))) = listener.accept() {
                        return Some(Event::Accepted { accepted: (stream, *own), peer, own: *own });
                    }
                }
                Token::Socket(number, used) => {
                    if let Some(event) = self.next_of_socket(number, used, event.events()) {
                        return Some(event);
                    }
                }
            }
            self.seen += 1;
        }
    }

    /// The next event that epoll has found at a socket; it is taken out of those that were found.
    fn next_of_socket(
        &mut self,
        number: u32,
        used: u32,
        flags: EpollFlags,
    ) -> Option<Event<(TcpStream, SocketAddrV4)>> {
        let slot = self.slots.get_mut(number as usize)?;
        let fd = slot.fd.as_ref().filter(|_| slot.used & USE_MASK == used)?;
        slot.has_ended |= flags.intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP);
        let is_broken = flags.contains(EpollFlags::EPOLLERR);
        if is_broken || slot.is_connecting && flags.contains(EpollFlags::EPOLLHUP) {
            self.seen += 1;
            let error = getsockopt(fd, SocketError).unwrap_or(0);
            return Some(Event::Failed(number, error));
        }
        let (done, event) = if slot.is_connecting {
            if !flags.contains(EpollFlags::EPOLLOUT) {
                return None;
            }
            slot.is_connecting = false;
            (EpollFlags::EPOLLOUT, Event::Connected(number))
        } else if flags.contains(EpollFlags::EPOLLOUT) {
            (EpollFlags::EPOLLOUT, Event::Writable(number))
        } else if flags
            .intersects(EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP)
        {
            (flags, Event::Readable(number))
        } else {
            return None;
        };
        self.found[self.seen] = EpollEvent::new(flags - done, Token::Socket(number, used).number());
        Some(event)
    }

    fn fd(&self, number: u32) -> io::Result<&OwnedFd> {
        let slot = self.slots.get(number as usize).and_then(|slot| slot.fd.as_ref());
        slot.ok_or_else(|| io::Error::from(Errno::EBADF))
    }

    /// Reports once more the events for which a socket is ready.
    fn tell_again(&mut self, number: u32) -> io::Result<()> {
        let slot = &self.slots[number as usize];
        let token = Token::Socket(number, slot.used);
        Ok(self
            .epoll
            .modify(self.fd(number)?, &mut EpollEvent::new(SOCKET_FLAGS, token.number()))?)
    }

    /// Keeps a socket and watches it.
    fn keep(&mut self, number: u32, fd: OwnedFd, is_connecting: bool) -> io::Result<()> {
        let place = number as usize;
        if self.slots.len() <= place {
            self.slots.resize_with(place + 1, || Slot {
                fd: None,
                is_connecting: false,
                has_ended: false,
                used: 0,
            });
        }
        let slot = &mut self.slots[place];
        self.epoll
            .add(&fd, EpollEvent::new(SOCKET_FLAGS, Token::Socket(number, slot.used).number()))?;
        (slot.fd, slot.is_connecting, slot.has_ended) = (Some(fd), is_connecting, false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockets::Sockets;
    use std::os::unix::net::UnixStream;

    #[test]
    fn events_of_a_closed_socket_are_not_attributed_to_its_successor() {
        let mut kernel = Kernel::new(Clock::new(ClockKind::Monotonic, 0).expect("a clock"))
            .expect("it has epoll");
        let (one, _peer) = UnixStream::pair().expect("a pair");
        kernel.keep(0, one.into(), false).expect("a socket");
        kernel.found = vec![EpollEvent::new(EpollFlags::EPOLLIN, Token::Socket(0, 0).number())];
        kernel.close(0);
        let (other, _peer) = UnixStream::pair().expect("a pair");
        kernel.keep(0, other.into(), false).expect("a socket");
        assert!(kernel.next_event().is_none());
    }

    #[test]
    fn a_number_of_epoll_tells_whom_it_belongs_to() {
        for token in [
            Token::Timer,
            Token::Input,
            Token::Listener(7),
            Token::Socket(9, 0),
            Token::Socket(u32::MAX, 3),
        ] {
            assert_eq!(Token::of(token.number()), token);
        }
    }
}
