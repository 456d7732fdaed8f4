//! Classes of frames: code points, congestion marks, VLANs and priorities.

use super::Count;
use crate::decode::{Ip, Tag};
use serde::Serialize;

const DSCPS: usize = 64;
const VLANS: usize = 4_096;
const PRIORITIES: usize = 8;

/// Frames of each class.
pub struct Classes {
    dscp: [Count; DSCPS],
    ecn: [Count; 4],
    vlan: Vec<Count>,
    priority: [Count; PRIORITIES],
    untagged: Count,
    double_tagged: Count,
}

/// Results on classes; those without frames are left out.
#[derive(Debug, PartialEq, Serialize)]
pub struct ClassesSummary {
    dscp: Vec<ClassCount>,
    ecn: EcnSummary,
    /// By the outer tag.
    vlan: Vec<ClassCount>,
    priority: Vec<ClassCount>,
    untagged: Count,
    double_tagged: Count,
}

/// Frames of one class.
#[derive(Debug, PartialEq, Serialize)]
pub struct ClassCount {
    value: u16,
    #[serde(flatten)]
    count: Count,
}

/// Packets by congestion notification (RFC 3168 section 5).
#[derive(Debug, PartialEq, Serialize)]
pub struct EcnSummary {
    not_capable: Count,
    ect0: Count,
    ect1: Count,
    congestion_experienced: Count,
}

impl Default for Classes {
    fn default() -> Classes {
        let none = Count::default();
        Classes {
            dscp: [none; DSCPS],
            ecn: [none; 4],
            vlan: vec![none; VLANS],
            priority: [none; PRIORITIES],
            untagged: none,
            double_tagged: none,
        }
    }
}

impl Classes {
    /// Counts a frame by its tags.
    #[inline]
    pub fn tags(&mut self, tags: &[Option<Tag>; 2], frame_bytes: u32) {
        match tags[0] {
            None => self.untagged.add(frame_bytes),
            Some(tag) => {
                self.vlan[usize::from(tag.vlan) % VLANS].add(frame_bytes);
                self.priority[usize::from(tag.priority) % PRIORITIES].add(frame_bytes);
            }
        }
        if tags[1].is_some() {
            self.double_tagged.add(frame_bytes);
        }
    }

    /// Counts a frame by its packet.
    #[inline]
    pub fn ip(&mut self, ip: &Ip, frame_bytes: u32) {
        self.dscp[usize::from(ip.dscp) % DSCPS].add(frame_bytes);
        self.ecn[usize::from(ip.ecn) % 4].add(frame_bytes);
    }

    /// For the results.
    pub fn summary(&self) -> ClassesSummary {
        let [not_capable, ect1, ect0, congestion_experienced] = self.ecn;
        ClassesSummary {
            dscp: used(&self.dscp),
            ecn: EcnSummary { not_capable, ect0, ect1, congestion_experienced },
            vlan: used(&self.vlan),
            priority: used(&self.priority),
            untagged: self.untagged,
            double_tagged: self.double_tagged,
        }
    }
}

fn used(counts: &[Count]) -> Vec<ClassCount> {
    let used = counts.iter().enumerate().filter(|(_, count)| count.frames > 0);
    used.map(|(value, &count)| ClassCount { value: value as u16, count }).collect()
}
