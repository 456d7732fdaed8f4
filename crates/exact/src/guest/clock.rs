//! The clock of a guest, which the engine owns (include/uapi/linux/um_timetravel.h).

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

const MESSAGE_BYTES: usize = 16;

/// What a message says. Times are in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// The other end has read a message: whether it was the latest.
    Acknowledged(bool),
    /// The guest is there.
    Start,
    /// The guest has something to do then.
    Request(u64),
    /// The guest waits until it is run.
    Wait,
    /// The guest asks for the time.
    Get,
    /// For the guest it is so late.
    Update(u64),
    /// The guest asks for the time of day.
    GetTimeOfDay,
}

/// Operations of the protocol that the engine sends.
const ACK: u32 = 0;
const RUN: u32 = 6;
const FREE_UNTIL: u32 = 7;

/// The socket of a guest's clock.
#[derive(Debug)]
pub struct Clock {
    stream: UnixStream,
    bytes: [u8; 64],
    from: usize,
    to: usize,
    /// Sequence number of the message to be answered.
    asked: u32,
    sent: u32,
}

impl Clock {
    /// A connected socket.
    pub fn new(stream: UnixStream) -> Clock {
        Clock { stream, bytes: [0; 64], from: 0, to: 0, asked: 0, sent: 0 }
    }

    /// The socket, to be waited for.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// A message that has come whole already.
    pub fn next(&mut self) -> io::Result<Option<Said>> {
        let Some(message) = self.bytes[self.from..self.to].first_chunk::<MESSAGE_BYTES>() else { return Ok(None) };
        let op = u32::from_le_bytes(message[..4].try_into().expect("four bytes"));
        let sequence = u32::from_le_bytes(message[4..8].try_into().expect("four bytes"));
        let time = u64::from_le_bytes(message[8..].try_into().expect("eight bytes"));
        self.from += MESSAGE_BYTES;
        let said = match op {
            0 => return Ok(Some(Said::Acknowledged(sequence == self.sent))),
            1 => Said::Start,
            2 => Said::Request(time),
            3 => Said::Wait,
            4 => Said::Get,
            5 => Said::Update(time),
            8 => Said::GetTimeOfDay,
            other => return Err(io::Error::other(format!("the guest's clock does not know operation {other}"))),
        };
        self.asked = sequence;
        Ok(Some(said))
    }

    /// Reads what has come; returns whether the other end is still there.
    pub fn read(&mut self) -> io::Result<bool> {
        self.bytes.copy_within(self.from..self.to, 0);
        (self.from, self.to) = (0, self.to - self.from);
        let count = self.stream.read(&mut self.bytes[self.to..])?;
        self.to += count;
        Ok(count > 0)
    }

    /// Answers what was said last.
    pub fn acknowledge(&mut self, time: u64) -> io::Result<()> {
        let message = message(ACK, self.asked, time);
        self.stream.write_all(&message)
    }

    /// Lets the guest run from `now` on, and as long as it asks for nothing at or after `until`.
    pub fn run(&mut self, now: u64, until: u64) -> io::Result<()> {
        let messages = [self.own(FREE_UNTIL, until), self.own(RUN, now)].concat();
        self.stream.write_all(&messages)
    }

    /// Tells a running guest until when it may run.
    pub fn free_until(&mut self, until: u64) -> io::Result<()> {
        let message = self.own(FREE_UNTIL, until);
        self.stream.write_all(&message)
    }

    fn own(&mut self, op: u32, time: u64) -> [u8; MESSAGE_BYTES] {
        self.sent = self.sent.wrapping_add(1);
        message(op, self.sent, time)
    }
}

fn message(op: u32, sequence: u32, time: u64) -> [u8; MESSAGE_BYTES] {
    let mut bytes = [0; MESSAGE_BYTES];
    bytes[..4].copy_from_slice(&op.to_le_bytes());
    bytes[4..8].copy_from_slice(&sequence.to_le_bytes());
    bytes[8..].copy_from_slice(&time.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_number_of_its_question() {
        let (mut guest, engine) = UnixStream::pair().expect("a pair");
        let mut clock = Clock::new(engine);
        let bytes = [message(2, 41, 5_000), message(3, 42, 0)].concat();
        guest.write_all(&bytes[..20]).expect("it is open");
        assert!(clock.read().expect("it is open"));
        assert_eq!(clock.next().expect("sound"), Some(Said::Request(5_000)));
        clock.acknowledge(0).expect("it is open");
        assert_eq!(clock.next().expect("sound so far"), None);
        guest.write_all(&bytes[20..]).expect("it is open");
        assert!(clock.read().expect("it is open"));
        assert_eq!(clock.next().expect("sound"), Some(Said::Wait));
        clock.acknowledge(0).expect("it is open");
        clock.run(5_000, 6_000).expect("it is open");
        let mut answers = [0; 64];
        guest.read_exact(&mut answers).expect("four messages");
        let expected = [message(0, 41, 0), message(0, 42, 0), message(7, 1, 6_000), message(6, 2, 5_000)].concat();
        assert_eq!(answers[..], expected[..]);
    }

    #[test]
    fn an_unknown_operation_is_refused() {
        let (mut guest, engine) = UnixStream::pair().expect("a pair");
        let mut clock = Clock::new(engine);
        guest.write_all(&message(9, 1, 0)).expect("it is open");
        clock.read().expect("it is open");
        assert!(clock.next().is_err());
    }
}
