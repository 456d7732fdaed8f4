//! Checks of the parts of data-centre bridging in a plan: groups, pauses, elephant traps, policers,
//! rules, QCN.

use crate::error::require;
use crate::graph::{Graph, NodeId};
use crate::{
    PlanError, RawAqm, RawGroup, RawHost, RawLimit, RawPolicy, RawQueue, RawRule, RawService,
    RawSwitch,
};

/// A trap's sets have four entries.
pub(crate) const TRAP_ENTRIES_MIN: u32 = 4;
/// IEEE8021-CN-MIB: ieee8021CnCpQueueSizeSetPoint is at least 100 octets.
pub(crate) const SET_POINT_MIN: u64 = 100;

/// Ingress accounting: either all ports or none have groups, and their reserved bytes fit the
/// buffer. `policies` by port.
pub(super) fn check_accounts(switch: &RawSwitch, policies: &[&RawPolicy]) -> Result<(), PlanError> {
    let location = format!("switch {}", switch.name);
    let all = switch.port_policies.iter().map(|port| &port.policy).chain([&switch.policy]);
    if all.into_iter().all(|policy| policy.groups.is_empty()) {
        return Ok(());
    }
    require(
        policies.iter().all(|policy| !policy.groups.is_empty()),
        &location,
        "either all ports or no port must have groups",
    )?;
    let set_aside = |group: &RawGroup| {
        group.reserved_bytes + group.lossless.map_or(0, |lossless| lossless.headroom_bytes)
    };
    let total: u64 = policies
        .iter()
        .flat_map(|policy| &policy.groups)
        .map(set_aside)
        .fold(0, u64::saturating_add);
    require(
        total < switch.buffer_bytes,
        &location,
        &format!("groups reserve {total} bytes, which must be less than the buffer"),
    )
}

pub(super) fn check_bridging(policy: &RawPolicy, location: &str) -> Result<(), PlanError> {
    check_groups(&policy.groups, location)?;
    if let Some(trap) = &policy.etrap {
        let sized = trap.table_entries.is_power_of_two() && trap.table_entries >= TRAP_ENTRIES_MIN;
        require(sized, location, "etrap: table_entries must be a power of two of at least 4")?;
        require(
            trap.age_ps > 0 && trap.afd_period_ps > 0,
            location,
            "etrap: age_ps and afd_period_ps must be above 0",
        )?;
    }
    if let Some(pause) = &policy.pause {
        require(pause.quanta > 0, location, "pause: quanta must be 1 to 65 535")?;
        let lasts = pause.watchdog.is_none_or(|watchdog| watchdog.detection_ps > 0);
        require(lasts, location, "pause: the watchdog's detection_ps must be above 0")?;
    }
    if let Some(police) = &policy.police {
        require(
            police.rate_bps > 0 && police.burst_bytes > 0,
            location,
            "police: rate_bps and burst_bytes must be above 0",
        )?;
    }
    policy.queues.iter().try_for_each(|queue| {
        check_queue(queue, policy.etrap.is_some(), &format!("{location}.{}", queue.name))
    })
}

fn check_queue(queue: &RawQueue, has_trap: bool, location: &str) -> Result<(), PlanError> {
    let RawQueue { shape_min_bps, shape_max_bps, .. } = *queue;
    let in_order = shape_max_bps == 0 || shape_min_bps <= shape_max_bps;
    require(in_order, location, "shape_min_bps must not be above shape_max_bps")?;
    if let Some(qcn) = queue.qcn {
        let sound = qcn.set_point_bytes >= SET_POINT_MIN && qcn.weight >= 1;
        require(
            sound,
            location,
            "qcn: set_point_bytes must be at least 100 and weight at least 1",
        )?;
    }
    if let RawAqm::Afd { desired_bytes, .. } = queue.aqm {
        require(has_trap, location, "afd: the port must have an etrap")?;
        require(desired_bytes > 0, location, "afd: desired_bytes must be above 0")?;
    }
    if let RawAqm::Red { not_capable: Some((minimum, maximum, milli)), .. } = queue.aqm {
        let sound = minimum <= maximum && milli <= 1000;
        require(
            sound,
            location,
            "red.not_capable: the minimum must be at most the maximum, and the probability at most 1000",
        )?;
    }
    Ok(())
}

