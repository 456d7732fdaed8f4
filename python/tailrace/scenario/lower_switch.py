"""Switches and their policies as plans hold them."""

from typing import Any

from tailrace.scenario.scenario import Scenario
from tailrace.scenario.switch import Aqm, Codel, Dpp, NoAqm, Policy, Queue, Red, Step, Switch

PPB_PER_MILLE = 10**6

Raw = dict[str, Any]


def lower_switch(name: str, switch: Switch, scenario: Scenario) -> Raw:
    """One switch with the policies of its ports."""

    def policy(policy_name: str) -> Raw:
        found = scenario.policy(policy_name)
        assert found is not None, "checks refuse unknown policies"
        return _policy(found)

    return {
        "name": name,
        "switching": switch.switching,
        "latency_ps": switch.latency,
        "buffer_bytes": switch.buffer,
        "policy": policy(switch.policy),
        "port_policies": [{"towards": towards, "policy": policy(used)} for towards, used in switch.ports.items()],
    }


def _policy(policy: Policy) -> Raw:
    names = list(policy.queues)
    shares = policy.shares()
    return {
        "queues": [_queue(name, queue, shares.get(name, 0)) for name, queue in policy.queues.items()],
        "queue_of_priority": [
            names.index(policy.priorities.get(priority, policy.usual_queue)) for priority in range(8)
        ],
        "dpp": _dpp(policy.dpp, names) if policy.dpp else None,
    }


def _queue(name: str, queue: Queue, share_ppb: int) -> Raw:
    weight = max(1, round(share_ppb / PPB_PER_MILLE))
    limit_key = {"bytes": "bytes", "frames": "frames", "alpha-milli": "alpha-milli"}[queue.limit.unit]
    return {
        "name": name,
        "service": {"dwrr": weight} if queue.strict is None else {"strict": queue.strict},
        "limit": {limit_key: queue.limit.amount},
        "aqm": _aqm(queue.aqm),
    }


def _aqm(aqm: Aqm) -> str | Raw:
    match aqm:
        case NoAqm():
            return "none"
        case Step():
            return {"step": {"threshold_bytes": aqm.threshold}}
        case Red():
            return {
                "red": {
                    "minimum_bytes": aqm.minimum,
                    "maximum_bytes": aqm.maximum,
                    "probability_milli": round(aqm.probability / PPB_PER_MILLE),
                    "weight_exponent": aqm.weight_exponent,
                    "ecn": aqm.ecn,
                }
            }
        case Codel():
            return {
                "codel": {
                    "target_ps": aqm.target,
                    "interval_ps": aqm.interval,
                    "ecn": aqm.ecn,
                    "ce_threshold_ps": aqm.ce_threshold,
                }
            }


def _dpp(dpp: Dpp, queue_names: list[str]) -> Raw:
    return {
        "max_packets": dpp.max_packets,
        "age_ps": dpp.age,
        "express_queue": queue_names.index(dpp.express),
        "reset": dpp.reset,
        "table_entries": dpp.table_entries,
        "when_full": dpp.when_full,
    }
