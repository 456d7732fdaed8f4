//! From a host in the plan to the host.

use super::network::pace_of;
use crate::surroundings::Attachment;
use tailrace_dataplane::Frame;
use tailrace_endpoint::host::{Host, HostConfig, Moderation, ReceivePolicy};
use tailrace_endpoint::nic::{LosslessNic, Nic, PlainNic, ReactionPolicy, Storm};
use tailrace_endpoint::transport::{Buffer, CongestionControl, Growth, SlowStartExit, SmallQueueBound, TcpConfig};
use tailrace_plan::{Plan, RawCongestionControl, RawNicLossless, RawSlowStartExit, RawSocketBuffer};
use tailrace_units::{Span, Stream, Time};
use tailrace_wire::{IPV4_HEADER_BYTES, Packet, PauseState, TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, tcp_mss};

/// A host and the wires that it is attached to; `wire_of` has the wire out of each port of each node.
pub(super) fn host_of(plan: &Plan, host: usize, wire_of: &[Vec<u32>]) -> Host<Attachment> {
    let raw = &plan.raw.hosts[host];
    let end = &plan.graph.ports[host][0];
    let peer_port = plan.graph.port_of_link(end.link, end.peer);
    let place = Attachment {
        index: host as u32,
        wire_out: wire_of[host][0],
        wire_in: wire_of[end.peer][peer_port],
        is_tagged: plan.tagged_links[end.link],
    };
    let plain = || PlainNic::new(pace_of(plan, host, 0), plan.raw.framing.overhead_bytes, raw.nic.queue_bytes);
    let nic = match raw.nic.lossless.as_ref() {
        Some(lossless) => Nic::Lossless(Box::new(lossless_nic(plan, host, lossless))),
        None => Nic::Plain(plain()),
    };
    let config = HostConfig {
        place,
        number: host as u16,
        nic,
        receive: ReceivePolicy {
            per_packet: Span::from_ps(raw.cpu.per_packet_ps),
            per_byte_fs: raw.cpu.per_byte_fs,
            ring_frames: raw.nic.rx_ring_frames as usize,
            gro_bytes: raw.nic.gro_bytes,
        },
        program_cores: raw.cpu.program_cores,
        time_slice: Span::from_ps(raw.cpu.time_slice_ps),
        tcp: tcp_config(plan, host),
    };
    Host::new(config)
}

/// The interrupt moderation of a host's receive ring.
pub(super) fn moderation(plan: &Plan, host: usize) -> Moderation {
    let stream = Stream::new(plan.raw.seed, &format!("{}/rx-jitter", plan.graph.names[host]));
    let coalesce = Span::from_ps(plan.raw.hosts[host].nic.rx_coalesce_ps);
    Moderation::new(coalesce, plan.rx_jitter[host].clone(), stream)
}

fn tcp_config(plan: &Plan, host: usize) -> TcpConfig {
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

/// The interfaces that take part in data-centre bridging, with their hosts.
pub fn lossless_nics(plan: &Plan) -> Vec<(u32, LosslessNic)> {
    let hosts = plan.raw.hosts.iter().enumerate();
    hosts.filter_map(|(host, raw)| Some((host as u32, lossless_nic(plan, host, raw.nic.lossless.as_ref()?)))).collect()
}

fn lossless_nic(plan: &Plan, host: usize, raw: &RawNicLossless) -> LosslessNic {
    let rate = plan.graph.links[plan.graph.ports[host][0].link].rate;
    let pause = PauseState::new(raw.obeys, raw.obeys_link_pause, Span::from_ps(raw.response_ps));
    let reaction = raw.qcn.map(|qcn| ReactionPolicy {
        timer: Span::from_ps(qcn.timer_ps),
        byte_counter: qcn.byte_counter,
        active_increase_bps: qcn.active_increase_bps,
        hyper_increase_bps: qcn.hyper_increase_bps,
        rate_min_bps: qcn.rate_min_bps,
    });
    let queue_bytes = plan.raw.hosts[host].nic.queue_bytes;
    let (pace, overhead_bytes) = (pace_of(plan, host, 0), plan.raw.framing.overhead_bytes);
    let mut nic = LosslessNic::new(pace, rate.bps(), overhead_bytes, queue_bytes, pause, reaction);
    if let Some(storm) = raw.storm {
        let (next, until) = (Time::from_ps(storm.from_ps), Time::from_ps(storm.until_ps));
        nic.storm(Storm { priorities: storm.priorities, next, until, frame: Packet::new_pause });
    }
    nic
}
