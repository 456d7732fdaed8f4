//! The busiest interval of any host in one direction: a lower bound of the speed of its link.
//!
//! Both directions of a link have its whole speed, so that their sum says nothing about it. A frame
//! counts when it was seen; the largest one may have been sent mostly before its interval, which is
//! why its length stands beside the sum.

use serde::Serialize;
use std::collections::HashMap;

/// Widths of intervals.
const WIDTHS_NS: [u64; 2] = [100_000, 1_000_000];
/// Hosts that are counted apart; frames of further ones are left out, and the bound stays one.
const HOSTS_MAX: usize = 1 << 16;
/// A host beyond the limit.
const NONE: u32 = u32::MAX;

/// Intervals of all hosts, sent and received apart.
pub struct Hosts {
    indices: HashMap<u128, u32>,
    /// Of host and direction: the open interval of each width.
    open: Vec<[[Open; WIDTHS_NS.len()]; 2]>,
    busiest: [u64; WIDTHS_NS.len()],
    largest_frame_bytes: u64,
}

#[derive(Clone, Copy, Default)]
struct Open {
    number: u64,
    line_bytes: u64,
}

/// The busiest interval of one width.
#[derive(Debug, PartialEq, Serialize)]
pub struct BusiestSummary {
    width_ns: u64,
    /// Bytes on the line, of one host in one direction.
    line_bytes: u64,
    /// The largest frame of any host on the line.
    largest_frame_bytes: u64,
}

impl Default for Hosts {
    fn default() -> Hosts {
        Hosts {
            indices: HashMap::new(),
            open: Vec::new(),
            busiest: [0; WIDTHS_NS.len()],
            largest_frame_bytes: 0,
        }
    }
}

impl Hosts {
    /// The number of a host.
    pub fn index(&mut self, address: u128) -> u32 {
        if let Some(&index) = self.indices.get(&address) {
            return index;
        }
        if self.open.len() == HOSTS_MAX {
            return NONE;
        }
        let index = self.open.len() as u32;
        self.indices.insert(address, index);
        self.open.push(Default::default());
        index
    }

    /// Counts a frame of this length on the line from one host to another.
    #[inline]
    pub fn add(&mut self, sender: u32, receiver: u32, now_ns: u64, line_bytes: u32) {
        let line_bytes = u64::from(line_bytes);
        self.largest_frame_bytes = self.largest_frame_bytes.max(line_bytes);
        for (host, direction) in [(sender, 0), (receiver, 1)] {
            let Some(of) = self.open.get_mut(host as usize) else { continue };
            for (at, open) in of[direction].iter_mut().enumerate() {
                let number = now_ns / WIDTHS_NS[at];
                if number != open.number {
                    *open = Open { number, line_bytes: 0 };
                }
                open.line_bytes += line_bytes;
                self.busiest[at] = self.busiest[at].max(open.line_bytes);
            }
        }
    }

    /// For the results.
    pub fn summary(&self) -> Vec<BusiestSummary> {
        let of = |(&width_ns, &line_bytes)| BusiestSummary {
            width_ns,
            line_bytes,
            largest_frame_bytes: self.largest_frame_bytes,
        };
        WIDTHS_NS.iter().zip(&self.busiest).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_of_a_link_are_counted_apart() {
        let mut hosts = Hosts::default();
        let [a, b, c] = [1, 2, 3].map(|address| hosts.index(address));
        hosts.add(a, b, 10, 1_000);
        hosts.add(b, a, 20, 1_500);
        hosts.add(c, b, 99_999, 200);
        hosts.add(c, b, 100_000, 900);
        let found: Vec<u64> = hosts.summary().iter().map(|one| one.line_bytes).collect();
        // In the first 100 us b sends 1500 and receives 1200; in the millisecond it receives 2100.
        assert_eq!(found, [1_500, 2_100]);
        assert_eq!(hosts.summary()[0].largest_frame_bytes, 1_500);
    }

    #[test]
    fn hosts_beyond_the_limit_are_left_out() {
        let mut hosts = Hosts::default();
        let last = (0..=HOSTS_MAX as u128).map(|address| hosts.index(address)).last();
        assert_eq!(last, Some(NONE));
        hosts.add(NONE, 0, 0, 700);
        assert_eq!(hosts.summary()[0].line_bytes, 700);
    }
}
