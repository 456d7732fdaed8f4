//! Ingress accounting: the buffer use of each ingress port by priority group, and the pauses of
//! senders.
//!
//! A lossless group counts its bytes; above XOFF the port sends a pause, and frames that still
//! arrive use the group's headroom; at XON or below it sends a resume. Bytes beyond the headroom
//! are dropped, and counted separately: a sufficient headroom (see [`headroom_bytes`]) is never
//! full.

use crate::DropCause;
use crate::admit::{Limit, SharedPool};
use tailrace_units::{Pace, Span, Time};
use tailrace_wire::{PRIORITIES, Pause, QUANTA_MAX, QUANTUM_BYTES, quanta_time};

/// Speed of light in copper and glass, metres per second (SONiC buffer_headroom_mellanox.lua).
const CABLE_SPEED: u64 = 198_000_000;

/// Pauses are not renewed more often than once in the time of so many bytes: the frames of eight
/// groups (84 bytes each with their overhead) then take at most half of the line, however short the
/// pauses are.
pub const REFRESH_WIRE_BYTES_MIN: u64 = 2 * 8 * 84;

/// A group of priorities of one ingress port.
#[derive(Clone, Copy, Debug)]
pub struct GroupPolicy {
    /// Its priorities, a bit each.
    pub priorities: u8,
    /// Guaranteed bytes.
    pub reserved_bytes: u64,
    /// Its limit in the shared buffer.
    pub limit: Limit,
    /// Pauses the sender instead of dropping.
    pub lossless: Option<Lossless>,
}

/// Thresholds of a lossless group, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Lossless {
    /// Distance below the limit at which transmission resumes.
    pub xon_offset_bytes: u64,
    /// Buffer for frames that arrive after a pause was sent.
    pub headroom_bytes: u64,
}

/// Pausing by one port.
#[derive(Clone, Copy, Debug)]
pub struct PausePolicy {
    /// Sends 802.3x frames instead of 802.1Qbb frames.
    pub is_link_pause: bool,
    /// Quanta of each pause frame.
    pub quanta: u16,
}

impl Default for PausePolicy {
    fn default() -> PausePolicy {
        PausePolicy { is_link_pause: false, quanta: QUANTA_MAX }
    }
}

/// Where an admitted frame is accounted: its ingress port and group, to be given back when it
/// leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Account {
    pub(crate) port: u16,
    pub(crate) group: u8,
}

/// Counters of one group.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct GroupCounters {
    /// Pauses sent (XOFF, without refreshes).
    pub xoff_sent: u64,
    /// Resumes sent (XON).
    pub xon_sent: u64,
    /// Bytes that the group holds now, besides its headroom.
    pub depth_bytes: u64,
    /// Largest number of bytes that the group held.
    pub bytes_max: u64,
    /// Largest number of bytes in the headroom.
    pub headroom_max_bytes: u64,
    /// Frames dropped because the headroom was full, or because a lossy group was at its limit.
    pub drop_frames: u64,
}

#[derive(Clone, Debug)]
struct Group {
    policy: GroupPolicy,
    /// Bytes in the reserved and shared parts.
    bytes: u64,
    /// Bytes in the headroom.
    headroom: u64,
    /// When the sender's pause must be renewed; `None` while it may send.
    refresh_at: Option<Time>,
    counters: GroupCounters,
}

/// The ingress side of one port.
#[derive(Clone, Debug)]
pub(crate) struct IngressPort {
    groups: Vec<Group>,
    group_of: [u8; PRIORITIES],
    pausing: PausePolicy,
    /// The pause must be renewed before it ends: half of its length before.
    refresh: Span,
}

/// A pause frame to be sent from a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PauseOrder {
    pub(crate) at: Time,
    pub(crate) pause: Pause,
}

impl IngressPort {
    /// `groups` must cover every priority.
    pub(crate) fn new(groups: Vec<GroupPolicy>, pausing: PausePolicy, pace: Pace) -> IngressPort {
        let of =
            |priority: usize| groups.iter().position(|group| group.priorities >> priority & 1 == 1);
        let group_of =
            std::array::from_fn(|priority| of(priority).expect("every priority has a group") as u8);
        let refresh = quanta_time(pace, pausing.quanta)
            .part(2)
            .max(pace.time_to_send(REFRESH_WIRE_BYTES_MIN));
        let group = |policy| Group {
            policy,
            bytes: 0,
            headroom: 0,
            refresh_at: None,
            counters: GroupCounters::default(),
        };
        IngressPort { groups: groups.into_iter().map(group).collect(), group_of, pausing, refresh }
    }

    /// Counts from here on.
    pub(crate) fn begin_counting(&mut self) {
        for group in &mut self.groups {
            let (bytes_max, headroom_max_bytes) = (group.bytes, group.headroom);
            group.counters =
                GroupCounters { bytes_max, headroom_max_bytes, ..GroupCounters::default() };
        }
    }

