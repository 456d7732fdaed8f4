//! Unsigned numbers of seven bits a byte (LEB128).

const MORE: u8 = 0x80;
const BITS: u32 = 7;

/// Appends a number.
pub fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        bytes.push(number as u8 | MORE);
        number >>= BITS;
    }
    bytes.push(number as u8);
}

/// Takes a number from the front; `None` where the bytes end, or the number has more than 64 bits.
pub fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for at in 0..u64::BITS.div_ceil(BITS) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & !MORE);
        if part << (at * BITS) >> (at * BITS) != part {
            return None;
        }
        number |= part << (at * BITS);
        if byte & MORE == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), 1 << 63, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            let mut rest = bytes.as_slice();
            assert_eq!((take(&mut rest), rest), (Some(number), &[][..]), "{number}");
            assert_eq!(
                take(&mut &bytes[..bytes.len() - 1]),
                None,
                "{number} without its last byte"
            );
        }
        assert_eq!(
            take(&mut &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02][..]),
            None,
            "65 bits"
        );
    }
}
