//! Plans made in Rust.

#[path = "drawn.rs"]
mod drawn;

pub use drawn::*;

use tailrace_plan::*;

pub const US: u64 = 1_000_000;
pub const MS: u64 = 1_000 * US;
pub const S: u64 = 1_000 * MS;
pub const GBPS: u64 = 1_000_000_000;

pub fn tcp() -> RawTcp {
    RawTcp {
        congestion_control: RawCongestionControl::Cubic,
        slow_start_exit: RawSlowStartExit::Hystart,
        initial_window_segments: 10,
        window_cap_bytes: 0,
        growth_by_acknowledgement: false,
        without_reno_friendly: false,
        ecn: false,
        sack: true,
        tail_loss_probe: true,
        rto_min_ps: 200 * MS,
        rto_max_ps: 120 * S,
        delayed_ack_ps: 40 * MS,
        slow_start_after_idle: true,
        tick_ps: 4 * MS,
        without_autocorking: false,
        small_queue_ps: MS,
        small_queue_by_pace: false,
        send_buffer: RawSocketBuffer { initial_bytes: 4 << 20, maximum_bytes: 4 << 20 },
        receive_buffer: RawSocketBuffer { initial_bytes: 6 << 20, maximum_bytes: 6 << 20 },
    }
}

pub fn host(name: &str, mtu_bytes: u32) -> RawHost {
    RawHost {
        name: name.into(),
        mtu_bytes,
        nic: RawNic {
            queue_bytes: 16 << 20,
            tso_bytes: 65_536,
            gro_bytes: 65_536,
            rx_coalesce_ps: 8 * US,
            rx_jitter: RawDistribution::Uniform { low: 0, high: 4 * US },
            rx_ring_frames: 4_096,
            lossless: None,
            bond: None,
        },
        cpu: RawCpu {
            per_packet_ps: 0,
            per_byte_fs: 0,
            program_cores: 0,
            time_slice_ps: 0,
            processor: None,
        },
        tcp: tcp(),
        ip: None,
        neighbours: vec![],
    }
}

pub fn queue(name: &str, service: RawService, bytes: u64) -> RawQueue {
    RawQueue {
        name: name.into(),
        service,
        limit: RawLimit::Bytes(bytes),
        aqm: RawAqm::None,
        reserved_bytes: 0,
        shape_max_bps: 0,
        shape_min_bps: 0,
        qcn: None,
    }
}

/// Queues, and the queue of each class; nothing else.
pub fn policy(queues: Vec<RawQueue>, queue_of_priority: [u8; 8]) -> RawPolicy {
    RawPolicy {
        queues,
        queue_of_priority,
        dpp: None,
        etrap: None,
        pause: None,
        groups: vec![],
        police: None,
    }
}

pub fn fifo(bytes: u64) -> RawPolicy {
    policy(vec![queue("default", RawService::Dwrr(1000), bytes)], [0; 8])
}

/// A strict first queue, and two with 70 and 30 % of what it leaves, of which priority 1 has the
/// second; with these limits.
pub fn prioritised([express, default, bulk]: [u64; 3]) -> RawPolicy {
    let queues = vec![
        queue("express", RawService::Strict(1), express),
        queue("default", RawService::Dwrr(700), default),
        queue("bulk", RawService::Dwrr(300), bulk),
    ];
    policy(queues, [1, 2, 1, 1, 1, 1, 1, 1])
}

pub fn switch(name: &str, buffer_bytes: u64, policy: RawPolicy) -> RawSwitch {
    RawSwitch {
        name: name.into(),
        switching: RawSwitching::StoreAndForward,
        latency_ps: 0,
        buffer_bytes,
        classify: vec![],
        policy,
        port_policies: vec![],
        mtu_bytes: None,
        port_mtus: vec![],
    }
}

pub fn link(a: &str, b: &str, rate_bps: u64, delay_ps: u64) -> RawLink {
    RawLink {
        a: a.into(),
        b: b.into(),
        rate_bps,
        delay_ps,
        loss_ppb: 0,
        loses_later_fragments: false,
    }
}

/// Hosts `h0..` around one switch `sw`.
pub fn star(hosts: usize, mtu: u32, rate_bps: u64, delay_ps: u64, switch: RawSwitch) -> RawPlan {
    let name = |i: usize| format!("h{i}");
    let links = (0..hosts).map(|i| link(&name(i), &switch.name, rate_bps, delay_ps)).collect();
    RawPlan {
        version: 2,
        name: "test".into(),
        seed: 1,
        stop_at_ps: S,
        lasts_to_stop: false,
        framing: RawFraming { header_bytes: 14, overhead_bytes: 24 },
        clock_offset_ppb: 50_000,
        hosts: (0..hosts).map(|i| host(&name(i), mtu)).collect(),
        links,
        switches: vec![switch],
        hypervisors: vec![],
        spanning_tree: None,
        devices: vec![],
        workloads: vec![],
        observe: RawObserve {
            warm_up_ps: 0,
            windows_ps: 0,
            interfaces_ps: 0,
            ports: vec![("sw".into(), "h0".into())],
            series_bins: 512,
            series_bin_ps: MS,
            transactions_max: 1_000,
            digest: true,
        },
    }
}

