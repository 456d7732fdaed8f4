//! Calls of programs to their sockets, as system calls.

use super::{Kernel, Listening, READ_BYTES, Token, WRITE_BYTES, options, tcp_info};
use crate::counters::Counters;
use crate::sockets::{Marks, Read, Route, Sockets};
use nix::errno::Errno;
use nix::sys::epoll::{EpollEvent, EpollFlags};
use nix::sys::socket::sockopt::ReuseAddr;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, bind, connect,
    listen, recv, send, setsockopt, socket,
};
use std::io;
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

/// A connection that has more to read or write than this waits until others had their turn.
const TURN_BYTES: u64 = 1 << 22;
/// Connections that wait to be accepted; the system's limit (net.core.somaxconn) is usually the
/// same.
const BACKLOG: i32 = 4_096;

fn new_socket(kind: SockType, protocol: SockProtocol, own: SocketAddrV4) -> io::Result<OwnedFd> {
    let fd = socket(
        AddressFamily::Inet,
        kind,
        SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC,
        protocol,
    )?;
    setsockopt(&fd, ReuseAddr, &true)?;
    bind(fd.as_raw_fd(), &SockaddrIn::from(own))?;
    Ok(fd)
}

/// A call that would have to wait is one that found nothing.
fn unless_it_waits<T>(result: nix::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::EAGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Sockets for Kernel {
    type Accepted = (TcpStream, SocketAddrV4);

    fn listen(
        &mut self,
        own: SocketAddrV4,
        marks: Marks,
        congestion: Option<&str>,
    ) -> io::Result<()> {
        let fd = new_socket(SockType::Stream, SockProtocol::Tcp, own)?;
        options::set_tcp(&fd, marks, congestion)?;
        listen(&fd, Backlog::new(BACKLOG)?)?;
        let token = Token::Listener(self.listeners.len() as u32);
        // Reported once as well: where no connection can be accepted for another reason than that
        // there is none, the program sleeps.
        self.epoll
            .add(&fd, EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, token.number()))?;
        self.listeners.push(Listening {
            listener: TcpListener::from(fd),
            own,
            congestion: congestion.map(Rc::from),
        });
        Ok(())
    }

    fn connect(&mut self, number: u32, route: &Route) -> io::Result<()> {
        let fd = new_socket(SockType::Stream, SockProtocol::Tcp, route.own)?;
        options::set_tcp(&fd, route.marks, route.congestion.as_deref())?;
        match connect(fd.as_raw_fd(), &SockaddrIn::from(route.peer)) {
            Ok(()) | Err(Errno::EINPROGRESS) => self.keep(number, fd, true),
            Err(error) => Err(error.into()),
        }
    }

    fn adopt(
        &mut self,
        number: u32,
        (stream, own): Self::Accepted,
        route: &Route,
    ) -> io::Result<()> {
        let fd = OwnedFd::from(stream);
        // It has all else from the listener, unless workloads with the same marks have other
        // congestion controls. The priority of an accepted socket is 0 (sk_clone_lock).
        let listener = self.listeners.iter().find(|listener| listener.own == own);
        if listener.is_none_or(|listener| listener.congestion != route.congestion) {
            options::set_tcp(&fd, route.marks, route.congestion.as_deref())?;
        } else {
            options::set_priority(&fd, route.marks)?;
        }
        self.keep(number, fd, false)
    }

    fn write(&mut self, number: u32, most: u64) -> io::Result<u64> {
        let fd = self.fd(number)?.as_raw_fd();
        let mut written = 0;
        while written < most {
            let piece = usize::try_from(most - written).unwrap_or(usize::MAX).min(WRITE_BYTES);
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
            let taken = unless_it_waits(send(fd, &self.zeros[..piece], flags))?.unwrap_or(0);
            written += taken as u64;
            // A part of a piece fills the buffer, and the kernel will report when there is room
            // again.
            if taken < piece {
                return Ok(written);
            }
            if written >= TURN_BYTES && written < most {
                self.tell_again(number)?;
                return Ok(written);
            }
        }
        Ok(written)
    }

    fn unread(&mut self, number: u32) -> io::Result<u64> {
        options::unread(self.fd(number)?)
    }

    fn read(&mut self, number: u32, most: u64) -> io::Result<Read> {
        let fd = self.fd(number)?.as_raw_fd();
        let mut read = Read { bytes: 0, has_ended: false };
        while read.bytes < most {
            let piece = usize::try_from(most - read.bytes).unwrap_or(usize::MAX).min(READ_BYTES);
            let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
            match unless_it_waits(recv(fd, &mut self.room[..piece], flags))? {
                None => break,
                Some(0) => {
                    read.has_ended = true;
                    break;
                }
                Some(taken) => {
                    read.bytes += taken as u64;
                    // That was all. Later bytes are reported.
                    if taken < piece && !self.slots[number as usize].has_ended {
                        break;
                    }
                }
            }
            if most == u64::MAX && read.bytes >= TURN_BYTES {
                self.tell_again(number)?;
                break;
            }
        }
        Ok(read)
    }

    fn counters(&mut self, number: u32) -> Option<Counters> {
        tcp_info::counters(self.fd(number).ok()?)
    }

    fn close(&mut self, number: u32) {
        if let Some(slot) = self.slots.get_mut(number as usize) {
            slot.fd = None;
            slot.used = slot.used.wrapping_add(1);
        }
    }

    fn open_datagrams(&mut self, number: u32, route: &Route) -> io::Result<()> {
        let fd = new_socket(SockType::Datagram, SockProtocol::Udp, route.own)?;
        options::set_marks(&fd, route.marks)?;
        connect(fd.as_raw_fd(), &SockaddrIn::from(route.peer))?;
        self.keep(number, fd, false)
    }

    fn send(&mut self, number: u32, payload: &[u8]) -> io::Result<bool> {
        let sent = send(
            self.fd(number)?.as_raw_fd(),
            payload,
            MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL,
        );
        match sent {
            // No buffers: the queue of the interface is full.
            Err(Errno::ENOBUFS) => Ok(false),
            result => unless_it_waits(result).map(|sent| sent.is_some()),
        }
    }

    fn receive(&mut self, number: u32, start: &mut [u8]) -> io::Result<Option<usize>> {
        // MSG_TRUNC: the length is that of the whole datagram.
        unless_it_waits(recv(
            self.fd(number)?.as_raw_fd(),
            start,
            MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC,
        ))
    }
}
