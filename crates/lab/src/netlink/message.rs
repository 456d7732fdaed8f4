//! Requests to the kernel's routing socket and its answers (netlink(7), rtnetlink(7)).

use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType};
use nix::sys::socket::{recv, sendto, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const HEADER_BYTES: usize = 16;
/// An answer about one interface has a few kilobytes.
const ANSWER_BYTES_MAX: usize = 32_768;

/// A routing socket. It belongs to the network namespace in which it was opened, whoever uses it.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn open() -> io::Result<Netlink> {
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::NetlinkRoute,
        )?;
        Ok(Netlink { socket, sequence: 0 })
    }

    /// Sends one request and waits for its acknowledgement. Returns the answer before it, if there
    /// was one.
    ///
    /// # Errors
    /// The kernel's error.
    pub(super) fn request(&mut self, request: Request) -> io::Result<Vec<u8>> {
        self.sequence += 1;
        let message = request.finish(self.sequence);
        sendto(self.socket.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        let mut answer = Vec::new();
        let mut buffer = vec![0; ANSWER_BYTES_MAX];
        loop {
            let received = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            let mut rest = &buffer[..received];
            while rest.len() >= HEADER_BYTES {
                let bytes = u32_at(rest, 0) as usize;
                if bytes < HEADER_BYTES || bytes > rest.len() {
                    return Err(io::Error::other("the kernel sent a message without an end"));
                }
                let (kind, body) = (u16_at(rest, 4), &rest[HEADER_BYTES..bytes]);
                if kind == NLMSG_ERROR {
                    let code = u32_at(body, 0) as i32;
                    return if code == 0 {
                        Ok(answer)
                    } else {
                        Err(io::Error::from_raw_os_error(-code))
                    };
                }
                answer = body.to_vec();
                rest = &rest[bytes.next_multiple_of(4).min(rest.len())..];
            }
        }
    }
}

/// A request under construction.
#[derive(Debug)]
pub(super) struct Request {
    bytes: Vec<u8>,
    /// Where the lengths of open nests stand.
    nests: Vec<usize>,
}

impl Request {
    /// `header` is the fixed part of this kind of request.
    pub(super) fn new(kind: u16, flags: u16, header: &[u8]) -> Request {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(flags | NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
        bytes.extend_from_slice(header);
        Request { bytes, nests: Vec::new() }
    }

    pub(super) fn attribute(mut self, kind: u16, value: &[u8]) -> Request {
        self.bytes.extend_from_slice(&((value.len() + 4) as u16).to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    pub(super) fn number(self, kind: u16, value: u32) -> Request {
        self.attribute(kind, &value.to_ne_bytes())
    }

    pub(super) fn text(self, kind: u16, value: &str) -> Request {
        self.attribute(kind, &[value.as_bytes(), &[0]].concat())
    }

    /// Attributes until [`Request::end`] stand inside this one.
    pub(super) fn begin(mut self, kind: u16) -> Request {
        self.nests.push(self.bytes.len());
        self.attribute(kind, &[])
    }

    /// Bytes that are no attribute: some nests begin with a header of their own.
    pub(super) fn raw(mut self, bytes: &[u8]) -> Request {
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(super) fn end(mut self) -> Request {
        let start = self.nests.pop().expect("a nest was begun");
        let length = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        self
    }

    fn finish(mut self, sequence: u32) -> Vec<u8> {
        assert!(self.nests.is_empty(), "every nest was ended");
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// The value of an attribute in an answer, behind its fixed part.
pub(super) fn find_attribute(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    while attributes.len() >= 4 {
        let length = usize::from(u16_at(attributes, 0));
        if length < 4 || length > attributes.len() {
            return None;
        }
        if u16_at(attributes, 2) & 0x3FFF == wanted {
            return Some(&attributes[4..length]);
        }
        attributes = &attributes[length.next_multiple_of(4).min(attributes.len())..];
    }
    None
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_padded_and_a_nest_knows_its_length() {
        let request = Request::new(16, 0, &[7; 4]).begin(18).text(1, "tap").end().number(4, 1500);
        let message = request.finish(9);
        assert_eq!(u32_at(&message, 0) as usize, message.len());
        assert_eq!(message.len() % 4, 0);
        let attributes = &message[HEADER_BYTES + 4..];
        let nest = find_attribute(attributes, 18).expect("the nest");
        assert_eq!(find_attribute(nest, 1), Some(&b"tap\0"[..]));
        assert_eq!(find_attribute(attributes, 4), Some(&1500_u32.to_ne_bytes()[..]));
        assert_eq!(find_attribute(attributes, 5), None);
    }
}
