//! Generic receive offload: contiguous segments of one socket that are polled together go up the
//! stack as one.
//!
//! As Linux does it: equal acknowledgement, flags (but for PSH, which ends the aggregate) and
//! congestion bits; up to a limit; interleaved flows are merged too. Pure acknowledgements are not
//! merged.

use tailrace_wire::{Flags, Packet};

/// Contiguous segments.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate {
    /// The first segment.
    pub packet: Packet,
    /// Payload of all segments.
    pub payload_bytes: u32,
    /// How many there are.
    pub segments: u16,
    is_closed: bool,
}

/// The aggregates of one poll. The caller keeps one `slot` per socket, zero before the first
/// segment of a poll.
#[derive(Clone, Debug, Default)]
pub struct Gro {
    limit_bytes: u32,
    aggregates: Vec<Aggregate>,
}

impl Gro {
    /// Merges up to `limit_bytes` of payload (Linux: 65 536); 0 never merges.
    pub fn new(limit_bytes: u32) -> Gro {
        Gro { limit_bytes, aggregates: Vec::new() }
    }

    /// Adds a segment in order of arrival.
    #[inline]
    pub fn add(&mut self, packet: &Packet, slot: &mut u32) {
        if *slot != 0 && self.aggregates[*slot as usize - 1].absorbs(packet, self.limit_bytes) {
            return;
        }
        let payload_bytes = u32::from(packet.payload_bytes);
        let is_closed = payload_bytes == 0 || packet.flags.contains(Flags::PSH);
        self.aggregates.push(Aggregate { packet: *packet, payload_bytes, segments: 1, is_closed });
        *slot = self.aggregates.len() as u32;
    }

    /// Adds a packet that is not merged: a datagram.
    #[inline]
    pub fn add_alone(&mut self, packet: &Packet) {
        let payload_bytes = u32::from(packet.payload_bytes);
        self.aggregates.push(Aggregate {
            packet: *packet,
            payload_bytes,
            segments: 1,
            is_closed: true,
        });
    }

    /// The aggregates, oldest first. Call [`Gro::clear`] afterwards, with all slots zero again.
    pub fn aggregates(&self) -> &[Aggregate] {
        &self.aggregates
    }
    /// Forgets the aggregates and keeps the memory.
    pub fn clear(&mut self) {
        self.aggregates.clear();
    }
}

impl Aggregate {
    #[inline]
    fn absorbs(&mut self, next: &Packet, limit_bytes: u32) -> bool {
        let first = &self.packet;
        let bytes = self.payload_bytes + u32::from(next.payload_bytes);
        let fits = !self.is_closed
            && next.payload_bytes > 0
            && next.seq == first.seq + u64::from(self.payload_bytes)
            && next.ack == first.ack
            && next.ecn == first.ecn
            && next.flags.without(Flags::PSH) == first.flags
            && next.sack[0].bytes == 0
            && first.sack[0].bytes == 0
            && bytes <= limit_bytes;
        if fits {
            self.payload_bytes = bytes;
            self.segments += 1;
            self.is_closed = next.flags.contains(Flags::PSH);
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(to_endpoint: u32, seq: u64, flags: Flags) -> Packet {
        Packet {
            to_endpoint,
            seq,
            payload_bytes: 1448,
            flags: flags.with(Flags::ACK),
            ..Packet::default()
        }
    }

    #[test]
    fn interleaved_flows_are_merged_and_gaps_and_pushes_end_an_aggregate() {
        let mut gro = Gro::new(65_536);
        let mut slots = [0; 2];
        for i in 0..3 {
            for socket in [0, 1] {
                gro.add(&segment(socket, i * 1448, Flags::NONE), &mut slots[socket as usize]);
            }
        }
        gro.add(&segment(0, 9 * 1448, Flags::NONE), &mut slots[0]); // a gap
        gro.add(&segment(1, 3 * 1448, Flags::PSH), &mut slots[1]);
        gro.add(&segment(1, 4 * 1448, Flags::NONE), &mut slots[1]); // after a push
        let seen: Vec<_> = gro
            .aggregates()
            .iter()
            .map(|a| (a.packet.to_endpoint, a.segments, a.payload_bytes))
            .collect();
        assert_eq!(seen, [(0, 3, 4344), (1, 4, 5792), (0, 1, 1448), (1, 1, 1448)]);
    }

    #[test]
    fn the_limit_ends_an_aggregate_and_zero_never_merges() {
        for (limit, aggregates) in [(3_000, 2), (0, 4)] {
            let mut gro = Gro::new(limit);
            let mut slot = 0;
            (0..4).for_each(|i| gro.add(&segment(0, i * 1448, Flags::NONE), &mut slot));
            assert_eq!(gro.aggregates().len(), aggregates);
        }
    }
}
