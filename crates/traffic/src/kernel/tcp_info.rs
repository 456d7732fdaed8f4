//! What Linux tells of a connection: `struct tcp_info` (include/uapi/linux/tcp.h). Its fields keep their places, and a kernel that is
//! older than one of them tells a shorter structure.

use crate::counters::{COUNTERS, Counters};
use std::os::fd::{AsRawFd, OwnedFd};

/// Longer than the structure of any kernel that is known.
const INFO_BYTES: usize = 512;

/// Of each counter its place and its length.
const PLACES: [(&str, usize, usize); COUNTERS.len()] = [
    ("snd_cwnd", 80, 4),
    ("snd_ssthresh", 76, 4),
    ("rtt_us", 68, 4),
    ("rttvar_us", 72, 4),
    ("min_rtt_us", 148, 4),
    ("unacked", 24, 4),
    ("lost", 32, 4),
    ("segs_out", 136, 4),
    ("segs_in", 140, 4),
    ("data_segs_out", 156, 4),
    ("data_segs_in", 152, 4),
    ("total_retrans", 100, 4),
    ("dsack_dups", 216, 4),
    ("reord_seen", 220, 4),
    ("rcv_ooopack", 224, 4),
    ("delivered", 192, 4),
    ("delivered_ce", 196, 4),
    ("bytes_acked", 120, 8),
    ("bytes_received", 128, 8),
    ("busy_time_us", 168, 8),
    ("rwnd_limited_us", 176, 8),
    ("sndbuf_limited_us", 184, 8),
    // Since Linux 6.7.
    ("total_rto", 240, 2),
];

/// The counters of a connection.
#[expect(unsafe_code, reason = "TCP_INFO has no safe wrapper that tells its length")]
pub fn counters(fd: &OwnedFd) -> Option<Counters> {
    let mut info = [0_u8; INFO_BYTES];
    let mut length = INFO_BYTES as libc::socklen_t;
    // SAFETY: the call writes at most `length` bytes, and how many they were.
    let result =
        unsafe { libc::getsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, info.as_mut_ptr().cast(), &raw mut length) };
    (result == 0).then(|| parse(&info[..length as usize]))
}

fn parse(info: &[u8]) -> Counters {
    let mut counters = Counters::default();
    for (counter, (_, at, length)) in counters.0.iter_mut().zip(PLACES) {
        *counter = info.get(at..at + length).map(|field| {
            let mut bytes = [0; 8];
            bytes[..length].copy_from_slice(field);
            u64::from_le_bytes(bytes)
        });
    }
    counters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_in_the_order_of_the_counters() {
        assert_eq!(PLACES.map(|(name, _, _)| name), COUNTERS);
    }

    #[test]
    fn an_older_kernel_leaves_out_what_it_does_not_know() {
        let mut info = [0; 232];
        info[80] = 10;
        info[100..104].copy_from_slice(&70_000_u32.to_le_bytes());
        let counters = parse(&info);
        assert_eq!((counters.named("snd_cwnd"), counters.named("total_retrans")), (Some(10), Some(70_000)));
        assert_eq!((counters.named("rcv_ooopack"), counters.named("total_rto")), (Some(0), None));
    }
}
