//! Random plans: any graph, any policy, any work, small enough to run by the hundred.

use crate::common::*;
use crate::random_bridging::{bridging, interface, rule, with_set_aside};
use proptest::prelude::*;
use tailrace_plan::*;

/// Most hosts and switches of a random plan.
const HOSTS: usize = 6;
const SWITCHES: usize = 4;

prop_compose! {
    /// A connected graph: a tree of switches with some links more, hosts anywhere.
    pub fn plans()(
        hosts in proptest::collection::vec((0..SWITCHES, 0_u64..4, host_kind()), 2..=HOSTS),
        switches in proptest::collection::vec((0..SWITCHES, any::<bool>(), 20_000_u64..400_000, policy(), rules()), 1..=SWITCHES),
        extra in proptest::collection::vec((0..SWITCHES, 0..SWITCHES), 0..3),
        work in proptest::collection::vec(work(), 1..5),
        (seed, clock_offset_ppb) in (0_u64..1_000, prop_oneof![Just(0), Just(50_000_u32), Just(1_000_000)]),
    ) -> RawPlan {
        let count = switches.len();
        let mut plan = star(hosts.len(), 1500, GBPS, US, switch("s0", 1, fifo(1)));
        (plan.seed, plan.clock_offset_ppb, plan.stop_at_ps) = (seed, clock_offset_ppb, 20 * MS);
        plan.links.clear();
        plan.observe.ports.clear();
        plan.switches = switches.iter().enumerate().map(|(i, (_, cuts, buffer, policy, rules))| {
            let mut node = switch(&format!("s{i}"), with_set_aside(*buffer, policy), policy.clone());
            node.classify = rules.clone();
            for queue in &mut node.policy.queues {
                if let RawLimit::Bytes(most) = &mut queue.limit {
                    *most = (*most).min(*buffer);
                }
            }
            if *cuts {
                node.switching = RawSwitching::CutThrough;
            }
            node
        }).collect();
        let mut joined: Vec<(usize, usize)> = (1..count).map(|i| (switches[i].0 % i, i)).collect();
        joined.extend(extra.iter().map(|&(a, b)| (a % count, b % count)).filter(|(a, b)| a != b));
        joined.iter_mut().for_each(|pair| *pair = (pair.0.min(pair.1), pair.0.max(pair.1)));
        joined.sort_unstable();
        joined.dedup();
        plan.links.extend(joined.iter().map(|(a, b)| link(&format!("s{a}"), &format!("s{b}"), 2 * GBPS, 2 * US)));
        for (i, (at, speed, kind)) in hosts.iter().enumerate() {
            let rate = GBPS << speed;
            plan.links.push(link(&format!("h{i}"), &format!("s{}", at % count), rate, US));
            kind.shape(&mut plan.hosts[i]);
        }
        plan.observe.ports.push(("s0".into(), neighbour(&plan.links)));
        let names: Vec<String> = plan.hosts.iter().map(|host| host.name.clone()).collect();
        plan.workloads = work.iter().enumerate().map(|(i, work)| work.place(i, &names)).collect();
        if seed % 2 == 1 {
            add_vlans(&mut plan);
        }
        if seed % 5 == 2 {
            add_mtus(&mut plan);
        }
        if seed % 7 < 2 {
            add_loss(&mut plan);
        }
        plan
    }
}

/// Every third workload has no VLAN, the others one of two; those have trees of their own in half
/// of the plans, which are chosen apart in a quarter.
fn add_vlans(plan: &mut RawPlan) {
    for (work, vlan) in plan.workloads.iter_mut().zip([0, 10, 20].into_iter().cycle()) {
        work.header.vlan = vlan;
    }
    if plan.seed % 4 == 1 {
        let tree = |instance: u16, vlans: Vec<u16>| RawTree {
            instance,
            vlans,
            bridge_priority: (0..plan.switches.len())
                .map(|at| 4096 * ((at as u16 + instance) % 3))
                .collect(),
            path_cost: vec![2_000; plan.links.len()],
            port_priority: vec![(128, 128); plan.links.len()],
        };
        let trees = vec![tree(0, vec![]), tree(1, vec![10]), tree(2, vec![20])];
        plan.spanning_tree = Some(RawSpanningTree { trees, disjoint: plan.seed % 8 == 1 });
    }
}

/// The first link loses a frame in twenty.
fn add_loss(plan: &mut RawPlan) {
    (plan.links[0].loss_ppb, plan.links[0].loses_later_fragments) =
        (50_000_000, plan.seed.is_multiple_of(2));
}

/// The first switch is too small for full segments, at all ports or towards one neighbour.
fn add_mtus(plan: &mut RawPlan) {
    let towards = neighbour(&plan.links);
    let first = &mut plan.switches[0];
    first.mtu_bytes = (plan.seed.is_multiple_of(2)).then_some(1_400);
    first.port_mtus = vec![RawPortMtu { towards, mtu_bytes: 700 }];
}

