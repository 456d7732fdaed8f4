//! Options of sockets.

use crate::sockets::Marks;
use nix::errno::Errno;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{Ipv4Tos, Priority, TcpCongestion, TcpNoDelay};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The code point stands above the two bits of ECN.
const ECN_BITS: u32 = 2;

/// Marks of packets, which are 0 in a new socket. The type of service goes first: it changes the
/// priority.
pub fn set_marks(fd: &OwnedFd, marks: Marks) -> io::Result<()> {
    if marks.dscp > 0 {
        setsockopt(fd, Ipv4Tos, &(i32::from(marks.dscp) << ECN_BITS))?;
    }
    set_priority(fd, marks)
}

/// The priority alone.
pub fn set_priority(fd: &OwnedFd, marks: Marks) -> io::Result<()> {
    if marks.dscp > 0 || marks.priority > 0 {
        setsockopt(fd, Priority, &i32::from(marks.priority))?;
    }
    Ok(())
}

/// Marks and congestion control of a connection or listener. Nagle's algorithm is off, as in the
/// model: every write leaves at once.
pub fn set_tcp(fd: &OwnedFd, marks: Marks, congestion: Option<&str>) -> io::Result<()> {
    set_marks(fd, marks)?;
    setsockopt(fd, TcpNoDelay, &true)?;
    if let Some(name) = congestion {
        setsockopt(fd, TcpCongestion, &OsString::from(name))
            .map_err(|error| explain(error, name))?;
    }
    Ok(())
}

fn explain(error: Errno, name: &str) -> io::Error {
    let reason = match error {
        Errno::ENOENT => "this kernel does not have it",
        Errno::EPERM => "only root may choose it",
        _ => error.desc(),
    };
    io::Error::new(io::Error::from(error).kind(), format!("congestion control {name:?}: {reason}"))
}

/// How many bytes can be read.
#[expect(unsafe_code, reason = "FIONREAD has no safe wrapper")]
pub fn unread(fd: &OwnedFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes one number, which outlives it.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut bytes) };
    Errno::result(result)?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::getsockopt;
    use std::net::UdpSocket;

    #[test]
    fn a_socket_has_its_code_point_and_its_priority() {
        for (priority, dscp) in [(5, 46), (0, 46), (3, 0)] {
            let socket = OwnedFd::from(UdpSocket::bind("127.0.0.1:0").expect("an address"));
            set_marks(&socket, Marks { priority, dscp }).expect("everybody may");
            assert_eq!(getsockopt(&socket, Ipv4Tos), Ok(i32::from(dscp) * 4));
            assert_eq!(getsockopt(&socket, Priority), Ok(i32::from(priority)));
        }
    }
}
