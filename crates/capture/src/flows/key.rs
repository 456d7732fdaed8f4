//! The key that frames of one conversation share, in either direction.

/// Addresses, ports and protocol, the same for both directions. Addresses are in halves: there are
/// a million keys, and whole ones would be aligned to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Upper and lower half of the address of the lower end, then of the higher end.
    halves: [u64; 4],
    ports: [u16; 2],
    /// Number of the protocol.
    pub protocol: u8,
}

impl Key {
    /// The key of a frame, and its direction: 0 from the lower end, 1 from the higher.
    #[inline]
    pub fn of(source: (u128, u16), destination: (u128, u16), protocol: u8) -> (Key, usize) {
        let (low, high, way) =
            if source <= destination { (source, destination, 0) } else { (destination, source, 1) };
        let halves = [(low.0 >> 64) as u64, low.0 as u64, (high.0 >> 64) as u64, high.0 as u64];
        (Key { halves, ports: [low.1, high.1], protocol }, way)
    }

    /// Address and port of the end that sends in this direction.
    #[inline]
    pub fn sender(&self, way: usize) -> (u128, u16) {
        (
            u128::from(self.halves[2 * way]) << 64 | u128::from(self.halves[2 * way + 1]),
            self.ports[way],
        )
    }

    /// Ports of the lower and the higher end.
    #[inline]
    pub fn ports(&self) -> [u16; 2] {
        self.ports
    }

    /// Well mixed, and the same on every machine: results do not depend on it.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        let mut hash = Mix(0);
        self.halves.iter().for_each(|&half| hash.add(half));
        hash.add(
            u64::from(self.ports[0]) << 32
                | u64::from(self.ports[1]) << 16
                | u64::from(self.protocol),
        );
        hash.0 ^ hash.0 >> 32
    }
}

/// Products of 64 bits folded onto themselves. The multiplier is the golden ratio's fraction, as in
/// Knuth, TAOCP vol. 3 section 6.4.
struct Mix(u64);

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl Mix {
    #[inline]
    fn add(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ MULTIPLIER) * u128::from(MULTIPLIER);
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }
}
