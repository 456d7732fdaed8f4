//! Bit rates, and the pace at which a port with its own oscillator puts bytes on a wire.

use crate::Span;

/// Picoseconds per second times bits per byte.
const PS_BITS_PER_BYTE_SECOND: u64 = 8_000_000_000_000;
/// Binary digits after the point in [`Pace`]: 2^-20 ps per byte resolves 0.001 ppm at 10 Gbit/s.
const PACE_FRACTION_BITS: u32 = 20;

/// A bit rate in whole bits per second, from 1 bit/s to 800 Gbit/s and beyond; never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BitRate(u64);

impl BitRate {
    /// A rate of `bps` bits per second; `None` when zero.
    pub const fn from_bps(bps: u64) -> Option<BitRate> {
        if bps == 0 { None } else { Some(BitRate(bps)) }
    }
    /// `n` Gbit/s. `n` must not be zero.
    pub const fn from_gbps(n: u64) -> BitRate {
        assert!(n > 0, "a rate is never zero");
        BitRate(n * 1_000_000_000)
    }
    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }
    /// The pace of a port of this nominal rate whose clock runs `ppb` parts per billion fast
    /// (negative: slow). The range is ±1 000 000 ppb (1000 ppm); IEEE 802.3 allows ±100 ppm.
    pub fn pace(self, ppb: i32) -> Pace {
        let billionths =
            u128::try_from(1_000_000_000_i64 + i64::from(ppb)).expect("ppb is above -1e9");
        let scaled = (u128::from(PS_BITS_PER_BYTE_SECOND) << PACE_FRACTION_BITS) * 1_000_000_000;
        let scaled = scaled.div_ceil(u128::from(self.0) * billionths);
        Pace(u64::try_from(scaled).expect("a rate of at least 1 bit/s fits"))
    }
}

/// Time per byte as a fixed-point number (2^-20 ps). A fast clock has a smaller pace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace(u64);

impl Pace {
    /// How long `bytes` take on the wire, rounded up: a frame never leaves early.
    #[inline]
    pub const fn time_to_send(self, bytes: u64) -> Span {
        let fixed = self.0 as u128 * bytes as u128;
        Span::from_ps(
            (fixed >> PACE_FRACTION_BITS) as u64
                + ((fixed as u64 & ((1 << PACE_FRACTION_BITS) - 1)) != 0) as u64,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ethernet_rate_has_a_whole_number_of_picoseconds_per_byte() {
        for (gbps, ps) in [
            (1, 8000),
            (10, 800),
            (25, 320),
            (40, 200),
            (50, 160),
            (100, 80),
            (200, 40),
            (400, 20),
            (800, 10),
        ] {
            assert_eq!(BitRate::from_gbps(gbps).pace(0).time_to_send(1), Span::from_ps(ps));
            assert_eq!(
                BitRate::from_gbps(gbps).pace(0).time_to_send(1538),
                Span::from_ps(1538 * ps)
            );
        }
    }

    #[test]
    fn a_fast_clock_sends_sooner_and_a_frame_never_leaves_early() {
        let nominal = BitRate::from_gbps(10).pace(0).time_to_send(1_000_000);
        let fast = BitRate::from_gbps(10).pace(100_000).time_to_send(1_000_000).ps();
        let slow = BitRate::from_gbps(10).pace(-100_000).time_to_send(1_000_000).ps();
        assert!((799_920_008..=799_920_009).contains(&fast), "{fast}");
        assert!((800_080_008..=800_080_010).contains(&slow), "{slow}");
        assert_eq!(nominal.ps(), 800_000_000);
        let third = BitRate::from_bps(3_000_000_000).expect("not zero").pace(0);
        assert_eq!(third.time_to_send(1).ps(), 2667); // 2666.67 rounded up
    }
}
