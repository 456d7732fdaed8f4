//! Linux's report of a connection: `struct tcp_info` (include/uapi/linux/tcp.h). Its fields keep
//! their offsets, and a kernel that is older than one of them returns a shorter structure.

use crate::counters::{Counters, OF_TCP_INFO};
use std::os::fd::{AsRawFd, OwnedFd};

/// Longer than the structure of any kernel that is known.
const INFO_BYTES: usize = 512;
/// More than `SO_MEMINFO` has (Linux 6: 9).
const MEMORY_VALUES: usize = 16;
/// The fields of it that are used: unread, receive buffer, handed to the interface and not sent,
/// send buffer, written and not acknowledged (`SK_MEMINFO_*`).
const MEMORY: [(&str, usize); 5] = [
    ("rmem_bytes", 0),
    ("rcvbuf_bytes", 1),
    ("wmem_bytes", 2),
    ("sndbuf_bytes", 3),
    ("wmem_queued_bytes", 5),
];

/// Of each counter its offset and its length.
const FIELDS: [(&str, usize, usize); OF_TCP_INFO] = [
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
    ("notsent_bytes", 144, 4),
    ("ca_state", 1, 1),
    ("snd_mss", 16, 4),
];

/// The counters of a connection.
#[expect(unsafe_code, reason = "TCP_INFO has no safe wrapper that tells its length")]
pub fn counters(fd: &OwnedFd) -> Option<Counters> {
    let mut info = [0_u8; INFO_BYTES];
    let mut length = INFO_BYTES as libc::socklen_t;
    // SAFETY: the call writes at most `length` bytes, and how many they were.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let mut counters = (result == 0).then(|| parse(&info[..length as usize]))?;
    if let Some(memory) = memory(fd) {
        MEMORY.iter().for_each(|&(name, index)| counters.set(name, memory[index].into()));
    }
    Some(counters)
}

/// Memory of a socket (`SO_MEMINFO`).
#[expect(unsafe_code, reason = "SO_MEMINFO has no safe wrapper")]
fn memory(fd: &OwnedFd) -> Option<[u32; MEMORY_VALUES]> {
    let mut memory = [0_u32; MEMORY_VALUES];
    let mut length = size_of_val(&memory) as libc::socklen_t;
    // SAFETY: the call writes at most `length` bytes, and how many they were.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            memory.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (result == 0).then_some(memory)
}

fn parse(info: &[u8]) -> Counters {
    let mut counters = Counters::default();
    for (counter, (_, at, length)) in counters.0.iter_mut().zip(FIELDS) {
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
    use crate::counters::COUNTERS;

    #[test]
    fn fields_stand_in_the_order_of_the_counters() {
        assert_eq!(FIELDS.map(|(name, _, _)| name), COUNTERS[..OF_TCP_INFO]);
    }

    /// `struct tcp_info` of Linux 6.7 as its header has it.
    #[repr(C)]
    struct TcpInfo {
        state: u8,
        ca_state: u8,
        bytes: [u8; 6],
        rto: u32,
        ato: u32,
        snd_mss: u32,
        rcv_mss: u32,
        unacked: u32,
        sacked: u32,
        lost: u32,
        retrans: u32,
        fackets: u32,
        last: [u32; 4],
        pmtu: u32,
        rcv_ssthresh: u32,
        rtt: u32,
        rttvar: u32,
        snd_ssthresh: u32,
        snd_cwnd: u32,
        advmss: u32,
        reordering: u32,
        rcv_rtt: u32,
        rcv_space: u32,
        total_retrans: u32,
        pacing_rate: u64,
        max_pacing_rate: u64,
        bytes_acked: u64,
        bytes_received: u64,
        segs_out: u32,
        segs_in: u32,
        notsent_bytes: u32,
        min_rtt: u32,
        data_segs_in: u32,
        data_segs_out: u32,
        delivery_rate: u64,
        busy_time: u64,
        rwnd_limited: u64,
        sndbuf_limited: u64,
        delivered: u32,
        delivered_ce: u32,
        bytes_sent: u64,
        bytes_retrans: u64,
        dsack_dups: u32,
        reord_seen: u32,
        rcv_ooopack: u32,
        snd_wnd: u32,
        rcv_wnd: u32,
        rehash: u32,
        total_rto: u16,
        total_rto_recoveries: u16,
        total_rto_time: u32,
    }

    #[test]
    fn each_counter_is_where_the_header_has_it() {
        macro_rules! offsets {
            ($($field:ident),*) => { [$(std::mem::offset_of!(TcpInfo, $field)),*] };
        }
        let offsets = offsets!(
            snd_cwnd,
            snd_ssthresh,
            rtt,
            rttvar,
            min_rtt,
            unacked,
            lost,
            segs_out,
            segs_in,
            data_segs_out,
            data_segs_in,
            total_retrans,
            dsack_dups,
            reord_seen,
            rcv_ooopack,
            delivered,
            delivered_ce,
            bytes_acked,
            bytes_received,
            busy_time,
            rwnd_limited,
            sndbuf_limited,
            total_rto,
            notsent_bytes,
            ca_state,
            snd_mss
        );
        assert_eq!(FIELDS.map(|(_, at, _)| at), offsets);
        assert_eq!(size_of::<TcpInfo>(), 248);
    }

    #[test]
    fn an_older_kernel_leaves_out_what_it_does_not_know() {
        let mut info = [0; 232];
        info[80] = 10;
        info[100..104].copy_from_slice(&70_000_u32.to_le_bytes());
        let counters = parse(&info);
        assert_eq!(
            (counters.named("snd_cwnd"), counters.named("total_retrans")),
            (Some(10), Some(70_000))
        );
        assert_eq!((counters.named("rcv_ooopack"), counters.named("total_rto")), (Some(0), None));
    }
}