/// The header of a workload without marks that begins with the trial.
pub fn header(name: &str) -> RawHeader {
    RawHeader { name: name.into(), port: 5_432, ..RawHeader::default() }
}

/// Jobs of these hosts that read 4 KiB at random from a device of their own.
pub fn storage(name: &str, initiators: &[&str], depth: u32) -> Drawn<RawStorage> {
    let body = RawStorage {
        initiators: initiators.iter().map(|&host| host.into()).collect(),
        target: None,
        device: "ssd".into(),
        protocol: RawStorageProtocol::Local,
        jobs: 1,
        depth,
        read_ppb: 1_000_000_000,
        access: RawAccess::Random(1_000_000_000),
        block: RawDistribution::Constant(4_096),
        offset_bytes: 0,
        size_bytes: 1 << 30,
        arrivals: None,
        think: RawDistribution::Constant(0),
        flush_every: 0,
        read_cost_ps: 0,
        write_cost_ps: 0,
        requests: 0,
        bytes: 0,
    };
    Drawn { header: header(name), body }
}

/// Servers of 100 us, a link of 8 Gbit/s, pieces of 512 KiB, without cache.
pub fn ssd(servers: u32) -> RawDevice {
    RawDevice {
        name: "ssd".into(),
        servers,
        read_latency: RawDistribution::Constant(100 * US),
        write_latency: RawDistribution::Constant(100 * US),
        read_bps: 8 * GBPS,
        write_bps: 8 * GBPS,
        is_duplex: false,
        queue_depth: 32,
        sector_bytes: 512,
        limits: RawDeviceLimits {
            max_sectors_bytes: 512 << 10,
            max_segments: 128,
            segment_bytes: 4_096,
            transfer_bytes: 0,
        },
        cache: None,
        head: None,
    }
}

pub fn datagrams(
    name: &str,
    source: &str,
    destination: &str,
    bytes: u64,
    interarrival: RawDistribution,
) -> Drawn<RawDatagrams> {
    let body = RawDatagrams {
        source: source.into(),
        destination: destination.into(),
        sizes: RawDistribution::Constant(bytes),
        interarrival,
        count: 0,
        send_buffer_bytes: None,
    };
    Drawn { header: header(name), body }
}

/// Frames of `payload` bytes behind their headers, sent by threads that need this long for each
/// under the lock.
pub fn frames(
    name: &str,
    source: &str,
    destination: &str,
    payload: u32,
    threads: u32,
    locked_ps: u64,
) -> Drawn<RawFrames> {
    let body = RawFrames {
        source: source.into(),
        destination: destination.into(),
        payload_bytes: payload,
        threads,
        delay_ps: 0,
        interval_ps: 0,
        cost: RawDistribution::Constant(0),
        locked: RawDistribution::Constant(locked_ps),
        count: 0,
    };
    Drawn { header: header(name), body }
}

/// Bytes on the wire of a datagram with this payload: UDP, IP and Ethernet headers, and 24 bytes
/// around the frame.
pub fn wire_bytes(payload: u64) -> u64 {
    payload + 8 + 20 + 14 + 24
}

/// Flows of `sizes` bytes between these hosts.
pub fn flows_between(
    name: &str,
    hosts: [Vec<String>; 2],
    sizes: RawDistribution,
    interarrival: RawDistribution,
    flows: u64,
) -> Drawn<RawFlows> {
    let [sources, destinations] = hosts;
    Drawn {
        header: header(name),
        body: RawFlows { sources, destinations, sizes, interarrival, flows },
    }
}

pub fn stream(
    name: &str,
    source: &str,
    destination: &str,
    connections: u32,
    bytes: u64,
) -> Drawn<RawStream> {
    let body = RawStream {
        source: source.into(),
        destination: destination.into(),
        connections,
        bytes,
        stagger_ps: 10 * US,
        rate_bps: 0,
        write_bytes: 0,
        pin_forward: vec![],
        pin_backward: vec![],
    };
    Drawn { header: header(name), body }
}