fn neighbour(links: &[RawLink]) -> String {
    let of = |link: &RawLink| match (link.a.as_str(), link.b.as_str()) {
        ("s0", other) | (other, "s0") => Some(other.to_owned()),
        _ => None,
    };
    links.iter().find_map(of).expect("a connected switch has a link")
}

/// How a host differs from the usual one.
#[derive(Clone, Debug)]
pub struct HostKind {
    congestion_control: RawCongestionControl,
    is_bare: bool,
    sack: bool,
    per_packet_ps: u64,
    ring_frames: u32,
    lossless: Option<RawNicLossless>,
    cores: u32,
}

fn host_kind() -> impl Strategy<Value = HostKind> {
    let control = prop_oneof![
        Just(RawCongestionControl::Cubic),
        Just(RawCongestionControl::NewReno),
        Just(RawCongestionControl::Dctcp),
        Just(RawCongestionControl::Bbr)
    ];
    let ring = prop_oneof![4 => Just(4_096), 1 => Just(6_u32)];
    let core = (
        prop_oneof![Just(0), Just(500_000_u64)],
        prop_oneof![2 => Just(0_u32), 1 => Just(1), 1 => Just(2), 1 => Just(3)],
    );
    (control, any::<bool>(), proptest::bool::weighted(0.8), core, ring, interface()).prop_map(
        |(congestion_control, is_bare, sack, (per_packet_ps, cores), ring_frames, lossless)| {
            HostKind {
                congestion_control,
                is_bare,
                sack,
                per_packet_ps,
                ring_frames,
                lossless,
                cores,
            }
        },
    )
}

impl HostKind {
    fn shape(&self, host: &mut RawHost) {
        if self.is_bare {
            bare(host);
        }
        host.tcp.congestion_control = self.congestion_control;
        (host.tcp.ecn, host.tcp.sack) = (true, self.sack);
        host.tcp.rto_min_ps = 5 * MS;
        (host.cpu.per_packet_ps, host.nic.rx_ring_frames) = (self.per_packet_ps, self.ring_frames);
        host.nic.lossless = self.lossless.clone();
        (host.cpu.program_cores, host.cpu.time_slice_ps) = (self.cores, MS);
        if self.cores > 1 {
            host.cpu.processor = Some(Box::new(self.processor(self.cores - 1)));
        }
        if self.cores > 0 {
            // A window that a slow reader closes.
            host.tcp.receive_buffer =
                RawSocketBuffer { initial_bytes: 20_000, maximum_bytes: 20_000 };
        }
    }
}

impl HostKind {
    /// Costs of different sizes, from those of the host: what is zero in one plan is not in
    /// another.
    fn processor(&self, cores: u32) -> RawProcessor {
        let unit = self.per_packet_ps;
        let steal = RawSteal { slice_ps: MS, every_ps: 7 * MS };
        let group = RawControlGroup {
            name: "own".into(),
            workloads: vec!["w0".into()],
            cores: vec![0],
            nice: 3,
            quota_ps: Some(2 * MS),
            period_ps: Some(5 * MS),
        };
        RawProcessor {
            cores,
            slice_ps: MS,
            per_frame_ps: unit / 2,
            per_poll_ps: unit / 4,
            per_interrupt_ps: unit,
            per_send_ps: unit / 2,
            system_call_ps: unit / 4,
            read_byte_fs: unit / 10_000,
            write_byte_fs: unit / 20_000,
            wake_up_ps: unit / 4,
            idle_exit_ps: unit,
            context_switch_ps: unit / 2,
            irq_cores: vec![0, cores - 1],
            program_cores: (0..cores).collect(),
            budget_frames: 100,
            budget_ps: 8 * MS,
            steal: self.sack.then_some(steal),
            groups: if self.is_bare { vec![group] } else { Vec::new() },
        }
    }
}

fn aqm() -> impl Strategy<Value = RawAqm> {
    prop_oneof![
        3 => Just(RawAqm::None),
        1 => (3_000_u64..60_000).prop_map(|threshold_bytes| RawAqm::Step { threshold_bytes }),
        1 => (3_000_u64..30_000, any::<bool>(), any::<bool>()).prop_map(|(minimum_bytes, ecn, gentle)| RawAqm::Red {
            not_capable: None,
            minimum_bytes, maximum_bytes: 3 * minimum_bytes, probability_milli: 100, weight_exponent: 2, ecn, gentle,
        }),
        1 => any::<bool>().prop_map(|ecn| RawAqm::Codel { target_ps: 50 * US, interval_ps: MS, ecn, ce_threshold_ps: 0 }),
    ]
}

fn limit() -> impl Strategy<Value = RawLimit> {
    prop_oneof![
        (10_000_u64..200_000).prop_map(RawLimit::Bytes),
        (8_u32..100).prop_map(RawLimit::Frames),
        (250_u32..8_000).prop_map(RawLimit::AlphaMilli),
    ]
}

