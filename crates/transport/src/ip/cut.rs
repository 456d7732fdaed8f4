//! The sending side: datagrams above the MTU are cut into fragments (RFC 791; Linux
//! `ip_do_fragment`).

use super::IpCounters;
use crate::transmit::Transmit;
use tailrace_wire::{
    FlowKey, Fragment, IPV4_HEADER_BYTES, Packet, UDP_HEADER_BYTES, address_of, fragment_bytes,
};

/// Headers of IP and UDP.
const HEADERS_BYTES: u32 = IPV4_HEADER_BYTES + UDP_HEADER_BYTES;

/// The identification of the next datagram that is cut, by destination. Linux counts them for
/// addresses and protocol (`__ip_select_ident`), and adds a random number of up to the ticks since
/// the last one, which is left out here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identifications(Vec<(u16, u16)>);

impl Identifications {
    /// The next one for this host. They begin again after 65 536.
    fn take(&mut self, destination: u16) -> u16 {
        let known = self.0.binary_search_by_key(&destination, |&(host, _)| host);
        let index = known.unwrap_or_else(|index| {
            self.0.insert(index, (destination, 0));
            index
        });
        let next = &mut self.0[index].1;
        let id = *next;
        *next = next.wrapping_add(1);
        id
    }
}

/// The packets of a host, below its transports.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    mtu_bytes: u32,
    host: u16,
    ids: Identifications,
    pub(super) counted: IpCounters,
}

impl Sender {
    pub(super) fn new(mtu_bytes: u32, host: u16) -> Sender {
        Sender { mtu_bytes, host, ids: Identifications::default(), counted: IpCounters::default() }
    }

    /// Sends a datagram of a socket, whole if it fits the MTU. `header_bytes` are those of link, IP
    /// and UDP. Returns how many packets were handed to the interface.
    #[inline]
    pub(crate) fn send(
        &mut self,
        packet: Packet,
        header_bytes: u32,
        down: &mut impl Transmit,
    ) -> u32 {
        if u32::from(packet.payload_bytes) + HEADERS_BYTES <= self.mtu_bytes {
            down.send(packet);
            return 1;
        }
        self.send_fragments(&packet, header_bytes, down)
    }

    /// A fragment that does not fit the queue of the interface ends the datagram: Linux frees the
    /// fragments behind it.
    #[cold]
    #[inline(never)]
    fn send_fragments(
        &mut self,
        whole: &Packet,
        header_bytes: u32,
        down: &mut impl Transmit,
    ) -> u32 {
        let (id, total) =
            (self.ids.take(whole.to_host), u32::from(whole.payload_bytes) + UDP_HEADER_BYTES);
        let each = fragment_bytes(self.mtu_bytes);
        let flow_hash = portless_hash(self.host, whole);
        for (sent, offset) in (0..).zip((0..total).step_by(each as usize)) {
            let bytes = each.min(total - offset);
            let fragment = Fragment {
                source: self.host,
                id,
                offset,
                bytes,
                more: offset + bytes < total,
                datagram_hash: whole.flow_hash,
            };
            let mut packet = Packet {
                flow_hash,
                frame_bytes: (header_bytes - UDP_HEADER_BYTES + bytes) as u16,
                payload_bytes: (if fragment.is_first() { bytes - UDP_HEADER_BYTES } else { bytes })
                    as u16,
                ..*whole
            };
            fragment.write(&mut packet);
            if down.send(packet).is_none() {
                self.counted.frag_fails += 1;
                return sent;
            }
            self.counted.frag_creates += 1;
        }
        self.counted.frag_oks += 1;
        total.div_ceil(each)
    }
}

/// The hash of all fragments between two hosts. It is never that of the datagram's own flow: a
/// socket knows its datagrams by it.
fn portless_hash(from: u16, packet: &Packet) -> u32 {
    let hash =
        FlowKey::fragments_between(address_of(from.into()), address_of(packet.to_host.into()))
            .hash();
    if hash == packet.flow_hash { !hash } else { hash }
}