    pub(crate) fn counters(&self) -> impl Iterator<Item = (u8, GroupCounters)> {
        let now = |group: &Group| GroupCounters { depth_bytes: group.bytes, ..group.counters };
        self.groups.iter().map(move |group| (group.policy.priorities, now(group)))
    }

    /// The group of a priority, if its sender is paused.
    pub(crate) fn pausing_group(&self, priority: u8) -> Option<u8> {
        let index = self.group_of[usize::from(priority) % PRIORITIES];
        self.groups[usize::from(index)].refresh_at.map(|_| index)
    }

    /// Whether a frame may enter, and which group it is accounted to. `shared_free` are the free
    /// bytes of the shared buffer.
    pub(crate) fn admit(
        &mut self,
        priority: u8,
        bytes: u32,
        shared_free: u64,
    ) -> Result<u8, DropCause> {
        let index = self.group_of[usize::from(priority) % PRIORITIES];
        let group = &mut self.groups[usize::from(index)];
        let is_plain = group.policy.lossless.is_none() || group.headroom == 0;
        if is_plain && group.fits(bytes, shared_free) || group.fits_headroom(bytes) {
            return Ok(index);
        }
        group.counters.drop_frames += 1;
        Err(if group.policy.lossless.is_some() {
            DropCause::HeadroomFull
        } else {
            DropCause::IngressFull
        })
    }

    /// The frame has entered; orders a pause when it is the first one with the group at its
    /// threshold.
    pub(crate) fn take(
        &mut self,
        now: Time,
        group: u8,
        bytes: u32,
        pool: &mut SharedPool,
    ) -> Option<Pause> {
        let shared_free = pool.free_bytes();
        let (pausing, refresh) = (self.pausing, self.refresh);
        let group = &mut self.groups[usize::from(group)];
        if group.policy.lossless.is_none() || group.fits_plainly(bytes, shared_free) {
            let after = group.bytes + u64::from(bytes);
            pool.moved(group.policy.reserved_bytes, group.bytes, after);
            group.bytes = after;
            group.counters.bytes_max = group.counters.bytes_max.max(after);
            return None;
        }
        group.headroom += u64::from(bytes);
        let counters = &mut group.counters;
        counters.headroom_max_bytes = counters.headroom_max_bytes.max(group.headroom);
        if group.refresh_at.is_some() {
            return None;
        }
        group.refresh_at = Some(now + refresh);
        counters.xoff_sent += 1;
        Some(Pause::new(group.policy.priorities, pausing.quanta, pausing.is_link_pause))
    }

    /// A frame has left, first from the headroom; orders a resume when the group is far enough
    /// below its threshold.
    pub(crate) fn give_back(
        &mut self,
        group: u8,
        bytes: u32,
        pool: &mut SharedPool,
    ) -> Option<Pause> {
        let is_link_pause = self.pausing.is_link_pause;
        let group = &mut self.groups[usize::from(group)];
        let from_headroom = group.headroom.min(u64::from(bytes));
        group.headroom -= from_headroom;
        let after = group
            .bytes
            .checked_sub(u64::from(bytes) - from_headroom)
            .expect("only what was taken is given back");
        pool.moved(group.policy.reserved_bytes, group.bytes, after);
        group.bytes = after;
        let shared_free = pool.free_bytes();
        let lossless = group.policy.lossless?;
        group.refresh_at?;
        let is_low = group.bytes + lossless.xon_offset_bytes <= group.threshold(shared_free)
            || group.bytes == 0;
        if group.headroom > 0 || !is_low {
            return None;
        }
        group.refresh_at = None;
        group.counters.xon_sent += 1;
        Some(Pause::new(group.policy.priorities, 0, is_link_pause))
    }

    /// When the next pause must be renewed.
    pub(crate) fn next_refresh(&self) -> Time {
        self.groups.iter().filter_map(|group| group.refresh_at).min().unwrap_or(Time::NEVER)
    }

    /// Renews the pauses that are due at `now`.
    pub(crate) fn refresh(&mut self, now: Time) -> Option<Pause> {
        let (pausing, refresh) = (self.pausing, self.refresh);
        let mut classes = 0;
        for group in &mut self.groups {
            if group.refresh_at.is_some_and(|due| due <= now) {
                group.refresh_at = Some(now + refresh);
                classes |= group.policy.priorities;
            }
        }
        (classes != 0).then(|| Pause::new(classes, pausing.quanta, pausing.is_link_pause))
    }
}

impl Group {
    /// Below the threshold, and nothing stands in the headroom that would be overtaken in the
    /// accounts.
    fn fits_plainly(&self, bytes: u32, shared_free: u64) -> bool {
        self.headroom == 0 && self.fits(bytes, shared_free)
    }

