"""Lowers switches and their policies.

Unused parts of a scenario are omitted from the plan, where their default means "none".
"""

from typing import Any

from tailrace.scenario.lowering.pause import ALL, Port, lower_pausing, lower_police, mask
from tailrace.scenario.lowering.services import Service, lower_services
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.aqm.kinds import lower_aqm
from tailrace.scenario.policies.classify import PROTOCOLS, Rule
from tailrace.scenario.policies.etrap import Etrap
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.switch import Dpp, Policy, Queue, Switch
from tailrace.scenario.scenario import Scenario

Raw = dict[str, Any]


Lowered = dict[tuple[object, ...], Raw]
"""Lowered policies by their inputs: the ports of a network have few different ones."""


def lower_switch(
    name: str, switch: Switch, scenario: Scenario, graph: Graph, lowered: Lowered
) -> Raw:
    """One switch with the policies of its ports; `lowered` has those of other switches, and these
    are added."""
    neighbours = list(dict.fromkeys(graph.neighbours(name)))
    used = {towards: switch.ports.get(towards, switch.policy) for towards in neighbours}
    is_accounted = any(_found(scenario, policy).pausing for policy in set(used.values()))

    def lower(policy_name: str, towards: str) -> Raw:
        port = Port(name, towards, switch, scenario, graph)
        # Pauses depend on a port's rate and cable: such a port gets a separate policy in the plan.
        key = (policy_name, *(port.surroundings if is_accounted else ()))
        if key not in lowered:
            lowered[key] = _policy(_found(scenario, policy_name), port, is_accounted=is_accounted)
        return lowered[key]

    usual = lower(
        switch.policy,
        next(t for t in [*neighbours, ""] if used.get(t, switch.policy) == switch.policy),
    )
    ports = {towards: lower(policy, towards) for towards, policy in used.items()}
    own = {
        t: policy
        for t, policy in ports.items()
        if t in switch.ports or (policy is not usual and policy != usual)
    }
    classify = {"classify": [_rule(rule) for rule in switch.classify]} if switch.classify else {}
    return {
        "name": name,
        "switching": switch.switching,
        "latency_ps": 0 if name in scenario.hypervisors else switch.latency,
        "buffer_bytes": switch.buffer,
        **classify,
        "policy": usual,
        "port_policies": [
            {"towards": towards, "policy": policy} for towards, policy in own.items()
        ],
        **_mtus(switch, neighbours),
    }


def _mtus(switch: Switch, neighbours: list[str]) -> Raw:
    own = [
        {"towards": towards, "mtu_bytes": mtu}
        for towards, mtu in switch.port_mtu.items()
        if towards in neighbours
    ]
    usual = {} if switch.mtu is None else {"mtu_bytes": switch.mtu}
    return usual | ({"port_mtus": own} if own else {})


def _found(scenario: Scenario, name: str) -> Policy:
    found = scenario.policy(name)
    assert found is not None, "checks reject unknown policies"
    return found


def _rule(rule: Rule) -> Raw:
    stated: Raw = {
        key: value for key in Rule.model_fields if (value := getattr(rule, key)) is not None
    }
    stated["class"] = stated.pop("class_")
    if rule.protocol is not None:
        stated["protocol"] = PROTOCOLS[rule.protocol]
    for key in ("source_port", "destination_port"):
        if key in stated:
            stated[key] = list(stated[key])
    return stated


def _policy(policy: Policy, port: Port, *, is_accounted: bool) -> Raw:
    names = list(policy.queues)
    services = lower_services(policy.queues)
    raw: Raw = {
        "queues": [_queue(name, queue, services[name]) for name, queue in policy.queues.items()],
        "queue_of_priority": [names.index(policy.queue_of(priority)) for priority in range(8)],
        "dpp": _dpp(policy.dpp, names) if policy.dpp else None,
    }
    if policy.trap is not None:
        raw["etrap"] = _etrap(policy.trap)
    if is_accounted:
        raw |= lower_pausing(policy, port)
    if policy.police is not None:
        raw["police"] = lower_police(policy.police)
    return raw


def _queue(name: str, queue: Queue, service: Service) -> Raw:
    raw: Raw = {
        "name": name,
        "service": service,
        "limit": lower_limit(queue.limit),
        "aqm": lower_aqm(queue.aqm),
    }
    if queue.reserved:
        raw["reserved_bytes"] = queue.reserved
    if queue.shape is not None:
        raw |= {
            f"shape_{end}_bps": rate
            for end in ("min", "max")
            if (rate := getattr(queue.shape, end)) is not None
        }
    if queue.qcn is not None:
        raw["qcn"] = {"set_point_bytes": queue.qcn.set_point, "weight": queue.qcn.weight}
    return raw


def lower_limit(limit: Limit) -> Raw:
    """A limit under the name of its unit."""
    return {limit.unit: limit.amount}


def _etrap(etrap: Etrap) -> Raw:
    age_ps, afd_period_ps = etrap.periods_ps()
    return {
        "byte_count": etrap.byte_count,
        "age_ps": age_ps,
        "bandwidth_threshold_bytes": etrap.bandwidth_threshold,
        "table_entries": etrap.table_entries,
        "afd_period_ps": afd_period_ps,
    }


def _dpp(dpp: Dpp, queue_names: list[str]) -> Raw:
    classes = mask(dpp.priorities)
    return {
        "max_packets": dpp.max_packets,
        "age_ps": dpp.age,
        "express_queue": queue_names.index(dpp.express),
        "reset": dpp.reset,
        "table_entries": dpp.table_entries,
        "when_full": dpp.when_full,
        **({} if classes == ALL else {"classes": classes}),
    }
