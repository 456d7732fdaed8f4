//! Digest of a run: equal for two runs only if the same events happened at the same times.

use tailrace_units::{Time, mix64};

/// A sum over events of a hash of each: the order in which an engine reports events does not
/// matter, only the events and their times. A lazy engine, an eager engine and a replay therefore
/// agree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest {
    sum: u64,
    events: u64,
}

impl Digest {
    /// Adds one event: when, where (which port or host, and what kind) and the fingerprint of the
    /// frame.
    #[inline]
    pub fn add(&mut self, at: Time, place: u64, fingerprint: u64) {
        self.sum =
            self.sum.wrapping_add(mix64(at.ps() ^ place.rotate_left(48) ^ mix64(fingerprint)));
        self.events += 1;
    }

    /// Adds all events of another one.
    pub fn absorb(&mut self, other: &Digest) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.events += other.events;
    }

    /// How many events were added.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The digest as 16 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:016x}", mix64(self.sum ^ self.events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_does_not_matter_but_time_location_and_frame_do() {
        let event = |a: u64, b: u64, c: u64| (Time::from_ps(a), b, c);
        let digest = |events: &[(Time, u64, u64)]| {
            let mut digest = Digest::default();
            events.iter().for_each(|&(at, place, frame)| digest.add(at, place, frame));
            digest.hex()
        };
        let base = digest(&[event(1, 2, 3), event(4, 5, 6)]);
        assert_eq!(base, digest(&[event(4, 5, 6), event(1, 2, 3)]));
        for other in [
            [event(1, 2, 3), event(4, 5, 7)],
            [event(1, 2, 3), event(4, 6, 6)],
            [event(1, 2, 3), event(5, 5, 6)],
        ] {
            assert_ne!(base, digest(&other));
        }
    }
}