    fn fits(&self, bytes: u32, shared_free: u64) -> bool {
        let reserved = self.policy.reserved_bytes;
        let after = self.bytes + u64::from(bytes);
        let from_shared = after.saturating_sub(reserved) - self.bytes.saturating_sub(reserved);
        after <= self.threshold(shared_free) && from_shared <= shared_free
    }

    fn fits_headroom(&self, bytes: u32) -> bool {
        self.policy
            .lossless
            .is_some_and(|lossless| self.headroom + u64::from(bytes) <= lossless.headroom_bytes)
    }

    fn threshold(&self, shared_free: u64) -> u64 {
        let shared = match self.policy.limit {
            Limit::Bytes(bytes) => bytes,
            Limit::Frames(_) => u64::MAX, // groups count bytes; the plan refuses frames
            Limit::Alpha(milli) => shared_free.saturating_mul(u64::from(milli)) / 1000,
        };
        self.policy.reserved_bytes + shared
    }
}

/// Headroom of a lossless group: the bytes that can still arrive after a pause was sent.
///
/// The peer may be in the middle of a frame of the port's MTU, the pause frame waits for ours, the
/// cable holds bytes in both directions, and the peer takes `response_quanta` to act (802.3 annex
/// 31B.3.7: 67 at 10 Gbit/s). In addition one frame of the lossless class that was just beginning.
/// Follows the headroom computation of SONiC (buffer_headroom_mellanox.lua) without its cell
/// rounding.
pub fn headroom_bytes(
    rate_bps: u64,
    cable_metres: u64,
    port_mtu: u64,
    lossless_mtu: u64,
    response_quanta: u64,
) -> u64 {
    let on_cable = (2 * u128::from(cable_metres) * u128::from(rate_bps))
        .div_ceil(8 * u128::from(CABLE_SPEED)) as u64;
    lossless_mtu + 2 * port_mtu + on_cable + response_quanta * QUANTUM_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailrace_units::BitRate;

    fn lossless(limit: u64) -> IngressPort {
        let group = |priorities, lossless| GroupPolicy {
            priorities,
            reserved_bytes: 0,
            limit: Limit::Bytes(limit),
            lossless,
        };
        let thresholds = Lossless { xon_offset_bytes: 2_000, headroom_bytes: 3_000 };
        let groups = vec![group(0b0000_1000, Some(thresholds)), group(0b1111_0111, None)];
        IngressPort::new(groups, PausePolicy::default(), BitRate::from_gbps(10).pace(0))
    }

    #[test]
    fn a_lossless_group_pauses_above_xoff_and_resumes_at_xon() {
        let (mut port, mut pool) = (lossless(10_000), SharedPool::new(1 << 20));
        let mut sent = Vec::new();
        for n in 0..11_u64 {
            let group = port.admit(3, 1_000, 1 << 20).expect("there is room");
            sent.push(
                port.take(Time::from_ps(n), group, 1_000, &mut pool).map(|pause| pause.quanta[3]),
            );
        }
        assert_eq!(sent.iter().flatten().collect::<Vec<_>>(), [&QUANTA_MAX]);
        assert!(sent[10].is_some(), "the eleventh is the first above 10 000");
        let resumed: Vec<_> = (0..4)
            .map(|_| port.give_back(0, 1_000, &mut pool).map(|pause| pause.quanta[3]))
            .collect();
        // the headroom is empty and 8 000 left: 2 000 below
        assert_eq!(resumed, [None, None, Some(0), None]);
        assert_eq!(port.next_refresh(), Time::NEVER);
    }

    #[test]
    fn the_headroom_takes_what_follows_and_then_drops() {
        let (mut port, mut pool) = (lossless(10_000), SharedPool::new(1 << 20));
        for _ in 0..13 {
            let group = port.admit(3, 1_000, 1 << 20).expect("10 000 and 3 000 of headroom");
            port.take(Time::ZERO, group, 1_000, &mut pool);
        }
        assert_eq!(port.admit(3, 1_000, 1 << 20), Err(DropCause::HeadroomFull));
        assert_eq!(port.admit(0, 1_000, 1 << 20), Ok(1));
    }

    #[test]
    fn a_pause_is_renewed_before_it_ends() {
        let (mut port, mut pool) = (lossless(500), SharedPool::new(1 << 20));
        let group = port.admit(3, 1_000, 1 << 20).expect("headroom");
        port.take(Time::ZERO, group, 1_000, &mut pool).expect("a pause");
        let due = port.next_refresh();
        assert_eq!(due.ps(), 65_535 * 64 * 800 / 2);
        assert_eq!(port.refresh(due).map(|pause| pause.classes), Some(0b1000));
        assert!(port.next_refresh() > due);
    }

    #[test]
    fn headroom_grows_with_the_cable() {
        // 10 Gbit/s, 300 m: 3 788 bytes on the cable, 67 quanta of response.
        assert_eq!(
            headroom_bytes(10_000_000_000, 300, 9_216, 1_024, 67),
            1_024 + 2 * 9_216 + 3_788 + 67 * 64
        );
    }
}