fn rules() -> impl Strategy<Value = Vec<RawRule>> {
    prop_oneof![2 => Just(vec![]), 1 => proptest::collection::vec(rule(), 1..3)]
}

fn policy() -> impl Strategy<Value = RawPolicy> {
    let service = prop_oneof![
        (2_u8..5).prop_map(RawService::Strict),
        (1_u32..=1_000).prop_map(RawService::Dwrr)
    ];
    let queues = proptest::collection::vec((service, limit(), aqm()), 1..4);
    let dpp = proptest::option::of((1_u32..20, any::<bool>(), any::<bool>()));
    (queues, any::<[u8; 8]>(), dpp, bridging()).prop_map(|(queues, map, dpp, bridging)| {
        let count = queues.len() as u8;
        let named = |(i, (service, limit, aqm))| RawQueue {
            limit,
            aqm,
            ..queue(&format!("q{i}"), service, 1)
        };
        let mut queues: Vec<RawQueue> = queues.into_iter().enumerate().map(named).collect();
        let total: u32 = queues
            .iter()
            .map(|queue| if let RawService::Dwrr(weight) = queue.service { weight } else { 0 })
            .sum();
        // Weights are thousandths of the whole.
        for queue in &mut queues {
            if let RawService::Dwrr(weight) = &mut queue.service {
                *weight = (*weight * 1_000 / total).max(1);
            }
        }
        let dpp = dpp.map(|(max_packets, is_naive, evicts)| {
            queues.push(queue("express", RawService::Strict(1), 30_000));
            RawDpp {
                max_packets,
                age_ps: MS,
                express_queue: count,
                reset: if is_naive { RawDppReset::Naive } else { RawDppReset::OrderSafe },
                table_entries: 16,
                classes: u8::MAX,
                when_full: if evicts { RawTableFull::EvictOldest } else { RawTableFull::Untracked },
            }
        });
        let mut policy =
            RawPolicy { dpp, ..crate::common::policy(queues, map.map(|queue| queue % count)) };
        if let Some(bridging) = bridging {
            bridging.shape(&mut policy);
        }
        policy
    })
}

/// A piece of work between two hosts.
#[derive(Clone, Debug)]
pub struct Work {
    ends: (usize, usize),
    kind: u8,
    amount: u64,
    bytes: u64,
    priority: u8,
}

fn work() -> impl Strategy<Value = Work> {
    ((0..HOSTS, 1..HOSTS), 0_u8..4, 1_u64..12, 1_u64..60_000, 0_u8..8).prop_map(
        |(ends, kind, amount, bytes, priority)| Work { ends, kind, amount, bytes, priority },
    )
}

impl Work {
    fn place(&self, number: usize, hosts: &[String]) -> RawWorkload {
        let from = self.ends.0 % hosts.len();
        let to = (from + 1 + self.ends.1 % (hosts.len() - 1)) % hosts.len();
        let (source, destination) = (&hosts[from], &hosts[to]);
        let name = format!("w{number}");
        match self.kind {
            0 => {
                let mut work = oltp(
                    &name,
                    source,
                    destination,
                    1 + self.amount as u32 / 3,
                    self.amount,
                    self.bytes,
                );
                (work.header.priority, work.gap) =
                    (self.priority, RawDistribution::Exponential { mean: 300 * US });
                let trip = &mut work.round_trips[0];
                (trip.consume_fs_per_byte, trip.consume_chunk_bytes) =
                    (self.amount % 3 * 20_000_000, 5_000);
                (trip.build_fs_per_byte, trip.unpack_fs_per_byte) =
                    (self.amount % 2 * 1_000_000, self.amount % 5 * 1_000_000);
                (work.round_trips[0].write_bytes, work.start) =
                    (self.bytes as u32 / 2, RawDistribution::Constant(0));
                RawWorkload::from(work)
            }
            1 => {
                let mut work =
                    stream(&name, source, destination, 1 + self.amount as u32 / 4, self.bytes * 10);
                work.header.priority = self.priority;
                RawWorkload::from(work)
            }
            2 => {
                let mut work = flows_between(
                    &name,
                    [hosts.to_vec(), hosts.to_vec()],
                    RawDistribution::Exponential { mean: self.bytes },
                    RawDistribution::Exponential { mean: 200 * US },
                    4 * self.amount,
                );
                work.header.priority = self.priority;
                RawWorkload::from(work)
            }
            _ => {
                let gap = RawDistribution::Exponential { mean: 20 * US };
                // Every fifth in fragments.
                let most = if self.amount.is_multiple_of(5) { 9_000 } else { 1_472 };
                let mut work = datagrams(&name, source, destination, self.bytes % most + 1, gap);
                (work.count, work.header.priority) = (50 * self.amount, self.priority);
                RawWorkload::from(work)
            }
        }
    }
}
