//! From a host in the plan to its transport's settings.

use tailrace_endpoint::transport::{Buffer, CongestionControl, Growth, SlowStartExit, SmallQueueBound, TcpConfig};
use tailrace_plan::{Plan, RawCongestionControl, RawSlowStartExit, RawSocketBuffer};
use tailrace_units::Span;
use tailrace_wire::{IPV4_HEADER_BYTES, TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, tcp_mss};

pub(super) fn tcp_config(plan: &Plan, host: usize) -> TcpConfig {
    let raw = &plan.raw.hosts[host];
    let tcp = &raw.tcp;
    let buffer = |b: &RawSocketBuffer| Buffer { initial: b.initial_bytes, maximum: b.maximum_bytes };
    TcpConfig {
        mss: tcp_mss(raw.mtu_bytes),
        initial_window_segments: tcp.initial_window_segments,
        window_cap_bytes: tcp.window_cap_bytes,
        congestion_control: match tcp.congestion_control {
            RawCongestionControl::Cubic => CongestionControl::Cubic,
            RawCongestionControl::NewReno => CongestionControl::NewReno,
            RawCongestionControl::Dctcp => CongestionControl::Dctcp,
        },
        slow_start_exit: match tcp.slow_start_exit {
            RawSlowStartExit::None => SlowStartExit::None,
            RawSlowStartExit::Hystart => SlowStartExit::Hystart,
            RawSlowStartExit::HystartPlusPlus => SlowStartExit::HystartPlusPlus,
        },
        growth: if tcp.growth_by_acknowledgement { Growth::Acknowledgements } else { Growth::Segments },
        reno_friendly: !tcp.without_reno_friendly,
        ecn: tcp.ecn,
        sack: tcp.sack,
        tail_loss_probe: tcp.tail_loss_probe,
        rto_min: Span::from_ps(tcp.rto_min_ps),
        rto_max: Span::from_ps(tcp.rto_max_ps),
        delayed_ack: Span::from_ps(tcp.delayed_ack_ps),
        slow_start_after_idle: tcp.slow_start_after_idle,
        small_queue: Span::from_ps(tcp.small_queue_ps),
        small_queue_bound: if tcp.small_queue_by_pace { SmallQueueBound::Pace } else { SmallQueueBound::Line },
        tso_bytes: raw.nic.tso_bytes,
        send_buffer: buffer(&tcp.send_buffer),
        receive_buffer: buffer(&tcp.receive_buffer),
        header_bytes: plan.raw.framing.header_bytes + IPV4_HEADER_BYTES + TCP_HEADER_BYTES + TCP_TIMESTAMP_BYTES,
    }
}
