//! Test frames: UDP to the echo port, as RFC 2544 appendix C.2.6.4 has them, with a number and a
//! time behind the headers.

use nix::time::{ClockId, clock_gettime};
use tailrace_lab::address;

/// RFC 2544 section 9.1, with the check sequence.
pub(crate) const FRAME_BYTES_MIN: u32 = 64;
/// An MTU of 9216, the largest of a plan.
pub(crate) const FRAME_BYTES_MAX: u32 = 9_216 + ETHERNET_BYTES as u32 + CHECK_BYTES;
/// The check sequence, which software does not see.
const CHECK_BYTES: u32 = 4;
const ETHERNET_BYTES: usize = 14;
const IP_BYTES: usize = 20;
const HEADERS_BYTES: usize = ETHERNET_BYTES + IP_BYTES + 8;
/// Number of the trial, of the frame, time of sending: all that the smallest frame has room for.
const TRIAL_AT: usize = HEADERS_BYTES;
const NUMBER_AT: usize = TRIAL_AT + 2;
const TIME_AT: usize = NUMBER_AT + 8;
/// Bytes of a frame that the receiver needs.
pub(crate) const MARKED_BYTES: usize = TIME_AT + 8;
/// RFC 2544 appendix C.2.6.4.
const ECHO_PORT: u16 = 7;
const SOURCE_PORT: u16 = 49_184;
const UDP: u8 = 17;
const TIME_TO_LIVE: u8 = 10;
const NS_PER_S: u64 = 1_000_000_000;
/// The hosts of a lab by their index in its plan: sender and receiver.
pub(crate) const SENDER: usize = 0;
pub(crate) const RECEIVER: usize = 1;

/// A frame whose number and time are filled in before it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    bytes: Vec<u8>,
}

/// The marks of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Marks {
    pub(super) trial: u16,
    pub(super) number: u64,
    pub(crate) sent_ns: u64,
}

impl Template {
    /// Of this size with the check sequence.
    pub(super) fn new(frame_bytes: u32, trial: u16) -> Template {
        let length = (frame_bytes - CHECK_BYTES) as usize;
        let mut bytes = [&address::mac(RECEIVER)[..], &address::mac(SENDER), &[8, 0]].concat();
        let ip_bytes = (length - ETHERNET_BYTES) as u16;
        bytes.extend([0x45, 0]);
        bytes.extend(ip_bytes.to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, TIME_TO_LIVE, UDP, 0, 0]);
        bytes.extend(address::ipv4(SENDER).octets());
        bytes.extend(address::ipv4(RECEIVER).octets());
        let sum = checksum(&bytes[ETHERNET_BYTES..]);
        bytes[ETHERNET_BYTES + 10..ETHERNET_BYTES + 12].copy_from_slice(&sum.to_be_bytes());
        for word in [SOURCE_PORT, ECHO_PORT, ip_bytes - IP_BYTES as u16, 0] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(trial.to_le_bytes());
        bytes.resize(length, 0);
        Template { bytes }
    }

    /// Its bytes; number and time are zero.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Fills the marks in.
pub(crate) fn mark(bytes: &mut [u8], number: u64, sent_ns: u64) {
    bytes[NUMBER_AT..NUMBER_AT + 8].copy_from_slice(&number.to_le_bytes());
    bytes[TIME_AT..TIME_AT + 8].copy_from_slice(&sent_ns.to_le_bytes());
}

/// Changes the time alone.
pub(crate) fn remark(bytes: &mut [u8], sent_ns: u64) {
    bytes[TIME_AT..TIME_AT + 8].copy_from_slice(&sent_ns.to_le_bytes());
}

/// The marks of a frame that has arrived; `None` if it is not one of ours.
pub(crate) fn marks(bytes: &[u8]) -> Option<Marks> {
    let is_ours = bytes.len() >= MARKED_BYTES
        && bytes[ETHERNET_BYTES + 9] == UDP
        && bytes[ETHERNET_BYTES + IP_BYTES..ETHERNET_BYTES + IP_BYTES + 2]
            == SOURCE_PORT.to_be_bytes();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    is_ours.then(|| Marks {
        trial: u16::from_le_bytes([bytes[TRIAL_AT], bytes[TRIAL_AT + 1]]),
        number: number(NUMBER_AT),
        sent_ns: number(TIME_AT),
    })
}

/// The clock of both ends, which the kernel also stamps frames with.
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_REALTIME).expect("Linux has this clock");
    time.tv_sec() as u64 * NS_PER_S + time.tv_nsec() as u64
}

/// RFC 1071, of a header whose own sum is still zero.
fn checksum(header: &[u8]) -> u16 {
    let words = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum: u32 = words.sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    !(((folded & 0xFFFF) + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_its_size_without_the_check_sequence_and_its_marks() {
        for bytes in [64, 1_518, 9_018] {
            let mut frame = Template::new(bytes, 77).bytes().to_vec();
            mark(&mut frame, 5, 6);
            assert_eq!(frame.len(), bytes as usize - 4);
            assert_eq!(marks(&frame), Some(Marks { trial: 77, number: 5, sent_ns: 6 }));
            assert_eq!(u16::from_be_bytes([frame[16], frame[17]]), bytes as u16 - 18);
        }
        assert_eq!(marks(&[0; 60]), None);
    }

    #[test]
    fn the_sum_of_a_whole_header_is_zero() {
        assert_eq!(checksum(&Template::new(64, 0).bytes()[14..34]), 0);
    }
}
