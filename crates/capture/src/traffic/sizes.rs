//! Sizes of frames, exactly.

use serde::Serialize;

/// Longer frames are counted as this long: IPv6 jumbograms and what interfaces join can be longer.
const FRAME_BYTES_MAX: usize = 65_535 + 64;
/// Sizes that results name, the most frequent ones.
const TOP_MAX: usize = 20;
/// Upper ends of the bins of RFC 2819 (`etherStatsPkts*Octets`), which count the check sequence,
/// and one for frames above the standard's limit and one for jumbo frames of 9000 bytes.
const BINS: [u32; 7] = [64, 127, 255, 511, 1_023, 1_518, 9_018];
/// Check sequence, which captures do not have.
const CHECK_BYTES: u32 = 4;

/// How many frames there were of each size.
#[derive(Default)]
pub struct FrameSizes {
    /// By size, up to the largest that there was.
    counts: Vec<u64>,
}

/// A bin of sizes.
#[derive(Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Shortest and longest frame without check sequence; the last bin has no longest.
    from_bytes: u32,
    to_bytes: Option<u32>,
    frames: u64,
    share: f64,
}

/// Results on the sizes of frames.
#[derive(Debug, PartialEq, Serialize)]
pub struct FrameSizesSummary {
    mean_bytes: f64,
    min_bytes: u32,
    p50_bytes: u32,
    p90_bytes: u32,
    p99_bytes: u32,
    max_bytes: u32,
    bins: Vec<Bin>,
    /// The most frequent sizes and how many frames have them.
    top_bytes: Vec<(u32, u64)>,
}

impl FrameSizes {
    /// Counts a frame.
    #[inline]
    pub fn add(&mut self, frame_bytes: u32) {
        let size = (frame_bytes as usize).min(FRAME_BYTES_MAX);
        if size >= self.counts.len() {
            self.counts.resize(size + 1, 0);
        }
        self.counts[size] += 1;
    }

    /// For the results.
    pub fn summary(&self) -> FrameSizesSummary {
        let sizes: Vec<(u32, u64)> = self
            .counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(size, &count)| (size as u32, count))
            .collect();
        let frames: u64 = sizes.iter().map(|one| one.1).sum();
        let bytes: u128 =
            sizes.iter().map(|&(size, count)| u128::from(size) * u128::from(count)).sum();
        let at = |share: f64| {
            let wanted = (share * frames as f64).ceil().max(1.0) as u64;
            let mut seen = 0;
            sizes.iter().find(|one| {
                seen += one.1;
                seen >= wanted
            })
        };
        let mut top = sizes.clone();
        top.sort_by_key(|&(size, count)| (u64::MAX - count, size));
        top.truncate(TOP_MAX);
        FrameSizesSummary {
            mean_bytes: if frames == 0 { 0.0 } else { bytes as f64 / frames as f64 },
            min_bytes: sizes.first().map_or(0, |one| one.0),
            p50_bytes: at(0.5).map_or(0, |one| one.0),
            p90_bytes: at(0.9).map_or(0, |one| one.0),
            p99_bytes: at(0.99).map_or(0, |one| one.0),
            max_bytes: sizes.last().map_or(0, |one| one.0),
            bins: bins(&sizes, frames),
            top_bytes: top,
        }
    }
}

fn bins(sizes: &[(u32, u64)], frames: u64) -> Vec<Bin> {
    let ends = BINS.iter().map(|&end| Some(end - CHECK_BYTES)).chain([None]);
    let mut from_bytes = 0;
    ends.map(|to_bytes| {
        let inside = |size: u32| size >= from_bytes && to_bytes.is_none_or(|to| size <= to);
        let count = sizes.iter().filter(|one| inside(one.0)).map(|one| one.1).sum();
        let share = if frames == 0 { 0.0 } else { count as f64 / frames as f64 };
        let bin = Bin { from_bytes, to_bytes, frames: count, share };
        from_bytes = to_bytes.map_or(u32::MAX, |to| to + 1);
        bin
    })
    .collect()
}
