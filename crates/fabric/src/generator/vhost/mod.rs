//! Frames by shared memory: two ports of a switch in user space, which speaks vhost-user. The
//! generator is what a virtual machine would be: it has the memory and the rings, and the switch
//! polls them.

mod message;
mod port;
mod ring;

use super::Wire;
use super::frame::{FRAME_BYTES_MAX, MARKED_BYTES, Template, now_ns};
use super::tally::Tally;
use port::Port;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the switch may take until frames pass: it checks for its sockets once in a second.
const PATH_WAIT: Duration = Duration::from_secs(10);
const PATH_POLL: Duration = Duration::from_millis(5);
/// Number of the trial of frames that only try the path; trials of an order follow it from 1 on.
const TRYING: u16 = 0;

/// Both ends.
#[derive(Debug)]
pub(crate) struct VhostWire {
    sender: Port,
    receiver: Port,
}

impl VhostWire {
    /// The switch connects to these sockets.
    pub(crate) fn open(sender: &Path, receiver: &Path) -> io::Result<VhostWire> {
        let [sender, receiver] = [Port::listen(sender)?, Port::listen(receiver)?];
        let mut wire = VhostWire { sender: sender.accept()?, receiver: receiver.accept()? };
        wire.await_path()?;
        Ok(wire)
    }

    /// Sends a frame from time to time until one arrives.
    fn await_path(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + PATH_WAIT;
        let mut tally = Tally::new(TRYING, u64::from(u16::MAX))?;
        self.prepare(&Template::new(super::frame::FRAME_BYTES_MIN, TRYING));
        let mut number = 0;
        while tally.received == 0 {
            if Instant::now() >= deadline {
                return Err(io::Error::other(format!(
                    "no frame has passed the switch in {} s",
                    PATH_WAIT.as_secs()
                )));
            }
            number += self.send(number, 1)? as u64;
            std::thread::sleep(PATH_POLL);
            self.receive(&mut tally)?;
        }
        Ok(())
    }
}

impl Wire for VhostWire {
    fn prepare(&mut self, template: &Template) {
        assert!(template.bytes().len() <= FRAME_BYTES_MAX as usize, "orders are checked");
        self.sender.prepare(template.bytes());
    }

    fn send(&mut self, first: u64, count: usize) -> io::Result<usize> {
        Ok(self.sender.send(first, count, now_ns()))
    }

    fn receive(&mut self, tally: &mut Tally) -> io::Result<usize> {
        Ok(self.receiver.receive(|bytes: &[u8; MARKED_BYTES], now_ns| tally.take(bytes, now_ns)))
    }

    fn overruns(&mut self) -> io::Result<u64> {
        Ok(0) // a ring without room is the switch's loss: it has polled the ring before
    }
}
