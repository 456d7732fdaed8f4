//! Anonymous addresses that reveal only which of them share a prefix.
//!
//! The construction is Crypto-PAn's (Xu, Fan, Ammar and Moon, "Prefix-preserving IP address
//! anonymization", ICNP 2002): each bit is flipped or not by a pseudo-random function of the bits
//! before it. The function is SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012).

/// An IPv4 address as an IPv6 one: only its last 32 bits are changed.
const MAPPED: u128 = 0xFFFF;

/// A secret of 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u64, u64);

impl Key {
    /// A key from 32 hexadecimal digits; none otherwise.
    pub fn parse(text: &str) -> Option<Key> {
        let is_hex = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let key = is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten()?;
        Some(Key((key >> 64) as u64, key as u64))
    }

    /// The address that stands for this one: always the same, and of two addresses those share
    /// exactly as many leading bits as these do.
    pub fn anonymous(&self, address: u128) -> u128 {
        let first = if address >> 32 == MAPPED { 96 } else { 0 };
        let mut flips = 0;
        for bit in first..u128::BITS {
            // The bits before this one, and how many they are.
            let prefix =
                if bit == 0 { 0 } else { address >> (u128::BITS - bit) << (u128::BITS - bit) };
            flips = flips << 1
                | u128::from(self.sip([prefix as u64, (prefix >> 64) as u64, u64::from(bit)]) & 1);
        }
        address ^ flips
    }

    /// SipHash-2-4 of 24 bytes.
    fn sip(&self, words: [u64; 3]) -> u64 {
        let length = (words.len() as u64 * 8) << 56;
        let Key(k1, k0) = *self;
        let mut v = [
            k0 ^ 0x736f_6d65_7073_6575,
            k1 ^ 0x646f_7261_6e64_6f6d,
            k0 ^ 0x6c79_6765_6e65_7261,
            k1 ^ 0x7465_6462_7974_6573,
        ];
        for word in words.into_iter().chain([length]) {
            v[3] ^= word;
            rounds(&mut v, 2);
            v[0] ^= word;
        }
        v[2] ^= 0xFF;
        rounds(&mut v, 4);
        v[0] ^ v[1] ^ v[2] ^ v[3]
    }
}

fn rounds(v: &mut [u64; 4], count: usize) {
    for _ in 0..count {
        v[0] = v[0].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].wrapping_add(v[3]);
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].wrapping_add(v[1]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[2] = v[2].rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    #[expect(
        deprecated,
        reason = "the standard library's SipHash-2-4 with a key is an independent reference"
    )]
    fn the_function_is_siphash() {
        use std::hash::{Hasher, SipHasher};
        let key = Key(0x0f0e_0d0c_0b0a_0908, 0x0706_0504_0302_0100);
        let words = [0x0706_0504_0302_0100_u64, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110];
        let mut reference = SipHasher::new_with_keys(key.1, key.0);
        words.iter().for_each(|word| reference.write(&word.to_le_bytes()));
        assert_eq!(key.sip(words), reference.finish());
    }

    #[test]
    fn every_bit_is_flipped_by_some_keys_and_not_by_others() {
        for (address, bits) in
            [(MAPPED << 32 | 0x0A01_0203, u128::from(u32::MAX)), (1 << 100, u128::MAX)]
        {
            let flips = |key| Key(key, key ^ 7).anonymous(address) ^ address;
            assert_eq!((0..64).fold(0, |any, key| any | flips(key)), bits);
            assert_eq!((0..64).fold(u128::MAX, |all, key| all & flips(key)), 0);
        }
    }

    proptest! {
        #[test]
        fn exactly_the_common_prefix_stays_common(
            a: u128,
            flip in 0_u32..128,
            high: u64,
            low: u64,
            rest: u128,
        ) {
            let b = a ^ 1 << (127 - flip) ^ rest.checked_shr(flip + 1).unwrap_or(0);
            let key = Key(high, low);
            let common = |a: u128, b: u128| (a ^ b).leading_zeros();
            if (a >> 32 == MAPPED) == (b >> 32 == MAPPED) {
                prop_assert_eq!(common(key.anonymous(a), key.anonymous(b)), common(a, b));
            }
            prop_assert_eq!(key.anonymous(MAPPED << 32 | a >> 96) >> 32, MAPPED);
        }
    }
}
