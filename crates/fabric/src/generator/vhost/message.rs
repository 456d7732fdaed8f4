//! Messages of vhost-user, as its front end sends them (docs/interop/vhost-user.rst of QEMU).

use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
use std::io::{self, IoSlice, Read};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use tailrace_lab::vhost_user::{self, HEADER_BYTES, Header, REPLY};

/// Of an answer: eight bytes are all that is asked for.
const ANSWER_BYTES: usize = 8;

/// Instead of a file, where the number of a ring stands: the other side polls.
pub(super) const NO_FILE: u64 = 1 << 8;

/// Sends a request.
pub(super) fn say(
    line: &UnixStream,
    request: u32,
    body: &[u8],
    file: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let bytes = vhost_user::message(request, 0, body);
    let numbers: Vec<i32> = file.iter().map(AsRawFd::as_raw_fd).collect();
    let files = if numbers.is_empty() { vec![] } else { vec![ControlMessage::ScmRights(&numbers)] };
    let sent = sendmsg::<()>(
        line.as_raw_fd(),
        &[IoSlice::new(&bytes)],
        &files,
        MsgFlags::MSG_NOSIGNAL,
        None,
    )?;
    if sent == bytes.len() {
        Ok(())
    } else {
        Err(io::Error::other("a message of vhost-user was cut"))
    }
}

/// Sends a request that has a number as its answer.
pub(super) fn ask(line: &mut UnixStream, request: u32) -> io::Result<u64> {
    say(line, request, &[], None)?;
    let mut answer = [0; HEADER_BYTES + ANSWER_BYTES];
    line.read_exact(&mut answer)?;
    let is_answer = Header::parse(&answer).is_some_and(|header| {
        header.request == request
            && header.flags & REPLY != 0
            && header.payload_bytes as usize == ANSWER_BYTES
    });
    let number = u64::from_le_bytes(answer[HEADER_BYTES..].try_into().expect("eight bytes"));
    is_answer
        .then_some(number)
        .ok_or_else(|| io::Error::other("an answer of vhost-user to another request"))
}

/// Numbers as the body of a message.
pub(super) fn body(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use tailrace_lab::vhost_user::request;

    #[test]
    fn a_request_has_its_header_and_an_answer_is_read() {
        let (mut ours, mut theirs) = UnixStream::pair().expect("a pair");
        theirs
            .write_all(&[1, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0])
            .expect("it fits");
        assert_eq!(ask(&mut ours, request::GET_FEATURES).expect("an answer"), 7);
        let mut request = [0; HEADER_BYTES];
        theirs.read_exact(&mut request).expect("a request");
        assert_eq!(request, [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn an_answer_to_something_else_is_an_error() {
        let (mut ours, mut theirs) = UnixStream::pair().expect("a pair");
        theirs
            .write_all(&[9, 0, 0, 0, 5, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0])
            .expect("it fits");
        assert!(ask(&mut ours, request::GET_FEATURES).is_err());
    }
}
