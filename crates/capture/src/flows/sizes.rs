//! Mice and elephants: how many flows there are of which size, and which share of all bytes they
//! carry. A flow is one direction of a conversation.

use crate::distribution::{Distribution, Summary};
use crate::flows::{Key, Way};
use serde::Serialize;

/// Classes by powers of ten: below 1 kB, 10 kB, and so on; the last has no upper limit.
const CLASSES: usize = 8;
const FIRST_CLASS_BYTES: u64 = 1_000;
/// The largest flows that are named.
const LARGEST_MAX: usize = 20;
/// Flows of fewer frames have no rate.
const RATE_FRAMES_MIN: u64 = 2;
const NS_PER_S: u128 = 1_000_000_000;

/// Sizes, durations and rates of flows.
#[derive(Default)]
pub struct FlowSizes {
    classes: [(u64, u64); CLASSES],
    bytes: Distribution,
    frames: Distribution,
    duration: Distribution,
    rate: Distribution,
    largest: Vec<Largest>,
}

/// One of the largest flows.
#[derive(Clone, Copy, Debug)]
pub struct Largest {
    /// Its conversation.
    pub key: Key,
    /// Its direction.
    pub way: usize,
    /// Length of its frames.
    pub frame_bytes: u64,
    /// Frames.
    pub frames: u64,
    /// From the first to the last frame.
    pub duration_ns: u64,
}

/// Flows of one class of sizes.
#[derive(Debug, PartialEq, Serialize)]
pub struct SizeClass {
    /// Flows have fewer bytes; none in the last class.
    pub below_bytes: Option<u64>,
    /// How many flows.
    pub flow_count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Share of all flows.
    pub share_of_flows: f64,
    /// Share of all bytes.
    pub share_of_bytes: f64,
}

/// Results on the sizes of flows.
#[derive(Debug, PartialEq, Serialize)]
pub struct FlowSizesSummary {
    classes: Vec<SizeClass>,
    size_bytes: Summary,
    size_frames: Summary,
    duration_ns: Summary,
    rate_bps: Summary,
}

impl FlowSizes {
    /// Counts a flow that is over.
    pub fn add(&mut self, key: &Key, way: usize, of: &Way) {
        if of.frames == 0 {
            return;
        }
        let class =
            (0..CLASSES - 1).find(|&class| of.frame_bytes < limit(class)).unwrap_or(CLASSES - 1);
        self.classes[class].0 += 1;
        self.classes[class].1 += of.frame_bytes;
        self.bytes.add(of.frame_bytes);
        self.frames.add(of.frames);
        let duration_ns = of.last_ns - of.first_ns;
        self.duration.add(duration_ns);
        if of.frames >= RATE_FRAMES_MIN && duration_ns > 0 {
            let rate = u128::from(of.frame_bytes) * 8 * NS_PER_S / u128::from(duration_ns);
            self.rate.add(rate.min(u128::from(u64::MAX)) as u64);
        }
        self.keep(Largest {
            key: *key,
            way,
            frame_bytes: of.frame_bytes,
            frames: of.frames,
            duration_ns,
        });
    }

    fn keep(&mut self, one: Largest) {
        let rank = |one: &Largest| {
            (
                u64::MAX - one.frame_bytes,
                one.key.sender(one.way),
                one.key.sender(1 - one.way),
                one.key.protocol,
            )
        };
        let at = self.largest.partition_point(|held| rank(held) <= rank(&one));
        if at < LARGEST_MAX {
            self.largest.truncate(LARGEST_MAX - 1);
            self.largest.insert(at, one);
        }
    }

    /// The largest flows, the largest first.
    pub fn largest(&self) -> &[Largest] {
        &self.largest
    }

    /// For the results.
    pub fn summary(&self) -> FlowSizesSummary {
        let total =
            self.classes.iter().fold((0, 0), |sum, class| (sum.0 + class.0, sum.1 + class.1));
        let share =
            |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        let classes = self.classes.iter().enumerate().map(|(class, &(flows, bytes))| SizeClass {
            below_bytes: (class < CLASSES - 1).then(|| limit(class)),
            flow_count: flows,
            bytes,
            share_of_flows: share(flows, total.0),
            share_of_bytes: share(bytes, total.1),
        });
        FlowSizesSummary {
            classes: classes.collect(),
            size_bytes: self.bytes.summary(),
            size_frames: self.frames.summary(),
            duration_ns: self.duration.summary(),
            rate_bps: self.rate.summary(),
        }
    }
}

fn limit(class: usize) -> u64 {
    FIRST_CLASS_BYTES * 10_u64.pow(class as u32)
}