fn check_groups(groups: &[RawGroup], location: &str) -> Result<(), PlanError> {
    if groups.is_empty() {
        return Ok(());
    }
    let covered = groups.iter().fold(0, |all, group| all | group.priorities);
    let counted: u32 = groups.iter().map(|group| group.priorities.count_ones()).sum();
    require(
        covered == u8::MAX && counted == u8::BITS,
        location,
        "groups must cover every priority once",
    )?;
    let in_bytes = groups.iter().all(|group| !matches!(group.limit, RawLimit::Frames(_)));
    require(in_bytes, location, "groups: a limit must be bytes or alpha-milli")
}

pub(super) fn check_rule(
    rule: &RawRule,
    node: NodeId,
    graph: &Graph,
    location: &str,
) -> Result<(), PlanError> {
    let below =
        |values: &Option<Vec<u8>>, end: u8| values.iter().flatten().all(|&value| value < end);
    require(
        rule.class < 8 && below(&rule.pcp, 8),
        location,
        "classes and priorities must be 0 to 7",
    )?;
    require(below(&rule.dscp, 64), location, "code points must be 0 to 63")?;
    if let Some(name) = &rule.ingress {
        let peer = graph.node(name, location)?;
        require(
            graph.port_towards(node, peer).is_some(),
            location,
            &format!("no link joins this switch and {name:?}"),
        )?;
    }
    [&rule.source, &rule.destination]
        .into_iter()
        .flatten()
        .try_for_each(|name| graph.host(name, location).map(drop))
}

pub(super) fn check_interface(host: &RawHost, location: &str) -> Result<(), PlanError> {
    let Some(lossless) = &host.nic.lossless else { return Ok(()) };
    if let Some(qcn) = lossless.qcn {
        let sound = qcn.timer_ps > 0 && qcn.byte_counter > 0 && qcn.rate_min_bps > 0;
        require(
            sound,
            location,
            "nic.lossless.qcn: timer_ps, byte_counter and rate_min_bps must be above 0",
        )?;
    }
    let mut seen = 0;
    for class in &lossless.classes {
        let is_new = class.priorities != 0 && class.priorities & seen == 0;
        require(is_new, location, "nic.lossless.classes: each has priorities of its own")?;
        seen |= class.priorities;
        let is_sound = match class.service {
            RawService::Strict(level) => (1..=8).contains(&level),
            RawService::Dwrr(weight) => (1..=1_000).contains(&weight),
        };
        require(is_sound, location, "nic.lossless.classes: a level is 1 to 8, a weight 1 to 1000")?;
    }
    let lasts = lossless.storm.is_none_or(|storm| storm.from_ps < storm.until_ps);
    require(lasts, location, "nic.lossless.storm: from_ps must be before until_ps")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(priorities: u8) -> RawGroup {
        RawGroup { priorities, reserved_bytes: 0, limit: RawLimit::Bytes(1_000), lossless: None }
    }

    #[test]
    fn groups_cover_every_priority_once() {
        assert!(check_groups(&[group(0b0000_1000), group(0b1111_0111)], "policy").is_ok());
        let refused =
            |groups: &[RawGroup]| check_groups(groups, "policy").expect_err("refused").to_string();
        assert!(refused(&[group(0b0000_1000)]).contains("every priority once"));
        assert!(refused(&[group(0b0000_1000), group(u8::MAX)]).contains("every priority once"));
        let frames = RawGroup { limit: RawLimit::Frames(3), ..group(u8::MAX) };
        assert!(refused(&[frames]).contains("bytes or alpha-milli"));
    }
}
