//! What frames of one conversation share, in either direction.

use std::hash::{Hash, Hasher};

/// Addresses, ports and protocol, the same for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Address and port of the lower end.
    pub low: (u128, u16),
    /// Address and port of the higher end.
    pub high: (u128, u16),
    /// Number of the protocol.
    pub protocol: u8,
}

impl Key {
    /// The key of a frame, and its direction: 0 from the lower end, 1 from the higher.
    #[inline]
    pub fn of(source: (u128, u16), destination: (u128, u16), protocol: u8) -> (Key, usize) {
        if source <= destination {
            (Key { low: source, high: destination, protocol }, 0)
        } else {
            (Key { low: destination, high: source, protocol }, 1)
        }
    }

    /// Address and port of the end that sends in this direction.
    pub fn sender(&self, way: usize) -> (u128, u16) {
        if way == 0 { self.low } else { self.high }
    }

    /// Well mixed, and the same on every machine: results do not depend on it.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        let mut hash = Mix(0);
        self.low.0.hash(&mut hash);
        self.high.0.hash(&mut hash);
        hash.write_u64(u64::from(self.low.1) << 32 | u64::from(self.high.1) << 16 | u64::from(self.protocol));
        hash.finish()
    }
}

/// Products of 64 bits folded onto themselves. The multiplier is the golden ratio's fraction, as in Knuth, TAOCP vol. 3 section 6.4.
struct Mix(u64);

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ MULTIPLIER) * u128::from(MULTIPLIER);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.write_u64(number as u64);
        self.write_u64((number >> 64) as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
