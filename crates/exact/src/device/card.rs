//! The interface itself: two rings in the memory of its guest.

use super::{HEADER_BYTES, Header};
use std::io::{Read, Write};
use virtio_queue::{Queue, QueueOwnedT, QueueT};
use vm_memory::GuestMemoryMmap;

/// Entries of a ring: as in User-Mode Linux (MAX_SUPPORTED_QUEUE_SIZE).
pub const RING_ENTRIES: u16 = 256;
/// Numbers of the rings.
pub const RECEIVE: usize = 0;
/// Of frames to be sent.
pub const TRANSMIT: usize = 1;
/// Largest row of segments that a driver hands over, with its headers.
const ROW_BYTES_MAX: usize = 66_000;

/// Features that an interface offers to its driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Features {
    /// Rows of TCP segments (and, for them, checksums).
    pub segmentation: bool,
    /// Interrupts and kicks by position in the ring.
    pub event_index: bool,
}

impl Default for Features {
    fn default() -> Features {
        Features { segmentation: true, event_index: true }
    }
}

/// A frame, or a row of segments, that a driver has handed over.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its slot in the ring, given back when it is sent.
    pub slot: u16,
    /// The driver's header of it.
    pub header: Header,
}

/// The two rings. Without a driver there are none, and nothing is received.
#[derive(Debug)]
pub struct Card {
    /// The memory of the guest.
    pub(super) memory: Option<GuestMemoryMmap>,
    /// Receive, transmit.
    pub(super) rings: [Queue; 2],
}

impl Default for Card {
    fn default() -> Card {
        let ring = || Queue::new(RING_ENTRIES).expect("a power of two");
        Card { memory: None, rings: [ring(), ring()] }
    }
}

impl Card {
    /// The next frame that the driver has handed over, with its bytes: those in the ring before
    /// `end`.
    pub fn take(&mut self, end: u16, bytes: &mut Vec<u8>) -> Result<Option<Sent>, String> {
        let (Some(memory), ring) = (&self.memory, &mut self.rings[TRANSMIT]) else {
            return Ok(None);
        };
        if !ring.ready() || ring.next_avail() == end {
            return Ok(None);
        }
        let Some(chain) = ring.pop_descriptor_chain(memory) else { return Ok(None) };
        let slot = chain.head_index();
        let mut reader =
            chain.reader(memory).map_err(|error| format!("a frame in the ring: {error}"))?;
        let mut header = [0; HEADER_BYTES];
        reader
            .read_exact(&mut header)
            .map_err(|error| format!("the header of a frame: {error}"))?;
        bytes.resize(reader.available_bytes().min(ROW_BYTES_MAX), 0);
        reader.read_exact(bytes).map_err(|error| format!("the bytes of a frame: {error}"))?;
        Ok(Some(Sent { slot, header: Header::read(&header) }))
    }

    /// Frames were sent: their slots are the driver's again. Returns whether it wants to be
    /// notified.
    pub fn give_back(&mut self, slots: impl Iterator<Item = u16>) -> Result<bool, String> {
        let (Some(memory), ring) = (&self.memory, &mut self.rings[TRANSMIT]) else {
            return Ok(false);
        };
        for slot in slots {
            ring.add_used(memory, slot, 0)
                .map_err(|error| format!("the ring of sent frames: {error}"))?;
        }
        ring.needs_notification(memory).map_err(|error| format!("the ring of sent frames: {error}"))
    }

    /// Hands a frame to the driver; returns whether there was room.
    pub fn receive(&mut self, frame: &[u8]) -> Result<bool, String> {
        let (Some(memory), ring) = (&self.memory, &mut self.rings[RECEIVE]) else {
            return Ok(false);
        };
        if !ring.ready() {
            return Ok(false);
        }
        let fault = |error: &dyn std::fmt::Display| format!("the ring of received frames: {error}");
        let mut chains = Vec::new();
        let mut room = 0;
        while room < frame.len() + HEADER_BYTES {
            let Some(chain) = ring.pop_descriptor_chain(memory) else {
                (0..chains.len()).for_each(|_| ring.go_to_previous_position());
                return Ok(false);
            };
            let writer = chain.clone().writer(memory).map_err(|error| fault(&error))?;
            room += writer.available_bytes();
            chains.push((chain.head_index(), writer));
        }
        let header = Header::of_received(chains.len() as u16);
        let mut rest = frame;
        for (number, (slot, writer)) in chains.iter_mut().enumerate() {
            let before = if number == 0 { HEADER_BYTES } else { 0 };
            writer.write_all(&header[..before]).map_err(|error| fault(&error))?;
            let (now, later) = rest.split_at(rest.len().min(writer.available_bytes()));
            writer.write_all(now).map_err(|error| fault(&error))?;
            rest = later;
            ring.add_used(memory, *slot, (before + now.len()) as u32)
                .map_err(|error| fault(&error))?;
        }
        Ok(true)
    }

