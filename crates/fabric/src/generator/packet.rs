//! Frames by packet sockets, in the network namespaces of two hosts.

use super::frame::{MARKED_BYTES, Template, mark, now_ns};
use super::tally::Tally;
use super::{BATCH, Wire};
use crate::sys::bpf;
use crate::sys::packet::{PacketReceiver, PacketSender};
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Name of the interface in every host.
const INTERFACE: &str = "eth0";

/// Both ends.
#[derive(Debug)]
pub(crate) struct PacketWire {
    sender: PacketSender,
    receiver: PacketReceiver,
    /// Keeps arriving frames from the receiving host's own stack, which would answer; none where
    /// the kernel cannot.
    _silence: Option<OwnedFd>,
    frames: [Vec<u8>; BATCH],
}

impl PacketWire {
    /// The calling thread is in the namespace of the host that sends, and ends in that of the
    /// other. `is_direct`: past the queue of the interface.
    pub(crate) fn open(receiver: &Path, is_direct: bool) -> io::Result<PacketWire> {
        let sender = PacketSender::open(nix::net::if_::if_nametoindex(INTERFACE)?, is_direct)?;
        setns(File::open(receiver)?, CloneFlags::CLONE_NEWNET)?;
        let interface = nix::net::if_::if_nametoindex(INTERFACE)?;
        let receiver = PacketReceiver::open(interface, MARKED_BYTES as u32)?;
        let silence = bpf::drop_arrivals(interface).ok();
        Ok(PacketWire {
            sender,
            receiver,
            _silence: silence,
            frames: std::array::from_fn(|_| Vec::new()),
        })
    }
}

impl Wire for PacketWire {
    fn prepare(&mut self, template: &Template) {
        self.frames = std::array::from_fn(|_| template.bytes().to_vec());
    }

    fn send(&mut self, first: u64, count: usize) -> io::Result<usize> {
        let now = now_ns();
        for (frame, number) in self.frames.iter_mut().zip(first..).take(count) {
            mark(frame, number, now);
        }
        let (sent, was_refused) = self.sender.send(&self.frames, count)?;
        // A frame that the interface has lost was offered to the switch, whose input it did not
        // fit.
        Ok(sent + usize::from(was_refused))
    }

    fn receive(&mut self, tally: &mut Tally) -> io::Result<usize> {
        Ok(self.receiver.receive(|bytes, arrived_ns| tally.take(bytes, arrived_ns)))
    }

    fn overruns(&mut self) -> io::Result<u64> {
        self.receiver.overruns()
    }
}
