//! The clock of a guest, which the engine owns (include/uapi/linux/um_timetravel.h).
//!
//! A guest waits for the acknowledgement of each message. Two process switches each time would be most of what a trial costs,
//! so acknowledgements are sent ahead where it is certain that the guest sends a message that consumes them (`expect`), and those
//! that a guest can wait for are sent with the next thing that it is told (`defer`).

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
    bytes: [u8; 256],
    from: usize,
    to: usize,
    /// Sequence number of the message that was read last.
    asked: u32,
    /// The last one that was acknowledged, ahead or not.
    answered: u32,
    /// What is to be sent with the next message.
    outgoing: Vec<u8>,
    sent: u32,
}

impl Clock {
    /// A connected socket.
    pub fn new(stream: UnixStream) -> Clock {
        Clock { stream, bytes: [0; 256], from: 0, to: 0, asked: 0, answered: 0, outgoing: Vec::new(), sent: 0 }
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

    /// Answers what was said last, unless that was done ahead.
    pub fn acknowledge(&mut self, time: u64) -> io::Result<()> {
        self.defer(time);
        self.flush()
    }

    /// The same with whatever is sent next.
    pub fn defer(&mut self, time: u64) {
        if self.answered.wrapping_add(1) == self.asked {
            self.expect(time);
        }
    }

    /// Acknowledges the next message ahead, with whatever is sent next.
    pub fn expect(&mut self, time: u64) {
        self.answered = self.answered.wrapping_add(1);
        self.outgoing.extend(message(ACK, self.answered, time));
    }

    /// Lets the guest run from `now` on, and as long as it asks for nothing at or after `until`, with the next `flush`.
    pub fn run(&mut self, now: u64, until: u64) {
        self.own(FREE_UNTIL, until);
        self.own(RUN, now);
    }

    /// Tells a running guest until when it may run.
    pub fn free_until(&mut self, until: u64) -> io::Result<()> {
        self.own(FREE_UNTIL, until);
        self.flush()
    }

    /// Sends what was put off. A guest that has ended is no error here: whoever reads next finds that, and the reason with it.
    pub fn flush(&mut self) -> io::Result<()> {
        let result = self.stream.write_all(&self.outgoing);
        self.outgoing.clear();
        result.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
    }

    fn own(&mut self, op: u32, time: u64) {
        self.sent = self.sent.wrapping_add(1);
        self.outgoing.extend(message(op, self.sent, time));
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
        clock.answered = 40;
        let bytes = [message(2, 41, 5_000), message(3, 42, 0)].concat();
        guest.write_all(&bytes[..20]).expect("it is open");
        assert!(clock.read().expect("it is open"));
        assert_eq!(clock.next().expect("sound"), Some(Said::Request(5_000)));
        clock.acknowledge(0).expect("it is open");
        assert_eq!(clock.next().expect("sound so far"), None);
        guest.write_all(&bytes[20..]).expect("it is open");
        assert!(clock.read().expect("it is open"));
        assert_eq!(clock.next().expect("sound"), Some(Said::Wait));
        clock.defer(0);
        clock.run(5_000, 6_000);
        clock.expect(7);
        clock.flush().expect("it is open");
        let mut answers = [0; 80];
        guest.read_exact(&mut answers).expect("five messages");
        let first = [message(0, 41, 0), message(0, 42, 0), message(7, 1, 6_000), message(6, 2, 5_000)].concat();
        assert_eq!(answers[..], [first, message(0, 43, 7).to_vec()].concat()[..]);
    }

    #[test]
    fn what_was_answered_ahead_is_not_answered_again() {
        let (mut guest, engine) = UnixStream::pair().expect("a pair");
        let mut clock = Clock::new(engine);
        clock.expect(9);
        guest.write_all(&[message(2, 1, 5_000), message(2, 2, 6_000)].concat()).expect("it is open");
        clock.read().expect("it is open");
        for _ in 0..2 {
            clock.next().expect("sound");
            clock.acknowledge(0).expect("it is open");
        }
        let mut answers = [0; 32];
        guest.read_exact(&mut answers).expect("two messages");
        assert_eq!(answers[..], [message(0, 1, 9), message(0, 2, 0)].concat()[..]);
        guest.set_nonblocking(true).expect("it is a socket");
        assert!(guest.read(&mut answers).is_err(), "nothing more was sent");
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
