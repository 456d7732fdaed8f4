//! The agreement of a driver and its device before the first frame.

use super::card::{Card, Features, RECEIVE, RING_ENTRIES, TRANSMIT};
use super::{Message, VhostConnection};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use tailrace_lab::vhost_user::{VERSION_1, request};
use virtio_queue::QueueT;
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap, GuestRegionMmap, MmapRegion};

/// Bits of a network device's features (Virtio 1.1, 5.1.3 and 6; vhost-user's own).
const CSUM: u64 = 1 << 0;
const GUEST_CSUM: u64 = 1 << 1;
const MTU: u64 = 1 << 3;
const MAC: u64 = 1 << 5;
const HOST_TSO4: u64 = 1 << 11;
const HOST_ECN: u64 = 1 << 13;
const MRG_RXBUF: u64 = 1 << 15;
const STATUS: u64 = 1 << 16;
const INDIRECT_DESC: u64 = 1 << 28;
const EVENT_IDX: u64 = 1 << 29;
const PROTOCOL_FEATURES: u64 = 1 << 30;
/// Acknowledgements, a channel of the device's own, a configuration space, and no events for rings:
/// kicks and interrupts are in the page of the clock, which they cannot outrun.
const PROTOCOL: u64 = 1 << 3 | 1 << 5 | 1 << 9 | 1 << 14;
/// Configuration space: address, status (link up), pairs of rings, MTU.
const CONFIGURATION_BYTES: usize = 12;
const LINK_UP: u16 = 1;

/// The result of a message.
#[derive(Debug)]
pub enum Answer {
    /// It was answered.
    Done,
    /// The device's own channel to its guest.
    Channel(OwnedFd),
}

/// The device's side of the agreement.
#[derive(Clone, Debug)]
pub struct Negotiation {
    features: u64,
    configuration: [u8; CONFIGURATION_BYTES],
    has_event_index: bool,
}

impl Negotiation {
    /// An interface with this address and MTU.
    pub fn new(mac: [u8; 6], mtu_bytes: u32, offered: Features) -> Negotiation {
        let mut features = GUEST_CSUM
            | MTU
            | MAC
            | MRG_RXBUF
            | STATUS
            | INDIRECT_DESC
            | PROTOCOL_FEATURES
            | VERSION_1;
        if offered.segmentation {
            features |= CSUM | HOST_TSO4 | HOST_ECN;
        }
        if offered.event_index {
            features |= EVENT_IDX;
        }
        let mut configuration = [0; CONFIGURATION_BYTES];
        configuration[..6].copy_from_slice(&mac);
        configuration[6..8].copy_from_slice(&LINK_UP.to_le_bytes());
        configuration[8..10].copy_from_slice(&1_u16.to_le_bytes());
        configuration[10..].copy_from_slice(&(mtu_bytes as u16).to_le_bytes());
        Negotiation { features, configuration, has_event_index: false }
    }

    /// Carries out a message.
    pub fn handle(
        &mut self,
        message: &Message,
        connection: &mut VhostConnection,
        card: &mut Card,
    ) -> io::Result<Answer> {
        let number = message.request;
        let mut answer = Answer::Done;
        match number {
            request::GET_FEATURES => {
                return reply(connection, number, &self.features.to_le_bytes());
            }
            request::GET_PROTOCOL_FEATURES => {
                return reply(connection, number, &PROTOCOL.to_le_bytes());
            }
            request::GET_CONFIG => return reply(connection, number, &self.configured(message)),
            request::SET_FEATURES => self.has_event_index = message.u64(0) & EVENT_IDX != 0,
            request::SET_SLAVE_REQ_FD => answer = Answer::Channel(descriptor(connection)?),
            request::SET_MEM_TABLE => card.memory = Some(memory(message, connection)?),
            request::SET_VRING_NUM
            | request::SET_VRING_ADDR
            | request::SET_VRING_BASE
            | request::SET_VRING_ENABLE => {
                self.set_ring(message, card)?;
            }
            request::SET_OWNER | request::SET_PROTOCOL_FEATURES | request::SET_CONFIG => {}
            other => {
                return Err(io::Error::other(format!("the device does not know request {other}")));
            }
        }
        if message.needs_reply {
            connection.answer(number, &0_u64.to_le_bytes())?;
        }
        Ok(answer)
    }

    /// A part of the configuration space, with the header of the question.
    fn configured(&self, message: &Message) -> Vec<u8> {
        let mut answer = message.payload.clone();
        let (offset, size) = (message.u32(0) as usize, message.u32(4) as usize);
        for (at, byte) in self.configuration.iter().enumerate().skip(offset).take(size) {
            if let Some(place) = answer.get_mut(12 + at) {
                *place = *byte;
            }
        }
        answer
    }

    fn set_ring(&self, message: &Message, card: &mut Card) -> io::Result<()> {
        let index = message.u32(0) as usize;
        let Some(ring) = card.rings.get_mut(index) else {
            return Err(io::Error::other(format!(
                "the device has rings {RECEIVE} and {TRANSMIT}, and not {index}"
            )));
        };
        let halves = |address: u64| (Some(address as u32), Some((address >> 32) as u32));
        match message.request {
            request::SET_VRING_NUM => {
                ring.set_size(message.u32(4).min(u32::from(RING_ENTRIES)) as u16)
            }
            request::SET_VRING_ADDR => {
                let [desc, used, avail] = [8, 16, 24].map(|at| halves(message.u64(at)));
                ring.set_desc_table_address(desc.0, desc.1);
                ring.set_used_ring_address(used.0, used.1);
                ring.set_avail_ring_address(avail.0, avail.1);
            }
            request::SET_VRING_BASE => {
                ring.set_next_avail(message.u32(4) as u16);
                ring.set_next_used(message.u32(4) as u16);
            }
            _ => {
                ring.set_event_idx(self.has_event_index);
                ring.set_ready(message.u32(4) != 0);
            }
        }
        Ok(())
    }
}

fn reply(connection: &mut VhostConnection, number: u32, payload: &[u8]) -> io::Result<Answer> {
    connection.answer(number, payload)?;
    Ok(Answer::Done)
}

fn descriptor(connection: &mut VhostConnection) -> io::Result<OwnedFd> {
    connection
        .take_descriptor()
        .ok_or_else(|| io::Error::other("a message came without its descriptor"))
}

/// The memory of a guest, which is a file: regions of four words, the first after the number of
/// them.
fn memory(message: &Message, connection: &mut VhostConnection) -> io::Result<GuestMemoryMmap> {
    let mut regions = Vec::new();
    for number in 0..message.u32(0) as usize {
        let [address, size, _, offset] = [0, 8, 16, 24].map(|at| message.u64(8 + 32 * number + at));
        let file = FileOffset::new(File::from(descriptor(connection)?), offset);
        let mapped = MmapRegion::from_file(file, size as usize).map_err(io::Error::other)?;
        let region = GuestRegionMmap::new(mapped, GuestAddress(address));
        regions.push(
            region.ok_or_else(|| io::Error::other("a region of memory ends beyond 64 bits"))?,
        );
    }
    GuestMemoryMmap::from_regions(regions).map_err(io::Error::other)
}
