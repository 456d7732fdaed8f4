//! Units of time of pcapng (draft-ietf-opsawg-pcapng section 4.2, `if_tsresol` and `if_tsoffset`),
//! in whole nanoseconds since 1970.

/// Nanoseconds are powers of ten of a second.
const NS_DIGITS: u32 = 9;
const NS_PER_S: u128 = 1_000_000_000;
/// The first bit of `if_tsresol`: the rest is a power of two, not of ten.
const IS_BINARY: u8 = 0x80;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// Of at least a nanosecond: how many.
    Multiple(u64),
    /// Of less than a nanosecond: how many in one.
    Part(u128),
    /// A second divided by two to this power.
    Binary(u32),
}

/// Without the option, times are in microseconds.
pub(super) const DEFAULT: u8 = 6;

impl Resolution {
    /// The unit that the option's byte stands for.
    pub(super) fn of(code: u8) -> Resolution {
        let power = u32::from(code & !IS_BINARY);
        if code & IS_BINARY != 0 {
            Resolution::Binary(power)
        } else if power <= NS_DIGITS {
            Resolution::Multiple(10_u64.pow(NS_DIGITS - power))
        } else {
            // Of a larger power no time of 64 bits reaches a nanosecond.
            Resolution::Part(10_u128.checked_pow(power - NS_DIGITS).unwrap_or(u128::MAX))
        }
    }

    /// The unit as people write it.
    pub(super) fn text(code: u8) -> String {
        let power = code & !IS_BINARY;
        if code & IS_BINARY != 0 { format!("2^-{power} s") } else { format!("1e-{power} s") }
    }

    /// This many units and seconds since 1970 in nanoseconds, rounded down, within 64 bits.
    #[inline]
    pub(super) fn time_ns(self, ticks: u64, offset_s: i64) -> u64 {
        let since = match self {
            Resolution::Multiple(ns) => match ticks.checked_mul(ns) {
                Some(ns) if offset_s == 0 => return ns,
                _ => u128::from(ticks) * u128::from(ns),
            },
            Resolution::Part(parts) => u128::from(ticks) / parts,
            Resolution::Binary(power) => (u128::from(ticks) * NS_PER_S) >> power,
        };
        let offset = i128::from(offset_s) * NS_PER_S as i128;
        (since as i128 + offset).clamp(0, i128::from(u64::MAX)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_ten_and_of_two_give_nanoseconds_rounded_down() {
        let cases = [
            (6, 1_700_000_000_123_456, 0, 1_700_000_000_123_456_000),
            (9, 1_700_000_000_123_456_789, 0, 1_700_000_000_123_456_789),
            (0, 17, 0, 17_000_000_000),
            (12, 1_999, 0, 1),
            (0x80 | 10, 1_536, 0, 1_500_000_000),
            (3, 5, 2, 2_005_000_000),
            (6, 5_000_000, -3, 2_000_000_000),
        ];
        for (code, ticks, offset_s, expected) in cases {
            assert_eq!(Resolution::of(code).time_ns(ticks, offset_s), expected, "{code:#x}");
        }
    }

    #[test]
    fn any_unit_and_offset_gives_a_time_within_64_bits() {
        for code in 0..=u8::MAX {
            for offset_s in [i64::MIN, -1, 0, 1, i64::MAX] {
                for ticks in [0, 1, u64::MAX] {
                    Resolution::of(code).time_ns(ticks, offset_s);
                }
            }
        }
        assert_eq!(Resolution::of(0).time_ns(u64::MAX, 0), u64::MAX);
        assert_eq!(Resolution::of(6).time_ns(1, -1), 0);
    }
}
