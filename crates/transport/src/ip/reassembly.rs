//! The receiving side: fragments are put together, by the rules of Linux 6.1
//! (`net/ipv4/ip_fragment.c`, `inet_fragment.c`).
//!
//! An incomplete datagram takes memory until its other fragments come or its time is over. Above
//! the threshold every fragment is refused, also one that would complete a datagram: nothing makes
//! room but the clock.

use super::IpCounters;
use super::incomplete::Put;
use super::store::{Key, Store};
use crate::tick::expiry;
use tailrace_units::{Span, Time};
use tailrace_wire::{Fragment, IPV4_HEADER_BYTES, Packet, UDP_HEADER_BYTES};

/// How a host puts datagrams together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReassemblyPolicy {
    /// How long the first fragment waits for the others (Linux `ipfrag_time`, 30 s).
    pub timeout: Span,
    /// Memory above which fragments are refused (Linux `ipfrag_high_thresh`, 4 MiB).
    pub memory_bytes: u64,
    /// A datagram is given up when a fragment of it comes after more than so many others from the
    /// same host (Linux `ipfrag_max_dist`, 64); 0 for never.
    pub distance: u32,
}

impl ReassemblyPolicy {
    /// Linux's.
    pub const LINUX: ReassemblyPolicy =
        ReassemblyPolicy { timeout: Span::from_secs(30), memory_bytes: 4 << 20, distance: 64 };
}

/// The clock tick of a host, with which its timers expire; zero for timers that expire as they are
/// set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticks {
    /// Time between two ticks.
    pub tick: Span,
    /// By how much the ticks are after multiples of `tick`.
    pub phase: Span,
}

/// Linux `sizeof(struct ipq)` on a 64-bit machine (6.1): memory of an incomplete datagram beside
/// its fragments.
const RECORD_BYTES: u64 = 200;
/// `sizeof(struct sk_buff)` and `sizeof(struct skb_shared_info)`, aligned to cache lines (6.1,
/// 64-bit).
const SKB_BYTES: u64 = 256;
const SHARED_INFO_BYTES: u64 = 320;
/// Room for the link's header that the sender of a frame reserves (`LL_RESERVED_SPACE` of Ethernet
/// and 15 bytes of alignment).
const RESERVE_BYTES: u64 = 31;

/// Memory of a received fragment of this many bytes, with its IP header: its `truesize`. Linux
/// takes memory in powers of two: 2304 bytes for one of 1500, 16 640 for one of 9000. Interfaces
/// that receive into pages differ by some hundred bytes.
fn memory_bytes(ip_bytes: u64) -> u64 {
    (ip_bytes + RESERVE_BYTES + SHARED_INFO_BYTES).next_power_of_two() + SKB_BYTES
}

/// The datagrams of a host that are not complete.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    policy: ReassemblyPolicy,
    clock: Ticks,
    memory: u64,
    memory_max: u64,
    store: Store,
    /// Fragments that have come, by source (Linux `inet_peer.rid`).
    arrived: Vec<(u16, u32)>,
    pub(super) counted: IpCounters,
    /// The latest fragment was refused: there was no memory.
    pub(super) has_refused: bool,
}

impl Reassembly {
    pub(super) fn new(policy: ReassemblyPolicy, clock: Ticks) -> Reassembly {
        Reassembly {
            policy,
            clock,
            memory: 0,
            memory_max: 0,
            store: Store::default(),
            arrived: Vec::new(),
            counted: IpCounters::default(),
            has_refused: false,
        }
    }

