//! Requests to the kernel's routing socket and its answers (netlink(7), rtnetlink(7)).

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType};
use nix::sys::socket::{recv, sendto, socket};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// An answer about one interface has a few kilobytes.
const ANSWER_BYTES_MAX: usize = 32_768;
/// Messages are aligned to four bytes (`NLMSG_ALIGN`).
const ALIGNMENT_BYTES: usize = 4;

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
    pub(super) fn request(
        &mut self,
        request: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Option<RouteNetlinkMessage>> {
        self.sequence += 1;
        let bytes = message(request, flags, self.sequence);
        sendto(self.socket.as_raw_fd(), &bytes, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
        let mut answer = None;
        let mut buffer = vec![0; ANSWER_BYTES_MAX];
        loop {
            let received = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
            let mut rest = &buffer[..received];
            while !rest.is_empty() {
                let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                    .map_err(io::Error::other)?;
                match message.payload {
                    NetlinkPayload::Error(error) if error.code.is_none() => return Ok(answer),
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    NetlinkPayload::InnerMessage(inner) => answer = Some(inner),
                    _ => {}
                }
                let bytes = message.header.length as usize;
                rest = &rest[bytes.next_multiple_of(ALIGNMENT_BYTES).min(rest.len())..];
            }
        }
    }

    /// The same, for a request without an answer.
    ///
    /// # Errors
    /// The kernel's error.
    pub(super) fn set(&mut self, request: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.request(request, flags).map(drop)
    }
}

/// The bytes of a request that is to be acknowledged.
pub(super) fn message(request: RouteNetlinkMessage, flags: u16, sequence: u32) -> Vec<u8> {
    let mut message = NetlinkMessage::from(request);
    message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    message.header.sequence_number = sequence;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_route::link::{LinkAttribute, LinkMessage};

    #[test]
    fn a_request_has_its_length_flags_and_number_and_asks_for_an_acknowledgement() {
        let mut link = LinkMessage::default();
        link.attributes.push(LinkAttribute::Mtu(1_500));
        let bytes = message(RouteNetlinkMessage::NewLink(link), 0x400, 9);
        assert_eq!(bytes.len(), 16 + 16 + 8);
        assert_eq!(bytes[..4], 40_u32.to_ne_bytes());
        assert_eq!(bytes[4..6], 16_u16.to_ne_bytes(), "RTM_NEWLINK");
        assert_eq!(bytes[6..8], 0x405_u16.to_ne_bytes());
        assert_eq!(bytes[8..12], 9_u32.to_ne_bytes());
        assert_eq!(bytes[32..], [8, 0, 4, 0, 0xDC, 5, 0, 0], "IFLA_MTU");
    }
}
