//! Ports of fragmented packets: only the first fragment has them, and the others belong to the same
//! flow.

use crate::decode::{Fragment, Ip};

/// Packets whose ports are remembered. An earlier packet in the same slot is forgotten.
const SLOTS: usize = 4_096;

type Packet = (u128, u128, u32, u8);

/// Counts fragments and remembers ports.
#[derive(Default)]
pub struct Fragments {
    /// Empty before the first fragment.
    known: Vec<Option<(Packet, (u16, u16))>>,
    /// Fragments of all kinds.
    pub frames: u64,
    /// Their length on the link.
    pub frame_bytes: u64,
    /// First fragments, one for each packet in fragments.
    pub packets: u64,
    /// Later fragments whose first one was not seen before.
    pub orphans: u64,
}

impl Fragments {
    /// Counts a fragment of a packet, and gives the ports of the packet if they are known; `ports`
    /// are those that it has itself.
    pub fn ports(
        &mut self,
        ip: &Ip,
        frame_bytes: u32,
        ports: Option<(u16, u16)>,
    ) -> Option<(u16, u16)> {
        let packet = (ip.source, ip.destination, ip.identification, ip.protocol);
        if self.known.is_empty() {
            self.known = vec![None; SLOTS];
        }
        let slot = &mut self.known[slot_of(&packet)];
        self.frames += 1;
        self.frame_bytes += u64::from(frame_bytes);
        if ip.fragment == Fragment::First {
            self.packets += 1;
            *slot = ports.map(|ports| (packet, ports));
            return ports;
        }
        let known = slot.filter(|(of, _)| *of == packet).map(|(_, ports)| ports);
        self.orphans += u64::from(known.is_none());
        known
    }
}

fn slot_of(&(source, destination, identification, protocol): &Packet) -> usize {
    let ends = source.wrapping_mul(31).wrapping_add(destination);
    let folded = (ends ^ ends >> 64) as u64;
    ((folded ^ folded >> 32) as usize)
        .wrapping_add(identification as usize)
        .wrapping_add(usize::from(protocol))
        % SLOTS
}
