//! Data-centre bridging of random plans: traps, pauses, groups, policers, shapers, notifications,
//! rules.

use crate::common::*;
use proptest::prelude::*;
use tailrace_plan::*;

/// Bytes that a group sets aside, at most; a limit for twelve ports of three groups follows from
/// it.
const SET_ASIDE_MAX: u64 = 13_000;
const SET_ASIDE_OF_SWITCH: u64 = 12 * 3 * SET_ASIDE_MAX;

/// The settings of one policy beyond queues and prioritisation.
#[derive(Clone, Debug)]
pub struct Bridging {
    etrap: Option<RawEtrap>,
    pause: Option<RawPause>,
    groups: Vec<RawGroup>,
    police: Option<RawPolice>,
    /// For the queues, in turn: fair drop, ceiling, floor and reserve, congestion point.
    queues: Vec<Extras>,
}

#[derive(Clone, Debug)]
struct Extras {
    afd: Option<(u64, bool)>,
    shape: Option<(u64, u64)>,
    reserved_bytes: u64,
    qcn: Option<u64>,
}

fn extras() -> impl Strategy<Value = Extras> {
    let afd = proptest::option::weighted(0.4, (3_000_u64..60_000, any::<bool>()));
    let shape = proptest::option::weighted(0.3, (50_000_000_u64..900_000_000, 0_u64..100));
    let qcn = proptest::option::weighted(0.4, 2_000_u64..30_000);
    (afd, shape, prop_oneof![Just(0), 0_u64..5_000], qcn).prop_map(
        |(afd, shape, reserved_bytes, qcn)| Extras {
            afd,
            shape: shape.map(|(most, percent)| (most, most * percent / 100)),
            reserved_bytes,
            qcn,
        },
    )
}

fn etrap() -> impl Strategy<Value = RawEtrap> {
    (2_000_u64..40_000, 100_u64..2_000).prop_map(|(byte_count, age_us)| RawEtrap {
        byte_count,
        age_ps: age_us * US,
        bandwidth_threshold_bytes: 500,
        table_entries: 16,
        afd_period_ps: age_us * US / 2,
    })
}

fn pause() -> impl Strategy<Value = RawPause> {
    let watchdog = proptest::option::weighted(0.4, (200_u64..3_000, 100_u64..3_000));
    (any::<u8>(), proptest::bool::weighted(0.2), 0_u64..3, watchdog).prop_map(
        |(obeys, is_link, response_us, watchdog)| RawPause {
            obeys,
            obeys_link_pause: is_link,
            response_ps: response_us * US,
            quanta: u16::MAX,
            sends_link_pause: is_link,
            watchdog: watchdog.map(|(detection, restoration)| RawWatchdog {
                detection_ps: detection * US,
                restoration_ps: restoration * US,
            }),
        },
    )
}

/// Two lossless groups and a lossy one.
fn groups() -> impl Strategy<Value = Vec<RawGroup>> {
    let limit = || {
        prop_oneof![
            (2_000_u64..40_000).prop_map(RawLimit::Bytes),
            (100_u32..2_000).prop_map(RawLimit::AlphaMilli)
        ]
    };
    let headroom = prop_oneof![Just(0), 0_u64..10_000];
    let lossy = prop_oneof![
        (20_000_u64..200_000).prop_map(RawLimit::Bytes),
        (500_u32..8_000).prop_map(RawLimit::AlphaMilli)
    ];
    (any::<u8>(), limit(), headroom, 0_u64..3_000, 0_u64..20_000, lossy).prop_map(
        |(split, own, headroom, reserved, xon, lossy)| {
            let lossless = Some(RawLossless { xon_offset_bytes: xon, headroom_bytes: headroom });
            let group = |priorities, limit, lossless| RawGroup {
                priorities,
                reserved_bytes: reserved,
                limit,
                lossless,
            };
            let (first, second) = (split & 0b0011_1000, !split & 0b0011_1000);
            let all = [
                group(first, own, lossless),
                group(second, own, lossless),
                group(0b1100_0111, lossy, None),
            ];
            all.into_iter().filter(|group| group.priorities != 0).collect()
        },
    )
}

