//! Messages between the first process of a guest and the engine: frames that no network sees.

use crate::spec::{LINE_ETHERTYPE, LINE_FRAME_BYTES, Line};
use nix::sys::socket::{
    AddressFamily, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrLike, bind, recv,
    send, socket,
};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The line to the engine.
#[derive(Debug)]
pub(super) struct EngineLine {
    socket: OwnedFd,
}

impl EngineLine {
    /// By this interface.
    pub(super) fn open(interface: &str) -> io::Result<EngineLine> {
        let (flags, none) =
            (SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None::<SockProtocol>);
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, none)?;
        bind(socket.as_raw_fd(), &address(interface)?)?;
        Ok(EngineLine { socket })
    }

    /// Says something.
    pub(super) fn say(&self, line: Line) -> io::Result<()> {
        send(self.socket.as_raw_fd(), &line.frame(), MsgFlags::empty())?;
        Ok(())
    }

    /// The engine's next message.
    pub(super) fn hear(&self) -> io::Result<Option<Line>> {
        let mut frame = [0; LINE_FRAME_BYTES];
        match recv(self.socket.as_raw_fd(), &mut frame, MsgFlags::empty()) {
            Ok(count) => Ok(Line::read(&frame[..count])),
            Err(nix::errno::Errno::EAGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// To be waited for.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Frames of the line's type on an interface.
#[expect(unsafe_code, reason = "an address of a packet socket has no safe constructor")]
fn address(interface: &str) -> io::Result<LinkAddr> {
    let number = nix::net::if_::if_nametoindex(interface)?;
    // SAFETY: sockaddr_ll is plain data for which all zeroes is a value.
    let mut raw: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    raw.sll_family = libc::AF_PACKET as u16;
    raw.sll_protocol = LINE_ETHERTYPE.to_be();
    raw.sll_ifindex = number as i32;
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer is to an address of this family and length.
    let address = unsafe { LinkAddr::from_raw((&raw const raw).cast(), Some(length)) };
    address.ok_or_else(|| io::Error::other("an address of a packet socket"))
}
