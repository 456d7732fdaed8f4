//! Captures of the frames on the wire of a host, written to a file that Wireshark reads (pcapng,
//! IETF draft-ietf-opsawg-pcapng) with times in nanoseconds. A separate thread writes. In real
//! time, frames that it cannot write in time are counted and omitted.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use tailrace_record::pcapng::{INBOUND, Interface, LINKTYPE_ETHERNET, OUTBOUND, Packet, Section};
use tailrace_units::Time;
use tailrace_wire::Tag;

/// Destination and source, which stand before a tag.
const ADDRESSES_BYTES: usize = 12;
/// The type of a tag (802.1Q clause 9.4).
const ETHERTYPE_VLAN: [u8; 2] = [0x81, 0];
/// Blocks that may wait to be written.
const BLOCKS_MAX: usize = 4_096;

/// All captures, at most one for each host's port.
#[derive(Debug, Default)]
pub struct Captures {
    /// By host.
    running: Vec<Option<Capture>>,
}

/// A capture of one port.
#[derive(Debug)]
pub struct Capture {
    blocks: SyncSender<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
    /// Nanoseconds since 1970 at time zero.
    epoch_ns: u64,
    /// Frames wait for the disk.
    is_complete: bool,
    frames: u64,
    /// Frames that the disk was too slow for.
    missed: u64,
}

impl Capture {
    /// Begins a file for the port of this name.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path, port: &str, epoch_ns: u64) -> io::Result<Capture> {
        let mut file = BufWriter::new(File::create(path)?);
        let interface = Interface {
            name: port,
            description: "",
            speed_bps: None,
            link_type: LINKTYPE_ETHERNET,
            snap_bytes: 0,
        };
        file.write_all(&Section::default().block())?;
        file.write_all(&interface.block())?;
        let (blocks, to_write) = sync_channel(BLOCKS_MAX);
        let thread = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || write_blocks(file, &to_write))?;
        Ok(Capture { blocks, thread, epoch_ns, is_complete: false, frames: 0, missed: 0 })
    }

    /// Every frame is written, however long the disk takes: for engines that are not bound to real
    /// time.
    #[must_use]
    pub fn complete(self) -> Capture {
        Capture { is_complete: true, ..self }
    }

    pub(crate) fn add(&mut self, at: Time, direction: u32, frame: &[u8]) {
        let block = Packet {
            interface: 0,
            at_ns: self.epoch_ns + at.ns(),
            direction: Some(direction),
            frame,
            wire_bytes: frame.len() as u32,
            comment: "",
        }
        .block();
        let is_taken = if self.is_complete {
            self.blocks.send(block).is_ok()
        } else {
            self.blocks.try_send(block).is_ok()
        };
        if is_taken {
            self.frames += 1;
        } else {
            self.missed += 1;
        }
    }

    /// Closes the file. Returns the frames in it, and those that were missed.
    ///
    /// # Errors
    /// When the file is not whole.
    pub fn finish(self) -> Result<(u64, u64), String> {
        drop(self.blocks);
        let written = self.thread.join().map_err(|_| "the writer of the capture has failed")?;
        written
            .map(|()| (self.frames, self.missed))
            .map_err(|error| format!("the capture could not be written: {error}"))
    }
}

impl Captures {
    /// None, for so many hosts.
    pub fn new(hosts: usize) -> Captures {
        Captures { running: (0..hosts).map(|_| None).collect() }
    }

    /// Begins a capture at the port of a host. Returns the one that it replaces.
    pub fn begin(&mut self, host: usize, capture: Capture) -> Option<Capture> {
        self.running[host].replace(capture)
    }

    /// Ends the capture at the port of a host.
    pub fn end(&mut self, host: usize) -> Option<Capture> {
        self.running[host].take()
    }

    /// Whether frames that pass there are captured.
    #[inline]
    pub fn wants(&self, host: usize) -> bool {
        self.running[host].is_some()
    }

    /// A host's frame has been sent whole at `at`.
    pub fn entered(&mut self, host: usize, at: Time, frame: &[u8], tag: Tag) {
        if let Some(capture) = &mut self.running[host] {
            capture.add(at, INBOUND, &on_the_wire(frame, tag));
        }
    }

    /// A frame has reached a host at `at`.
    #[inline]
    pub fn delivered(&mut self, host: usize, at: Time, frame: &[u8], tag: Tag) {
        if let Some(capture) = &mut self.running[host] {
            capture.add(at, OUTBOUND, &on_the_wire(frame, tag));
        }
    }
}

/// A frame with its tag, where that is written on the link.
pub(crate) fn on_the_wire(frame: &[u8], tag: Tag) -> Cow<'_, [u8]> {
    if tag.bytes() == 0 {
        return frame.into();
    }
    let control = u16::from(tag.priority()) << 13 | tag.vlan();
    let (addresses, rest) = frame.split_at(ADDRESSES_BYTES.min(frame.len()));
    [addresses, &ETHERTYPE_VLAN, &control.to_be_bytes(), rest].concat().into()
}

fn write_blocks(mut file: BufWriter<File>, blocks: &Receiver<Vec<u8>>) -> io::Result<()> {
    blocks.iter().try_for_each(|block| file.write_all(&block))?;
    file.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_stands_between_addresses_and_type() {
        let frame = [&[1; 12][..], &[8, 0, 7]].concat();
        assert_eq!(*on_the_wire(&frame, Tag::new(5, 10)), frame);
        let tagged = [&[1; 12][..], &[0x81, 0, 0xA0, 10, 8, 0, 7]].concat();
        assert_eq!(*on_the_wire(&frame, Tag::new(5, 10).written(true)), tagged);
    }
}
