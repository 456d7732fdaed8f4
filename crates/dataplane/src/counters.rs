//! Counters of queues, traps and dynamic packet prioritisation, and the causes of drops.

use tailrace_units::Time;

/// The cause of a drop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum DropCause {
    /// The queue was at its limit.
    TailDrop,
    /// The shared buffer was full, or the dynamic threshold reached.
    BufferFull,
    /// Random early detection.
    Red,
    /// Controlled delay.
    Codel,
    /// No port leads to the destination.
    NoRoute,
    /// Approximate fair drop.
    Afd,
    /// A policer's rate was exceeded.
    Policed,
    /// A lossy priority group was at its limit.
    IngressFull,
    /// A lossless priority group had no headroom left: a loss that pauses should have prevented.
    HeadroomFull,
    /// The watchdog flushed a queue that was paused for too long.
    Watchdog,
    /// The frame was longer than a port's MTU allows.
    Mtu,
    /// The frame was lost on the line, at random.
    Line,
}

impl DropCause {
    /// Whether it takes the first frame out of a queue. All others refuse a frame that comes.
    pub fn is_of_waiting(self) -> bool {
        matches!(self, DropCause::Codel | DropCause::Watchdog)
    }

    /// All causes, in the order of their numbers.
    pub const ALL: [DropCause; 12] = [
        DropCause::TailDrop,
        DropCause::BufferFull,
        DropCause::Red,
        DropCause::Codel,
        DropCause::NoRoute,
        DropCause::Afd,
        DropCause::Policed,
        DropCause::IngressFull,
        DropCause::HeadroomFull,
        DropCause::Watchdog,
        DropCause::Mtu,
        DropCause::Line,
    ];

    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            DropCause::TailDrop => "tail-drop",
            DropCause::BufferFull => "buffer-full",
            DropCause::Red => "red",
            DropCause::Codel => "codel",
            DropCause::NoRoute => "no-route",
            DropCause::Afd => "afd",
            DropCause::Policed => "policed",
            DropCause::IngressFull => "ingress-full",
            DropCause::HeadroomFull => "headroom-full",
            DropCause::Watchdog => "watchdog",
            DropCause::Mtu => "mtu",
            DropCause::Line => "line",
        }
    }
}

/// Counters of one queue. Those that change with every frame come first, side by side in memory.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct QueueCounters {
    /// Frames whose transmission has started.
    pub tx_frames: u64,
    /// Their bytes, without overhead.
    pub tx_bytes: u64,
    /// Largest queue depth in bytes.
    pub depth_max_bytes: u64,
    /// Frames marked "congestion experienced".
    pub marked_frames: u64,
    /// Sum over frames of bytes times waiting picoseconds, of frames that wait until now and of
    /// those that were dropped after waiting too: divided by the time it is the mean depth
    /// (Little's law).
    pub byte_picoseconds: u128,
    /// The drops.
    pub drops: Drops,
}

/// Frames that were dropped, by cause. Most queues drop nothing in a whole run, and a network has
/// thousands: without drops this is a pointer.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Drops(Option<Box<[Dropped; DropCause::ALL.len()]>>);

/// Drops of one cause.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Dropped {
    /// How many.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Drops {
    /// Drops of this cause.
    pub fn of(&self, cause: DropCause) -> Dropped {
        self.0.as_ref().map_or(Dropped::default(), |drops| drops[cause as usize])
    }
    /// Frames of all causes.
    pub fn frames(&self) -> u64 {
        self.0.iter().flat_map(|drops| drops.iter()).map(|dropped| dropped.frames).sum()
    }

    fn count(&mut self, cause: DropCause, bytes: u32) {
        let dropped = &mut self.0.get_or_insert_default()[cause as usize];
        dropped.frames += 1;
        dropped.bytes += u64::from(bytes);
    }
}

/// Bytes that waited, times how long: their addition to [`QueueCounters::byte_picoseconds`].
#[inline]
pub(crate) fn waited(bytes: u32, from: Time, until: Time) -> u128 {
    u128::from(bytes) * u128::from(until.since(from).ps())
}

impl QueueCounters {
    pub(crate) fn count_drop(&mut self, cause: DropCause, bytes: u32) {
        self.drops.count(cause, bytes);
    }
}

/// Counters of the elephant trap of one port.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct TrapCounters {
    /// Flows that became elephants.
    pub found: u64,
    /// Elephants that lost their entry to another flow.
    pub evictions: u64,
    /// Bytes that arrived at the port, dropped or not.
    pub bytes: u64,
    /// Bytes of frames whose flow was an elephant.
    pub elephant_bytes: u64,
    /// Elephants that were evicted because they sent too little, by how long: element n counts
    /// those with at least 2^n and less than 2^(n+1) age periods from their last arrival to the
    /// next, the last element longer ones too. With an age of 2^(n+1) times as long they would have
    /// stayed.
    pub silences: [u64; SILENCES],
}

/// Elements of [`TrapCounters::silences`]: up to 32 768 age periods, 1.6 s of 50 us.
pub const SILENCES: usize = 16;

/// Counters of dynamic packet prioritisation on one port.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct DppCounters {
    /// Frames sent to the express queue.
    pub prioritised_frames: u64,
    /// Frames sent to their class's own queue.
    pub normal_frames: u64,
    /// Flows that got an entry.
    pub new_flows: u64,
    /// Silent flows that became new again.
    pub resets: u64,
    /// Silent flows that stayed old because their packets still waited (order-safe rule).
    pub deferred_resets: u64,
    /// Silent flows that became new while their packets still waited (naive rule): the next packets
    /// overtake them.
    pub reordering_resets: u64,
    /// Flows that lost their entry to another while they were active.
    pub evictions: u64,
    /// Frames of flows that found no entry.
    pub untracked_frames: u64,
}
