//! Builds a host of the plan.

use super::processor::processor_policy;
use crate::attachment::Attachment;
use tailrace_host::nic::{BondPolicy, BondedNic, LosslessNic, Nic, PlainNic};
use tailrace_host::{Host, HostConfig, Moderation, ReceivePolicy};
use tailrace_network::{HostLink, pace_of};
use tailrace_plan::{
    Plan, RawBondPolicy, RawCongestionControl, RawHost, RawSlowStartExit, RawSocketBuffer,
};
use tailrace_transport::ip::ReassemblyPolicy;
use tailrace_transport::tcp::{
    Buffer, CongestionControl, Growth, SlowStartExit, SmallQueueBound, TcpConfig, segment_memory,
};
use tailrace_units::{RandomStream, Span};
use tailrace_wire::{IPV4_HEADER_BYTES, TCP_HEADER_BYTES, TCP_TIMESTAMP_BYTES, tcp_mss};

/// Agenda sources of a host.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgendaSources {
    pub(super) processor: Option<u32>,
    pub(super) hypervisor: Option<u32>,
    /// Whether super-frames come whole.
    pub(super) receives_whole: bool,
}

/// A host on this link; `lossless` is its interface if that takes part in data-centre bridging.
pub(super) fn host_of(
    plan: &Plan,
    host: usize,
    link: HostLink,
    lossless: Option<LosslessNic>,
    sources: AgendaSources,
) -> Host<Attachment> {
    let raw = &plan.raw.hosts[host];
    let is_tagged = plan.tagged_links[plan.graph.ports[host][0].link];
    let AgendaSources { processor, hypervisor, receives_whole } = sources;
    let attachment = Attachment {
        index: host as u32,
        wire_out: link.out,
        wire_in: link.into,
        is_tagged,
        processor,
        hypervisor,
    };
    let plain = |port| {
        PlainNic::new(
            pace_of(plan, host, port),
            plan.raw.framing.overhead_bytes,
            raw.nic.queue_bytes,
        )
    };
    let nic = match (raw.nic.bond, lossless) {
        (None, None) => Nic::Plain(plain(0)),
        (None, Some(nic)) => Nic::Lossless(Box::new(nic)),
        (Some(policy), _) => Nic::Bonded(Box::new(bond(plan, host, policy, plain))),
    };
    let config = HostConfig {
        attachment,
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
        processor: raw
            .cpu
            .processor
            .as_deref()
            .map(|raw| processor_policy(plan, host, raw, receives_whole)),
        tcp: tcp_config(plan, host),
        mtu_bytes: raw.mtu_bytes,
        reassembly: reassembly(raw),
    };
    let mut model = Host::new(config);
    if hypervisor.is_some() {
        model.become_guest();
    }
    give_ports(plan, host, &mut model);
    model
}

/// Workloads whose clients have a range of ports.
fn give_ports(plan: &Plan, host: usize, model: &mut Host<Attachment>) {
    for (number, workload) in (0..).zip(&plan.workloads) {
        if let Some(range) = workload.header.client_ports
            && workload.header.hosts().any(|own| own == host)
        {
            model.give_ports(number, range);
        }
    }
}

/// How a host puts datagrams together.
fn reassembly(raw: &RawHost) -> ReassemblyPolicy {
    raw.ip.as_ref().map_or(ReassemblyPolicy::LINUX, |ip| ReassemblyPolicy {
        timeout: Span::from_ps(ip.reassembly_timeout_ps),
        memory_bytes: ip.reassembly_memory_bytes,
        distance: ip.reassembly_distance,
    })
}

/// Several interfaces as one. One clock drives all of them.
fn bond(
    plan: &Plan,
    host: usize,
    policy: RawBondPolicy,
    interface: impl Fn(usize) -> PlainNic,
) -> BondedNic {
    let policy = match policy {
        RawBondPolicy::Flow => BondPolicy::Flow,
        RawBondPolicy::Hosts => BondPolicy::Hosts,
    };
    let key = RandomStream::new(plan.raw.seed, &format!("{}/bond", plan.graph.names[host])).bits();
    BondedNic::new(policy, key, (0..plan.graph.ports[host].len()).map(interface).collect())
}

/// The interrupt moderation of a host's receive ring.
pub(super) fn moderation(plan: &Plan, host: usize) -> Moderation {
    let stream = RandomStream::new(plan.raw.seed, &format!("{}/rx-jitter", plan.graph.names[host]));
    let coalesce = Span::from_ps(plan.raw.hosts[host].nic.rx_coalesce_ps);
    Moderation::new(coalesce, plan.rx_jitter[host].clone(), stream)
}

/// The phase of a host's clock ticks: hosts do not agree on it.
fn tick_phase(plan: &Plan, host: usize) -> Span {
    let mut stream = RandomStream::new(plan.raw.seed, &format!("{}/tick", plan.graph.names[host]));
    Span::from_ps(stream.below(plan.raw.hosts[host].tcp.tick_ps.max(1)))
}

fn tcp_config(plan: &Plan, host: usize) -> TcpConfig {
    let raw = &plan.raw.hosts[host];
    let tcp = &raw.tcp;
    let buffer =
        |b: &RawSocketBuffer| Buffer { initial: b.initial_bytes, maximum: b.maximum_bytes };
    TcpConfig {
        mss: tcp_mss(raw.mtu_bytes),
        initial_window_segments: tcp.initial_window_segments,
        window_cap_bytes: tcp.window_cap_bytes,
        congestion_control: match tcp.congestion_control {
            RawCongestionControl::Cubic => CongestionControl::Cubic,
            RawCongestionControl::NewReno => CongestionControl::NewReno,
            RawCongestionControl::Dctcp => CongestionControl::Dctcp,
            RawCongestionControl::Bbr => CongestionControl::Bbr,
        },
        slow_start_exit: match tcp.slow_start_exit {
            RawSlowStartExit::None => SlowStartExit::None,
            RawSlowStartExit::Hystart => SlowStartExit::Hystart,
            RawSlowStartExit::HystartPlusPlus => SlowStartExit::HystartPlusPlus,
        },
        growth: if tcp.growth_by_acknowledgement {
            Growth::Acknowledgements
        } else {
            Growth::Segments
        },
        reno_friendly: !tcp.without_reno_friendly,
        ecn: tcp.ecn,
        sack: tcp.sack,
        tail_loss_probe: tcp.tail_loss_probe,
        rto_min: Span::from_ps(tcp.rto_min_ps),
        rto_max: Span::from_ps(tcp.rto_max_ps),
        delayed_ack: Span::from_ps(tcp.delayed_ack_ps),
        slow_start_after_idle: tcp.slow_start_after_idle,
        tick: Span::from_ps(tcp.tick_ps),
        tick_phase: tick_phase(plan, host),
        autocorking: !tcp.without_autocorking,
        small_queue: Span::from_ps(tcp.small_queue_ps),
        small_queue_bound: if tcp.small_queue_by_pace {
            SmallQueueBound::Pace
        } else {
            SmallQueueBound::Line
        },
        tso_bytes: raw.nic.tso_bytes,
        send_buffer: buffer(&tcp.send_buffer),
        receive_buffer: buffer(&tcp.receive_buffer),
        seed: RandomStream::new(plan.raw.seed, &format!("{}/tcp", plan.graph.names[host])).bits(),
        segment_memory: segment_memory(tcp_mss(raw.mtu_bytes)),
        header_bytes: plan.raw.framing.header_bytes
            + IPV4_HEADER_BYTES
            + TCP_HEADER_BYTES
            + TCP_TIMESTAMP_BYTES,
    }
}