    /// A fragment has come. Returns the packet of its datagram if that is complete.
    pub(super) fn put(&mut self, now: Time, packet: &Packet) -> Option<Packet> {
        let fragment = Fragment::of(packet)?;
        self.expire(now);
        self.counted.reasm_reqds += 1;
        self.has_refused = self.memory > self.policy.memory_bytes;
        if self.has_refused {
            self.counted.reasm_fails += 1;
            return None;
        }
        let slot = self.slot_of(now, Key { source: fragment.source, id: fragment.id });
        self.keep_near(now, slot, fragment.source);
        match self.store.get(slot).put(&fragment, packet.ecn) {
            Put::Duplicate => None,
            Put::Waits => {
                let bytes = memory_bytes(u64::from(fragment.bytes + IPV4_HEADER_BYTES));
                self.store.get(slot).memory += bytes;
                self.take(bytes);
                None
            }
            Put::Broken => {
                self.counted.reasm_fails += 1;
                self.forget(slot);
                None
            }
            Put::Complete => {
                self.counted.reasm_oks += 1;
                let whole = self.whole(slot, &fragment, packet);
                self.forget(slot);
                Some(whole)
            }
        }
    }

    /// The incomplete datagram of a fragment, a new one if need be.
    fn slot_of(&mut self, now: Time, key: Key) -> u32 {
        self.store.find(key).unwrap_or_else(|| {
            self.take(RECORD_BYTES);
            self.store.add(key, self.due(now))
        })
    }

    /// Gives up a datagram that has waited while too many fragments have come from its source: most
    /// likely the source uses the same identification again (Linux `ip_frag_too_far`,
    /// `ip_frag_reinit`).
    fn keep_near(&mut self, now: Time, slot: u32, source: u16) {
        if self.policy.distance == 0 {
            return;
        }
        let known = self.arrived.binary_search_by_key(&source, |&(host, _)| host);
        let index = known.unwrap_or_else(|index| {
            self.arrived.insert(index, (source, 0));
            index
        });
        let arrived = &mut self.arrived[index].1;
        *arrived = arrived.wrapping_add(1);
        let (arrived, own) = (*arrived, self.store.get(slot));
        let distance = arrived.wrapping_sub(std::mem::replace(&mut own.arrived, arrived));
        if own.holds_any() && distance > self.policy.distance {
            self.memory -= std::mem::take(&mut own.memory);
            own.clear();
            self.counted.reasm_fails += 1;
            let due = self.due(now);
            self.store.put_off(slot, due);
        }
    }

    /// The deadline of a datagram whose first fragment comes now. A timer of 30 s is as fine as 2 s
    /// on a kernel with ticks of 4 ms, so that memory is freed for many fragments at once.
    fn due(&self, now: Time) -> Time {
        let due = now + self.policy.timeout;
        let Ticks { tick, phase } = self.clock;
        if tick == Span::ZERO { due } else { expiry(now, due, tick, phase) }
    }

    fn take(&mut self, bytes: u64) {
        self.memory += bytes;
        self.memory_max = self.memory_max.max(self.memory);
    }

    fn whole(&mut self, slot: u32, fragment: &Fragment, packet: &Packet) -> Packet {
        let own = self.store.get(slot);
        let payload_bytes = (own.bytes() - UDP_HEADER_BYTES) as u16;
        Packet { payload_bytes, frame_bytes: 0, ecn: own.ecn(), ..fragment.undo(packet) }
    }

    fn forget(&mut self, slot: u32) {
        self.memory -= self.store.get(slot).memory + RECORD_BYTES;
        self.store.remove(slot);
    }

    /// Gives up whatever has waited for too long by `now`.
    pub(super) fn expire(&mut self, now: Time) {
        while let Some(slot) = self.store.first_due(now) {
            self.counted.reasm_timeout += 1;
            self.counted.reasm_fails += 1;
            self.forget(slot);
        }
    }

    /// Bytes of memory that incomplete datagrams take, and the most that they took.
    pub(super) fn memory(&self) -> (u64, u64) {
        (self.memory, self.memory_max)
    }

    /// Counts from now on.
    pub(super) fn begin_counting(&mut self) {
        self.counted = IpCounters::default();
        self.memory_max = self.memory;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_takes_the_memory_that_linux_charges() {
        assert_eq!([820, 1_500, 9_000].map(memory_bytes), [2_304, 2_304, 16_640]);
    }
}