    /// Whether the driver wants to be notified of frames that it was handed.
    pub fn wants_interrupt(&mut self) -> Result<bool, String> {
        let (Some(memory), ring) = (&self.memory, &mut self.rings[RECEIVE]) else {
            return Ok(false);
        };
        ring.needs_notification(memory)
            .map_err(|error| format!("the ring of received frames: {error}"))
    }

    /// Asks the driver for a notification when it has made more room for frames than there is. It
    /// sends one when it fills the slot that it was given, which is thus the one behind the last
    /// that it has filled.
    pub fn await_room(&mut self) -> Result<(), String> {
        let (Some(memory), ring) = (&self.memory, &mut self.rings[RECEIVE]) else { return Ok(()) };
        let mut slots = 0;
        while ring.pop_descriptor_chain(memory).is_some() {
            slots += 1;
        }
        let asked = ring.enable_notification(memory);
        (0..slots).for_each(|_| ring.go_to_previous_position());
        asked.map(drop).map_err(|error| format!("the ring of received frames: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use virtio_queue::desc::RawDescriptor;
    use virtio_queue::desc::split::Descriptor;
    use virtio_queue::mock::MockSplitQueue;
    use vm_memory::{Bytes, GuestAddress};

    const BUFFER_BYTES: u32 = 112;
    const BUFFERS_AT: u64 = 0x1_0000;
    /// VRING_DESC_F_WRITE: the device writes into it.
    const WRITE: u16 = 2;

    /// A card whose driver has made room for frames in so many buffers of 112 bytes; and the ring
    /// of used buffers: how many, and of each how much was written.
    fn card(buffers: u16) -> (Card, impl Fn() -> Vec<u32>) {
        let memory: GuestMemoryMmap =
            GuestMemoryMmap::from_ranges(&[(GuestAddress(0), 0x2_0000)]).expect("there is memory");
        let driver = MockSplitQueue::new(&memory, 16);
        let at = |number: u16| BUFFERS_AT + u64::from(number) * u64::from(BUFFER_BYTES);
        let room: Vec<RawDescriptor> = (0..buffers)
            .map(|number| RawDescriptor::from(Descriptor::new(at(number), BUFFER_BYTES, WRITE, 0)))
            .collect();
        driver.add_desc_chains(&room, 0).expect("they fit");
        let ring = driver.create_queue::<Queue>().expect("a ring");
        let used = driver.used_addr();
        let written = {
            let memory = memory.clone();
            move || {
                let count: u16 = memory.read_obj(GuestAddress(used.0 + 2)).expect("it is there");
                let of = |number: u16| {
                    memory
                        .read_obj(GuestAddress(used.0 + 8 + 8 * u64::from(number)))
                        .expect("it is there")
                };
                (0..count).map(of).collect()
            }
        };
        let mut card = Card { memory: Some(memory), ..Card::default() };
        card.rings[RECEIVE] = ring;
        (card, written)
    }

    #[test]
    fn a_frame_takes_as_many_buffers_as_it_needs_and_says_so_in_the_first() {
        let (mut card, written) = card(4);
        let frame: Vec<u8> = (0..250).map(|n| n as u8).collect();
        assert_eq!(card.receive(&frame), Ok(true));
        assert_eq!(written(), [112, 112, 38], "with a header of 12 bytes");
        let mut bytes = vec![0; 262];
        card.memory
            .as_ref()
            .expect("it has some")
            .read_slice(&mut bytes, GuestAddress(BUFFERS_AT))
            .expect("it is there");
        assert_eq!(bytes[..HEADER_BYTES], Header::of_received(3));
        assert_eq!(bytes[HEADER_BYTES..], frame);
    }

    #[test]
    fn a_frame_without_room_takes_no_buffers() {
        let (mut card, written) = card(2);
        for _ in 0..3 {
            assert_eq!(card.receive(&[0; 250]), Ok(false));
        }
        assert_eq!(card.receive(&[0; 200]), Ok(true));
        assert_eq!(written(), [112, 100]);
    }
}
