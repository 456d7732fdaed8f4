//! Messages of the vhost-user protocol on a Unix stream socket.

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use tailrace_lab::vhost_user::{HEADER_BYTES, Header, NEED_REPLY, REPLY, message};

/// Largest payload that a guest sends: a configuration space with its header.
const PAYLOAD_MAX: usize = 4_096;
/// Most descriptors of one message: the two regions of a guest's memory.
const DESCRIPTORS_MAX: usize = 8;

/// A request of a guest.
#[derive(Debug)]
pub struct Message {
    /// The request.
    pub request: u32,
    /// Whether an answer is awaited even where the request has none of its own.
    pub needs_reply: bool,
    /// Its payload.
    pub payload: Vec<u8>,
}

impl Message {
    /// A number of the payload, or zero where it is too short.
    pub fn u32(&self, at: usize) -> u32 {
        self.payload
            .get(at..at + 4)
            .map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    /// The same with 64 bits.
    pub fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }
}

/// One end of such a socket.
#[derive(Debug)]
pub struct VhostConnection {
    stream: UnixStream,
    bytes: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

impl VhostConnection {
    /// A connected socket.
    pub fn new(stream: UnixStream) -> VhostConnection {
        VhostConnection { stream, bytes: Vec::new(), descriptors: VecDeque::new() }
    }

    /// A message that has come whole already.
    pub fn take_message(&mut self) -> io::Result<Option<Message>> {
        let Some(header) = Header::parse(&self.bytes) else { return Ok(None) };
        let (request, size) = (header.request, header.payload_bytes as usize);
        if size > PAYLOAD_MAX {
            return Err(io::Error::other(format!(
                "request {request} has a payload of {size} bytes"
            )));
        }
        if self.bytes.len() < HEADER_BYTES + size {
            return Ok(None);
        }
        let payload = self.bytes[HEADER_BYTES..HEADER_BYTES + size].to_vec();
        self.bytes.drain(..HEADER_BYTES + size);
        Ok(Some(Message { request, needs_reply: header.flags & NEED_REPLY != 0, payload }))
    }

    /// Reads the available bytes; returns whether there were any.
    pub fn read(&mut self) -> io::Result<bool> {
        let mut buffer = [0; HEADER_BYTES + PAYLOAD_MAX];
        let mut parts = [IoSliceMut::new(&mut buffer)];
        let mut space = cmsg_space!([i32; DESCRIPTORS_MAX]);
        let descriptor = self.stream.as_raw_fd();
        let flags = MsgFlags::MSG_CMSG_CLOEXEC | MsgFlags::MSG_DONTWAIT;
        let received = match recvmsg::<()>(descriptor, &mut parts, Some(&mut space), flags) {
            Err(Errno::EAGAIN) => return Ok(false),
            received => received?,
        };
        let count = received.bytes;
        for control in received.cmsgs()? {
            if let ControlMessageOwned::ScmRights(numbers) = control {
                self.descriptors.extend(numbers.into_iter().map(owned));
            }
        }
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }

    /// The next descriptor that came with a message.
    pub fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    /// Answers a request.
    pub fn answer(&mut self, request: u32, payload: &[u8]) -> io::Result<()> {
        self.stream.write_all(&message(request, REPLY, payload))
    }
}

#[expect(unsafe_code, reason = "a descriptor that the kernel has just made for this process")]
fn owned(number: i32) -> OwnedFd {
    // SAFETY: recvmsg made it, and nothing else knows its number.
    unsafe { OwnedFd::from_raw_fd(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_comes_in_parts_is_read_when_it_is_whole() {
        let (mut guest, device) = UnixStream::pair().expect("a pair");
        let mut device = VhostConnection::new(device);
        let bytes = message(35, NEED_REPLY, &[1, 0, 0, 0, 2, 0, 0, 0]);
        for part in bytes.chunks(7) {
            assert!(device.take_message().expect("sound so far").is_none());
            guest.write_all(part).expect("it is open");
            assert!(device.read().expect("it is open"));
        }
        let message = device.take_message().expect("sound").expect("whole");
        assert_eq!(
            (message.request, message.needs_reply, message.u32(0), message.u32(4)),
            (35, true, 1, 2)
        );
        assert_eq!(message.u64(8), 0, "what is missing is zero");
        assert!(!device.read().expect("nothing is no error"));
        drop(guest);
        assert!(!device.read().expect("the end is no error"));
    }

    #[test]
    fn a_message_without_end_is_refused() {
        let (mut guest, device) = UnixStream::pair().expect("a pair");
        let mut device = VhostConnection::new(device);
        guest.write_all(&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]).expect("it is open");
        device.read().expect("it is open");
        assert!(device.take_message().is_err());
    }
}
