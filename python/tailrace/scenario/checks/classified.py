"""The class of a workload's frames at a switch, as far as it is known before the run."""

from collections.abc import Iterator

from tailrace.scenario.policies.classify import Rule
from tailrace.scenario.policies.switch import Switch
from tailrace.scenario.workloads.base import WorkloadKind


def class_of(workload: WorkloadKind, sender: str, switch: Switch) -> int | None:
    """Class of the frames that `sender` sends directly into this switch; None where it depends on addresses or
    ports.
    """
    stated = {"pcp": workload.priority, "dscp": workload.dscp, "vlan": workload.vlan}
    for rule in switch.classify:
        if any(getattr(rule, key) is not None and value not in getattr(rule, key) for key, value in stated.items()):
            continue
        if any(getattr(rule, key) not in (None, sender) for key in ("ingress", "source")):
            continue
        if rule.protocol is not None and (rule.protocol == "udp") != (workload.facts().protocol == "udp"):
            continue
        return None if any(_further_keys(rule)) else rule.class_
    return workload.priority


def _further_keys(rule: Rule) -> Iterator[str]:
    """Keys of a rule that cannot be evaluated before the run."""
    decided = {"class_", "pcp", "dscp", "vlan", "ingress", "source", "protocol"}
    return (key for key in Rule.model_fields if key not in decided and getattr(rule, key) is not None)
