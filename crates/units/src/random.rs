//! Random streams addressed by name: a new stream leaves the draws of all others unchanged.

/// 2^64 divided by the golden ratio: the SplitMix64 increment (Steele, Lea, Flood, OOPSLA 2014).
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The SplitMix64 finaliser: a bijection of 64 bits that spreads every input bit over the whole
/// output.
#[inline]
pub const fn mix64(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A stream of random numbers that belongs to one address, such as `leaf1/spine2/queue/red`
/// (xoshiro256++ by Blackman and Vigna, seeded with SplitMix64 from the run's seed and the
/// address).
#[derive(Clone, Debug)]
pub struct RandomStream {
    state: [u64; 4],
}

impl RandomStream {
    /// The stream at `address` in the run with this `seed`. The same pair always gives the same
    /// numbers.
    pub fn new(seed: u64, address: &str) -> RandomStream {
        let mut hash = mix64(seed.wrapping_add(GOLDEN));
        for byte in address.bytes() {
            hash = mix64(hash ^ u64::from(byte)).wrapping_add(GOLDEN);
        }
        let mut state = [0; 4];
        for word in &mut state {
            hash = hash.wrapping_add(GOLDEN);
            *word = mix64(hash);
        }
        RandomStream { state }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A whole number from 0 to `bound - 1`, every one equally likely to within 2^-64. `bound` must
    /// not be zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether something of this probability happens.
    #[inline]
    pub fn happens(&mut self, p: Probability) -> bool {
        p.0 != 0 && (p.0 == u64::MAX || self.bits() < p.0)
    }

    /// A number above 0 and at most 1, with 53 random bits: safe to take the logarithm of.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }
}

/// A probability from 0 to 1 as a 64-bit fraction, so that deciding needs no floating point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Probability(u64);

impl Probability {
    /// Never happens.
    pub const ZERO: Probability = Probability(0);
    /// Always happens.
    pub const ONE: Probability = Probability(u64::MAX);

    /// `numerator / denominator`, clamped to 0..=1. The denominator must not be zero.
    pub const fn ratio(numerator: u64, denominator: u64) -> Probability {
        assert!(denominator > 0, "a probability has a denominator");
        if numerator >= denominator {
            return Probability::ONE;
        }
        Probability((((numerator as u128) << 64) / denominator as u128) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_address_draws_the_same_numbers_and_another_address_others() {
        let mut first = RandomStream::new(7, "leaf1/port3/wred");
        let mut again = RandomStream::new(7, "leaf1/port3/wred");
        let mut other = RandomStream::new(7, "leaf1/port4/wred");
        let drawn: Vec<u64> = (0..8).map(|_| first.bits()).collect();
        assert_eq!(drawn, (0..8).map(|_| again.bits()).collect::<Vec<_>>());
        assert_ne!(drawn, (0..8).map(|_| other.bits()).collect::<Vec<_>>());
    }

    #[test]
    fn a_probability_of_one_third_happens_one_time_in_three() {
        let mut stream = RandomStream::new(1, "test");
        let hits = (0..300_000).filter(|_| stream.happens(Probability::ratio(1, 3))).count();
        assert!((99_000..101_000).contains(&hits), "{hits}");
        assert!(!stream.happens(Probability::ZERO));
        assert!(stream.happens(Probability::ONE));
    }
}
