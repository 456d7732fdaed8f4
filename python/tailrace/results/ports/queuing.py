"""Counters of a port under the names that switches use (Cisco-NX-OS-device.yang, `ipqos_QueuingStats`).

Names without a vendor's counterpart are defined here: mean and largest depths, headroom, QCN, and what a switch drops
before any queue. The state at the end of the trial is what `curr...` and `ingQDepthBytes` tell.
"""

from collections.abc import Callable
from typing import Any

from tailrace.scenario.policies.aqm.kinds import DROP_CAUSES

WATCHDOG_CAUSE = "watchdog"
INGRESS_CAUSES = ("ingress-full", "headroom-full", "policed", "mtu", "line")
"""Drops before a queue was reached."""
PRIORITIES = range(8)

Counters = dict[str, Any]


def port_counters(port: dict[str, Any], policy: dict[str, Any] | None) -> Counters:
    """Everything that a port counted. `policy` is the port's in the plan; without it, settings are left out."""
    if policy is not None and [queue["name"] for queue in policy["queues"]] != [
        queue["name"] for queue in port["queues"]
    ]:
        policy = None  # a foreign switch has different queues
    settings = policy["queues"] if policy else [None] * len(port["queues"])
    classes = policy["queue_of_priority"] if policy else []
    queues = [
        queue_counters(queue, setting) | {"qosGroups": [group for group, own in enumerate(classes) if own == number]}
        for number, (queue, setting) in enumerate(zip(port["queues"], settings, strict=True))
    ]
    return {
        "port": f"{port['node']}>{port['towards']}",
        "rateBps": port["rate_bps"],
        "queues": queues,
        "ingress": [_group(group) for group in port.get("groups") or []],
        "pfc": _pfc(port),
        "elephants": port.get("elephants"),
        "dpp": port.get("dpp"),
        **({"mtuDrops": drops} if (drops := port.get("mtu_drops")) else {}),
    }


def queue_counters(queue: dict[str, Any], setting: dict[str, Any] | None) -> Counters:
    """One queue. Drops are apart by who decided them; `dropPackets` is those that found no room."""
    drops: dict[str, dict[str, int]] = queue["drops"]
    random = [drops[cause] for cause in drops if cause in DROP_CAUSES]
    flushed = drops.get(WATCHDOG_CAUSE, {"frames": 0})
    known = (*DROP_CAUSES, WATCHDOG_CAUSE, *INGRESS_CAUSES)
    tail = [lost for cause, lost in drops.items() if cause not in known]
    qcn = queue.get("qcn")
    return {
        "name": queue["name"],
        "setting": setting,
        "txPackets": queue["tx_frames"],
        "txBytes": queue["tx_bytes"],
        "dropPackets": _sum(tail, "frames"),
        "dropBytes": _sum_known(tail, "bytes"),
        "randDropPackets": _sum(random, "frames"),
        "randDropBytes": _sum_known(random, "bytes"),
        "randEcnMarkedPackets": queue.get("marked_frames"),
        "currQueueDepth": queue.get("depth_bytes"),
        "meanQueueDepth": None if (mean := queue.get("depth_mean_bytes")) is None else round(mean),
        "maxQueueDepth": queue.get("depth_max_bytes"),
        "pfcwdFlushedPackets": flushed["frames"],
        **({"cnmTx": qcn["notifications"], "cnmFbSum": qcn["feedback_sum"]} if qcn else {}),
    }


def switch_counters(switch: dict[str, Any]) -> Counters:
    """What a switch dropped before any queue, by cause, and how full its memory was."""
    return {
        "switch": switch["name"],
        "bufferBytes": switch["buffer_bytes"],
        "maxBufferBytes": switch.get("buffer_max_bytes"),
        "earlyDrops": {
            cause: {"dropPackets": lost["frames"], "dropBytes": lost.get("bytes")}
            for cause, lost in switch.get("early_drops", {}).items()
        },
    }


def _group(group: dict[str, Any]) -> Counters:
    return {
        "priorities": [priority for priority in PRIORITIES if group["priorities"] >> priority & 1],
        "ingQDropPackets": group["drop_frames"],
        "ingQDepthBytes": group.get("depth_bytes"),
        "ingQMaxDepthBytes": group["bytes_max"],
        "headroomMaxBytes": group["headroom_max_bytes"],
        "xoffTx": group["xoff_sent"],
        "xonTx": group["xon_sent"],
    }


def _pfc(port: dict[str, Any]) -> Counters | None:
    """Pauses of the port in both directions; None where it takes no part in pausing."""
    pause = port.get("pause")
    groups = port.get("groups") or []
    if pause is None and not any(group["xoff_sent"] for group in groups):
        return None
    received = pause["received"] if pause else [0] * len(PRIORITIES)
    paused = pause["paused_ps"] if pause else [0] * len(PRIORITIES)
    sent = [
        sum(group["xoff_sent"] + group["xon_sent"] for group in groups if group["priorities"] >> priority & 1)
        for priority in PRIORITIES
    ]
    return {
        # One frame speaks of all priorities of its group; renewals of a pause are not counted.
        "pfcTxPpp": sum(group["xoff_sent"] + group["xon_sent"] for group in groups),
        "pfcRxPpp": sum(received),
        "txCount": sent,
        "rxCount": received,
        "pausedPs": paused,
        "pfcwdShutdownCount": pause["storms_detected"] if pause else 0,
        "pfcwdRestoredCount": pause["storms_ended"] if pause else 0,
    }


def _sum(lost: list[dict[str, int]], unit: str) -> int:
    return sum(count[unit] for count in lost)


def _sum_known(lost: list[dict[str, int]], unit: str) -> int | None:
    """None where one of them was not counted in this unit."""
    return _sum(lost, unit) if all(unit in count for count in lost) else None


def port_policies(plan: dict[str, Any] | None) -> Callable[[str, str], dict[str, Any] | None]:
    """The policy of any port of a plan, by node and neighbour."""
    switches = {switch["name"]: switch for switch in reversed((plan or {}).get("switches", []))}
    own = {
        (name, port["towards"]): port["policy"]
        for name, switch in switches.items()
        for port in reversed(switch["port_policies"])
    }

    def policy(node: str, towards: str) -> dict[str, Any] | None:
        usual: dict[str, Any] | None = switches[node]["policy"] if node in switches else None
        return own.get((node, towards), usual)

    return policy