/// Nothing at all for half of the policies, so that plain switches stay in the mix.
pub fn bridging() -> impl Strategy<Value = Option<Bridging>> {
    let police = (0_u8..=255, 20_000_000_u64..900_000_000, 20_000_u64..200_000, any::<bool>());
    let police = police.prop_map(|(classes, rate_bps, burst_bytes, per_flow)| RawPolice {
        classes,
        rate_bps,
        burst_bytes,
        per_flow,
    });
    let pausing = proptest::option::weighted(0.7, (pause(), groups()));
    let all = (
        proptest::option::weighted(0.6, etrap()),
        pausing,
        proptest::option::weighted(0.2, police),
        proptest::collection::vec(extras(), 4),
    );
    let all = all.prop_map(|(etrap, pausing, police, queues)| {
        let (pause, groups) =
            pausing.map_or((None, vec![]), |(pause, groups)| (Some(pause), groups));
        Bridging { etrap, pause, groups, police, queues }
    });
    proptest::option::of(all)
}

impl Bridging {
    /// Gives a policy what this is. The last queue is left alone: it may be the express queue,
    /// whose limit is small.
    pub fn shape(self, policy: &mut RawPolicy) {
        let count = policy.queues.len() - usize::from(policy.dpp.is_some());
        for (queue, extras) in policy.queues.iter_mut().take(count).zip(self.queues) {
            if let (Some((desired_bytes, ecn)), true) = (extras.afd, self.etrap.is_some()) {
                queue.aqm = RawAqm::Afd { desired_bytes, ecn };
            }
            (queue.shape_max_bps, queue.shape_min_bps) = extras.shape.unwrap_or((0, 0));
            queue.reserved_bytes = extras.reserved_bytes;
            queue.qcn = extras.qcn.map(|set_point_bytes| RawQcn { set_point_bytes, weight: 2 });
        }
        (policy.etrap, policy.pause, policy.groups, policy.police) =
            (self.etrap, self.pause, self.groups, self.police);
    }
}

/// The buffer of a switch with what its groups set aside.
pub fn with_set_aside(buffer_bytes: u64, policy: &RawPolicy) -> u64 {
    if policy.groups.is_empty() { buffer_bytes } else { buffer_bytes + SET_ASIDE_OF_SWITCH }
}

/// None, or two classes that leave a priority to the first: both with shares, or the second strict.
fn traffic_classes() -> impl Strategy<Value = Vec<RawNicClass>> {
    let class =
        |name: &str, priorities, service| RawNicClass { name: name.into(), priorities, service };
    prop_oneof![
        2 => Just(vec![]),
        1 => (1_u32..7, 1_u32..1_000, any::<bool>()).prop_map(move |(cut, weight, is_strict)| {
            let service = if is_strict { RawService::Strict(1) } else { RawService::Dwrr(1_000 - weight) };
            vec![class("low", (1_u8 << cut) - 1, RawService::Dwrr(weight)), class("high", 0x7f & !((1_u8 << cut) - 1), service)]
        }),
    ]
}

/// An interface that obeys some pauses and may have limiters and a storm that ends.
pub fn interface() -> impl Strategy<Value = Option<RawNicLossless>> {
    let storm = proptest::option::weighted(0.1, (any::<u8>(), 0_u64..8, 1_u64..8));
    let qcn = proptest::option::of((100_u64..15_000, 5_000_u64..150_000));
    let obedient = (any::<u8>(), any::<bool>(), 0_u64..3, qcn, storm, traffic_classes()).prop_map(
        |(obeys, link, response_us, qcn, storm, classes)| RawNicLossless {
            obeys,
            obeys_link_pause: link,
            response_ps: response_us * US,
            qcn: qcn.map(|(timer_us, byte_counter)| RawQcnReaction {
                timer_ps: timer_us * US,
                byte_counter,
                active_increase_bps: 5_000_000,
                hyper_increase_bps: 50_000_000,
                rate_min_bps: 10_000_000,
            }),
            storm: storm.map(|(priorities, from_ms, length_ms)| RawStorm {
                priorities,
                from_ps: from_ms * MS,
                until_ps: (from_ms + length_ms) * MS,
            }),
            classes,
        },
    );
    proptest::option::of(obedient)
}

/// A rule for a code point, a protocol or a host's frames.
pub fn rule() -> impl Strategy<Value = RawRule> {
    (0_u8..8, 0_u8..3).prop_map(|(class, kind)| match kind {
        0 => RawRule { class, pcp: Some(vec![class / 2, 7 - class / 2]), ..RawRule::default() },
        1 => RawRule {
            class,
            protocol: Some(if class % 2 == 0 { 6 } else { 17 }),
            ..RawRule::default()
        },
        _ => RawRule { class, source: Some("h0".into()), ..RawRule::default() },
    })
}