pub fn oltp(
    name: &str,
    client: &str,
    server: &str,
    users: u32,
    transactions: u64,
    response_bytes: u64,
) -> Drawn<RawOltp> {
    let body = RawOltp {
        client: client.into(),
        server: server.into(),
        users,
        transactions,
        warmup_transactions: 0,
        round_trips: vec![RawRoundTrip {
            request_bytes: 100,
            response_bytes,
            server_work_ps: 0,
            server_time: RawDistribution::Constant(100 * US),
            write_bytes: 0,
            build_fs_per_byte: 0,
            produce_fs_per_byte: 0,
            consume_fs_per_byte: 0,
            consume_chunk_bytes: 65_536,
            unpack_fs_per_byte: 0,
        }],
        gap: RawDistribution::Uniform { low: 6_500 * US, high: 7_500 * US },
        gap_from: RawGapFrom::End,
        start: RawDistribution::Uniform { low: 0, high: 10 * MS },
        connects_early: false,
    };
    Drawn { header: header(name), body }
}

/// Requests of so many users without pauses; with none, requests that arrive at random every
/// millisecond.
pub fn requests(name: &str, client: &str, server: &str, users: u32) -> Drawn<RawRequests> {
    let body = RawRequests {
        clients: vec![client.into()],
        servers: vec![server.into()],
        is_random: false,
        is_udp: false,
        is_kept: true,
        users,
        gap: RawDistribution::Constant(0),
        arrivals: (users == 0).then_some(RawDistribution::Exponential { mean: MS }),
        spikes: vec![],
        connections: 0,
        pipeline: 1,
        requests: 0,
        request: RawDistribution::Constant(200),
        response: RawDistribution::Constant(800),
        service: serving(RawDistribution::Constant(0), 0),
        timeout_ps: 0,
        retries: 0,
        stages: vec![],
    };
    Drawn { header: header(name), body }
}

/// Blocks of 8 KiB that so many users of the first node ask the others for, one for each
/// transaction, without pauses; with none, transactions that arrive at random every millisecond.
pub fn blocks(name: &str, nodes: &[&str], users: u32) -> Drawn<RawBlocks> {
    let nodes: Vec<String> = nodes.iter().map(|&node| node.into()).collect();
    let body = RawBlocks {
        clients: vec![nodes[0].clone()],
        nodes,
        users,
        gap: RawDistribution::Constant(0),
        arrivals: (users == 0).then_some(RawDistribution::Exponential { mean: MS }),
        spikes: vec![],
        transactions: 0,
        blocks_milli: 1_000,
        messages_milli: 0,
        is_parallel: false,
        block: RawDistribution::Constant(8_192),
        message: RawDistribution::Constant(200),
        block_service: serving(RawDistribution::Constant(0), 0),
        message_service: serving(RawDistribution::Constant(0), 0),
        timeout_ps: 500 * MS,
        retries: 3,
    };
    Drawn { header: header(name), body }
}

/// Ranks at these hosts, of which nothing but the network takes time.
pub fn mpi(
    name: &str,
    pattern: MpiPattern,
    ranks: &[&str],
    sizes: &[u64],
    iterations: u64,
) -> Drawn<RawMpi> {
    let body = RawMpi {
        pattern,
        ranks: ranks.iter().map(|&rank| rank.into()).collect(),
        sizes_bytes: sizes.to_vec(),
        iterations: vec![iterations; sizes.len()],
        warm_up_iterations: 10,
        compute: RawDistribution::Constant(0),
        algorithm: None,
        eager_limit_bytes: 65_480,
        send_overhead_ps: 0,
        receive_overhead_ps: 0,
        copy_bps: 0,
        combine_bps: 0,
        local_latency_ps: US,
        local_bps: 0,
    };
    Drawn { header: header(name), body }
}

/// A server that takes this time for a request, and serves so many at once.
pub fn serving(time: RawDistribution, concurrency: u32) -> RawServing {
    RawServing { time, work: RawDistribution::Constant(0), concurrency }
}

/// A request to each of these servers, which take this time.
pub fn stage(servers: &[&str], time: RawDistribution) -> RawStage {
    RawStage {
        servers: servers.iter().map(|&server| server.into()).collect(),
        request: RawDistribution::Constant(100),
        response: RawDistribution::Constant(100),
        service: serving(time, 0),
        count: 1,
        is_parallel: true,
        awaited: 0,
        stages: vec![],
    }
}

/// Switches off everything in a host that gathers frames or delays their processing: each frame is
/// one event.
pub fn bare(host: &mut RawHost) {
    host.nic.tso_bytes = 0;
    host.nic.gro_bytes = 0;
    prompt(host);
}

/// Switches off what delays the processing of received frames.
pub fn prompt(host: &mut RawHost) {
    host.nic.rx_coalesce_ps = 0;
    host.nic.rx_jitter = RawDistribution::Constant(0);
}
