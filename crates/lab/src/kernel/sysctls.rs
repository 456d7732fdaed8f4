//! Kernel settings of a host, which Linux has for each network namespace, and the errors for
//! missing ones.

use crate::netlink::Metrics;
use std::fs;
use std::io;
use tailrace_plan::{RawHost, RawIp};

/// Kernel buffers count the memory of packets, not their payload. Half of a receive buffer is
/// offered as window (tcp_adv_win_scale 1); of data that is sent in rows of segments almost all is
/// payload.
const RECEIVE_BYTES_PER_PAYLOAD_BYTE: u64 = 2;
const SEND_BYTES_PER_PAYLOAD_BYTE: u64 = 1;
/// Linux's smallest socket buffers.
const BUFFER_BYTES_MIN: u64 = 4_096;
/// `ipfrag_low_thresh` by default: 3 MiB.
const LOW_THRESHOLD_BYTES: u64 = 3 << 20;
const PS_PER_SECOND: u64 = 1_000_000_000_000;
/// Since Linux 5.10.
const REFLECTION: &str = "ipv4/tcp_reflect_tos";

/// TCP settings of the plan that Linux has for a namespace as a whole. The calling thread is in the
/// host's namespace.
pub(super) fn set(raw: &RawHost, uses_code_points: bool) -> io::Result<()> {
    let tcp = &raw.tcp;
    let number = |flag: bool| u8::from(flag).to_string();
    let buffer = |buffer: &tailrace_plan::RawSocketBuffer, factor: u64| {
        let kernel = |payload: u64| (payload * factor).min(i32::MAX as u64);
        format!(
            "{BUFFER_BYTES_MIN} {} {}",
            kernel(buffer.initial_bytes),
            kernel(buffer.maximum_bytes)
        )
    };
    let settings = [
        ("ipv4/tcp_ecn", number(tcp.ecn)),
        ("ipv4/tcp_sack", number(tcp.sack)),
        ("ipv4/tcp_slow_start_after_idle", number(tcp.slow_start_after_idle)),
        ("ipv4/tcp_early_retrans", if tcp.tail_loss_probe { "3" } else { "0" }.to_owned()),
        ("ipv4/tcp_autocorking", number(!tcp.without_autocorking)),
        ("ipv4/tcp_no_metrics_save", number(true)),
        // Both directions of a connection have the code point that its first segment had.
        (REFLECTION, number(true)),
        // Servers that are not root listen at the ports of their protocols, too: HTTP has 80, DNS
        // 53.
        ("ipv4/ip_unprivileged_port_start", 0.to_string()),
        ("ipv4/tcp_rmem", buffer(&tcp.receive_buffer, RECEIVE_BYTES_PER_PAYLOAD_BYTE)),
        ("ipv4/tcp_wmem", buffer(&tcp.send_buffer, SEND_BYTES_PER_PAYLOAD_BYTE)),
        ("ipv6/conf/all/disable_ipv6", number(true)),
        ("ipv6/conf/default/disable_ipv6", number(true)),
    ];
    for (name, value) in settings.into_iter().chain(raw.ip.iter().flat_map(reassembly)) {
        let path = format!("/proc/sys/net/{name}");
        match fs::write(&path, &value) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    && !is_needed(name, uses_code_points) => {}
            result => result.map_err(|error| {
                io::Error::new(error.kind(), format!("setting {name} to {value}: {error}"))
            })?,
        }
    }
    Ok(())
}

/// Linux takes no high threshold below the low one, which nothing has read since 4.17 but this
/// check.
fn reassembly(ip: &RawIp) -> [(&'static str, String); 4] {
    let seconds = ip.reassembly_timeout_ps / PS_PER_SECOND;
    let (high, low) =
        (ip.reassembly_memory_bytes, ip.reassembly_memory_bytes.min(LOW_THRESHOLD_BYTES));
    [
        ("ipv4/ipfrag_low_thresh", low.to_string()),
        ("ipv4/ipfrag_high_thresh", high.to_string()),
        ("ipv4/ipfrag_time", seconds.to_string()),
        ("ipv4/ipfrag_max_dist", ip.reassembly_distance.to_string()),
    ]
}

/// Whether a lab needs a setting that the kernel may not have. Without IPv6 there is nothing to
/// switch off, and without marked connections nothing to reflect.
fn is_needed(name: &str, uses_code_points: bool) -> bool {
    match name {
        REFLECTION => uses_code_points,
        other => !other.starts_with("ipv6/"),
    }
}

/// A route with a congestion control that the kernel lacks is refused without a reason.
pub(super) fn explain(error: io::Error, metrics: &Metrics) -> io::Error {
    let has = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_default();
    let wanted = &metrics.congestion_control;
    if has.split_whitespace().any(|name| name == wanted) {
        return io::Error::new(error.kind(), format!("adding its route: {error}"));
    }
    let hint = "choose another one for the host, or load the kernel module";
    io::Error::new(
        error.kind(),
        format!("this kernel has no congestion control {wanted:?} (it has {}): {hint}", has.trim()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_kernel_is_refused_only_where_its_answers_would_be_unmarked() {
        assert!(is_needed(REFLECTION, true) && !is_needed(REFLECTION, false));
        assert!(is_needed("ipv4/tcp_ecn", false) && !is_needed("ipv6/conf/all/disable_ipv6", true));
    }
}
