//! Checks of the switches of a plan and their policies.

use super::bridging::{check_accounts, check_bridging, check_rule};
use super::hosts::MTU_RANGE;
use crate::error::require;
use crate::graph::{Graph, SwitchIndex};
use crate::{PlanError, RawLimit, RawPolicy, RawService, RawSwitch};
use std::collections::BTreeMap;

/// Most queues of a port (eight on Nexus 9000, as many as priorities in IEEE 802.1Q).
const QUEUES_MAX: usize = 8;
/// All of the weighted bandwidth, in thousandths.
pub(crate) const WEIGHT_MILLI_MAX: u32 = 1000;
/// Slowest average of RED: 2^-15 (the range of NX-OS `random-detect ... weight`, 0 to 15).
const WEIGHT_EXPONENT_MAX: u8 = 15;
/// Fewest entries of a flow table: one set of four.
pub(crate) const TABLE_ENTRIES_MIN: u32 = 4;

/// For each port of each switch the place of its policy among those of its switch; none for the
/// switch's usual one.
#[derive(Clone, Debug)]
pub(super) struct PoliciesOfPorts(Vec<Vec<Option<u32>>>);

impl PoliciesOfPorts {
    /// Ports by the names of their neighbours; of two policies for one neighbour the first holds.
    pub(super) fn new(switches: &[RawSwitch], graph: &Graph) -> PoliciesOfPorts {
        let of_switch = |(index, switch): (SwitchIndex, &RawSwitch)| {
            let named = switch.port_policies.iter().enumerate().rev();
            let own: BTreeMap<&str, u32> =
                named.map(|(location, port)| (port.towards.as_str(), location as u32)).collect();
            let ends = &graph.ports[graph.hosts + index];
            ends.iter().map(|end| own.get(graph.names[end.peer].as_str()).copied()).collect()
        };
        PoliciesOfPorts(switches.iter().enumerate().map(of_switch).collect())
    }

    pub(super) fn of<'a>(
        &self,
        switches: &'a [RawSwitch],
        switch: SwitchIndex,
        port: usize,
    ) -> &'a RawPolicy {
        let raw = &switches[switch];
        self.0[switch][port].map_or(&raw.policy, |own| &raw.port_policies[own as usize].policy)
    }

    /// The policy of every port of a switch.
    pub(super) fn all<'a>(
        &'a self,
        switches: &'a [RawSwitch],
        switch: SwitchIndex,
    ) -> impl Iterator<Item = &'a RawPolicy> {
        (0..self.0[switch].len()).map(move |port| self.of(switches, switch, port))
    }
}

pub(super) fn check_switch(
    switches: &[RawSwitch],
    index: SwitchIndex,
    policies: &PoliciesOfPorts,
    graph: &Graph,
) -> Result<(), PlanError> {
    let (switch, node) = (&switches[index], graph.hosts + index);
    let location = format!("switch {}", switch.name);
    require(switch.buffer_bytes > 0, &location, "buffer_bytes must be above 0")?;
    check_mtus(switch, node, graph, &location)?;
    check_accounts(switch, &policies.all(switches, index).collect::<Vec<_>>())?;
    for (i, rule) in switch.classify.iter().enumerate() {
        check_rule(rule, node, graph, &format!("{location}.classify[{i}]"))?;
    }
    check_policy(&switch.policy, switch.buffer_bytes, &format!("{location}.policy"))?;
    for port in &switch.port_policies {
        let location = format!("{location}.port_policies[{}]", port.towards);
        let neighbour = graph.node(&port.towards, &location)?;
        require(
            graph.port_towards(node, neighbour).is_some(),
            &location,
            "no link joins the switch and this node",
        )?;
        check_policy(&port.policy, switch.buffer_bytes, &location)?;
    }
    Ok(())
}

fn check_mtus(
    switch: &RawSwitch,
    node: usize,
    graph: &Graph,
    location: &str,
) -> Result<(), PlanError> {
    let is_sound = |mtu: u32, location: &str| {
        require(MTU_RANGE.contains(&mtu), location, "mtu_bytes must be 576 to 9216")
    };
    switch.mtu_bytes.map_or(Ok(()), |mtu| is_sound(mtu, location))?;
    for port in &switch.port_mtus {
        let location = format!("{location}.port_mtus[{}]", port.towards);
        let neighbour = graph.node(&port.towards, &location)?;
        require(
            graph.port_towards(node, neighbour).is_some(),
            &location,
            "no link joins the switch and this node",
        )?;
        is_sound(port.mtu_bytes, &location)?;
    }
    Ok(())
}

fn check_policy(policy: &RawPolicy, buffer_bytes: u64, location: &str) -> Result<(), PlanError> {
    let queues = policy.queues.len();
    require((1..=QUEUES_MAX).contains(&queues), location, "a port must have one to eight queues")?;
    check_bridging(policy, location)?;
    let known = policy.queue_of_priority.iter().all(|&queue| usize::from(queue) < queues);
    require(known, location, "queue_of_priority names a queue that does not exist")?;
    for queue in &policy.queues {
        let location = format!("{location}.{}", queue.name);
        match queue.limit {
            RawLimit::Bytes(bytes) => {
                require(
                    bytes > 0 && bytes <= buffer_bytes,
                    &location,
                    "the limit must be above 0 and at most the switch's buffer",
                )?;
            }
            RawLimit::Frames(frames) => {
                require(frames > 0, &location, "the limit must be above 0")?
            }
            RawLimit::AlphaMilli(milli) => require(milli > 0, &location, "alpha must be above 0")?,
        }
        if let RawService::Dwrr(weight) = queue.service {
            require(
                (1..=WEIGHT_MILLI_MAX).contains(&weight),
                &location,
                "a weight must be 1 to 1000 thousandths",
            )?;
        }
        if let crate::RawAqm::Red {
            minimum_bytes,
            maximum_bytes,
            probability_milli,
            weight_exponent,
            ..
        } = queue.aqm
        {
            let sound = minimum_bytes <= maximum_bytes
                && probability_milli <= 1000
                && weight_exponent <= WEIGHT_EXPONENT_MAX;
            require(
                sound,
                &location,
                "red: the minimum must be at most the maximum, the probability at most 1000, and the weight exponent 0 to 15",
            )?;
        }
    }
    let Some(dpp) = &policy.dpp else { return Ok(()) };
    // Served together with a class's queue, or after it, later packets of a flow would overtake its
    // first ones.
    let level = |queue: &crate::RawQueue| match queue.service {
        RawService::Strict(level) => Some(level),
        RawService::Dwrr(_) => None,
    };
    let express = policy.queues.get(usize::from(dpp.express_queue)).and_then(level);
    let others =
        policy.queues.iter().enumerate().filter(|(i, _)| *i != usize::from(dpp.express_queue));
    let is_first = express
        .is_some_and(|own| others.filter_map(|(_, queue)| level(queue)).all(|other| own < other));
    require(
        is_first,
        location,
        "dpp.express_queue must be strict, and served before every other queue",
    )?;
    let sound = dpp.table_entries.is_power_of_two()
        && dpp.table_entries >= TABLE_ENTRIES_MIN
        && dpp.max_packets > 0;
    require(
        sound,
        location,
        "dpp: max_packets must be above 0, and table_entries a power of two of at least 4",
    )
}
