"""Writes a policy as tables of a SONiC database that the importer can read back."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tailrace.importers.expressible import compare
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, takes_all
from tailrace.importers.sonic.buffers import DYNAMIC
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.sonic.mtu import MTU_DEFAULT
from tailrace.importers.sonic.schedulers import MARK, NAMED, QUEUE_MAX
from tailrace.scenario.policies.aqm.red import Red
from tailrace.scenario.policies.aqm.step import Step
from tailrace.scenario.policies.limit import VENDOR_ALPHAS_MILLI, Limit
from tailrace.scenario.policies.pause import XOFF_DEFAULT, GroupThresholds
from tailrace.scenario.policies.sharing import ONE_PPB
from tailrace.scenario.policies.switch import Policy, Queue, Switch
from tailrace.scenario.policies.weights import ratio

PORT = "Ethernet{}"
"""Ports with the policy of the switch have the same tables, which are written for one; ports with a
named policy have their own.
"""
LANES = 4
"""Increment of port numbers: a port is numbered by its first lane."""
OTHER_NEIGHBOUR = "any"
"""Neighbour of the ports that have the policy of the switch."""
ONE_PERCENT_PPB = 10**7
PS_PER_MS = 10**9
WEIGHT_PARTS_MAX = 800
"""A weight is 1 to 100, of at most eight queues."""

Table = dict[str, dict[str, str]]


def export_sonic(
    name: str,
    switch: Switch,
    policy: Policy,
    mtu_bytes: int = MTU_DEFAULT,
    others: Mapping[str, Policy] | None = None,
) -> tuple[str, Remarks]:
    """The database, and remarks about settings that SONiC cannot express.

    `mtu_bytes` is the largest MTU of the hosts, for a switch without one; `others` are the policies
    by name that `switch.ports` uses.
    """
    others = {other: one for other, one in (others or {}).items() if other in switch.ports.values()}
    tables: dict[str, Table] = {
        "DEVICE_METADATA": {"localhost": {"hostname": name}},
        "PORT": {},
        "BUFFER_POOL": {
            "ingress_lossless_pool": {
                "type": "ingress",
                "mode": "dynamic",
                "size": str(switch.buffer),
            },
            "egress_lossless_pool": {
                "type": "egress",
                "mode": "dynamic",
                "size": str(switch.buffer),
            },
        },
    }
    classification = _classification(switch, tables)
    for group in _port_groups(switch, policy, others):
        _port_rows(group, switch, mtu_bytes, tables)
        _port(group, classification, tables)
    text = json.dumps(tables, indent=4) + "\n"
    remarks = Remarks()
    compare({switch.policy: policy, **others}, switch, import_sonic(text)[0], remarks)
    return text, remarks


@dataclass(frozen=True)
class _PortGroup:
    """Ports with one policy."""

    ports: list[str]
    neighbours: list[str]
    """The node at each of them."""
    name: str
    policy: Policy
    mark: str
    """Suffix that distinguishes the names of its profiles from those of other policies."""

    @property
    def key(self) -> str:
        return ",".join(self.ports)


def _port_groups(
    switch: Switch, policy: Policy, others: Mapping[str, Policy]
) -> Iterator[_PortGroup]:
    """Ports with each policy; most have the policy and the MTU of the switch, by which the importer
    recognises them."""
    wanted = {name: [to for to, own in switch.ports.items() if own == name] for name in others}
    with_own_policy = {to for neighbours in wanted.values() for to in neighbours}
    own_mtu = [to for to in switch.port_mtu if to not in with_own_policy]
    usual = (
        1
        + max((len(neighbours) for neighbours in wanted.values()), default=0)
        + len(switch.port_mtu)
    )
    neighbours = [OTHER_NEIGHBOUR] * usual + own_mtu
    first = len(neighbours)
    yield _PortGroup(
        [PORT.format(LANES * n) for n in range(first)], neighbours, switch.policy, policy, ""
    )
    for number, (name, towards) in enumerate(wanted.items(), 2):
        ports = [PORT.format(LANES * (first + n)) for n in range(len(towards))]
        first += len(towards)
        yield _PortGroup(ports, towards, name, others[name], f"{MARK}{number}")


def _port_rows(group: _PortGroup, switch: Switch, mtu_bytes: int, tables: dict[str, Table]) -> None:
    """PORT, and DEVICE_NEIGHBOR where a port differs from others."""
    usual = switch.mtu if switch.mtu is not None else mtu_bytes if mtu_bytes > MTU_DEFAULT else None
    for port, neighbour in zip(group.ports, group.neighbours, strict=True):
        mtu = switch.port_mtu.get(neighbour, usual)
        if mtu is None and switch.port_mtu:
            mtu = MTU_DEFAULT
        tables["PORT"][port] = {} if mtu is None else {"mtu": str(mtu)}
        if switch.ports or switch.port_mtu:
            tables.setdefault("DEVICE_NEIGHBOR", {})[port] = {"name": neighbour}


def _port(group: _PortGroup, classification: dict[str, str], tables: dict[str, Table]) -> None:
    policy, numbers = group.policy, queue_numbers(group.policy)
    classes = {str(p): str(numbers[policy.queue_of(p)]) for p in PRIORITIES}
    tables.setdefault("TC_TO_QUEUE_MAP", {})[group.name] = classes
    maps = {"tc_to_queue_map": group.name} | classification
    _queues(group, numbers, tables)
    maps |= _pfc(group, tables)
    tables.setdefault("PORT_QOS_MAP", {})[group.key] = maps


def queue_numbers(policy: Policy) -> dict[str, int]:
    """A number for each queue: strict queues from the top, the first served highest; the others
    from 0 in order."""
    strict = sorted(
        (name for name in policy.queues if _level(policy, name)),
        key=lambda name: _level(policy, name),
    )
    numbers = {name: QUEUE_MAX - index for index, name in enumerate(strict)}
    wanted = {name: QUEUE_MAX + 1 - _level(policy, name) for name in strict}
    if len(set(wanted.values())) == len(strict):
        numbers = wanted
    for name in policy.queues:
        if name not in numbers:
            numbers[name] = next(number for number in range(8) if number not in numbers.values())
    return numbers


def _level(policy: Policy, name: str) -> int:
    return policy.queues[name].strict or 0


def _classification(switch: Switch, tables: dict[str, Table]) -> dict[str, str]:
    """Rules whose only condition is the code point or the 802.1Q priority."""
    maps: dict[str, str] = {}
    rules = switch.classify
    # Values that no map names are in class 0 anyway: that rule needs no map.
    rules = (
        rules[:-1] if len(rules) > 1 and takes_all(rules[-1]) and not rules[-1].class_ else rules
    )
    for key, table in (("dscp", "DSCP_TO_TC_MAP"), ("pcp", "DOT1P_TO_TC_MAP")):
        stated: dict[str, str] = {}
        for rule in rules:
            said = {name for name in type(rule).model_fields if getattr(rule, name) is not None} - {
                "class_"
            }
            for value in getattr(rule, key) if said == {key} else []:
                stated.setdefault(str(value), str(rule.class_))
        if stated:
            tables[table] = {switch.policy: stated}
            maps[table.lower()] = switch.policy
    return maps


def _weights(shares: dict[str, int]) -> dict[str, int]:
    """Whole percents unchanged; other shares as small whole numbers in their ratio, where
    possible."""
    parts = ratio(list(shares.values()), WEIGHT_PARTS_MAX)
    if parts is None or all(share % ONE_PERCENT_PPB == 0 for share in shares.values()):
        return {name: max(1, round(share / ONE_PERCENT_PPB)) for name, share in shares.items()}
    return dict(zip(shares, parts, strict=True))


def _queues(group: _PortGroup, numbers: dict[str, int], tables: dict[str, Table]) -> None:
    policy = group.policy
    shares = _weights(policy.shares())
    for name, queue in sorted(policy.queues.items(), key=lambda item: numbers[item[0]]):
        profile = f"{NAMED}{name}{group.mark}"
        key = f"{group.key}|{numbers[name]}"
        tables.setdefault("SCHEDULER", {})[profile] = _scheduler(queue, shares.get(name))
        row = {"scheduler": profile}
        if isinstance(queue.aqm, Red | Step):
            tables.setdefault("WRED_PROFILE", {})[profile] = _wred(queue.aqm)
            row["wred_profile"] = profile
        tables.setdefault("QUEUE", {})[key] = row
        limits = {"pool": "egress_lossless_pool", "size": str(queue.reserved)} | _limit(queue.limit)
        tables.setdefault("BUFFER_PROFILE", {})[f"egress.{name}{group.mark}"] = limits
        tables.setdefault("BUFFER_QUEUE", {})[key] = {"profile": f"egress.{name}{group.mark}"}


def _scheduler(queue: Queue, weight: int | None) -> dict[str, str]:
    made = {"type": "STRICT" if queue.strict is not None else "DWRR"}
    if weight is not None:
        made["weight"] = str(weight)
    if queue.shape is not None:
        made["meter_type"] = "bytes"
        ends = (("cir", queue.shape.min), ("pir", queue.shape.max))
        made |= {key: str(rate_bps // 8) for key, rate_bps in ends if rate_bps is not None}
    return made


def _wred(aqm: Red | Step) -> dict[str, str]:
    if isinstance(aqm, Step):
        at = aqm.threshold
        red = Red.model_construct(kind="red", minimum=at, maximum=at, probability=ONE_PPB, ecn=True)
    else:
        red = aqm
    return {
        "ecn": "ecn_all" if red.ecn else "ecn_none",
        "wred_green_enable": "true",
        "green_min_threshold": str(red.minimum),
        "green_max_threshold": str(red.maximum),
        "green_drop_probability": str(round(red.probability / ONE_PERCENT_PPB)),
    }


def _limit(limit: Limit) -> dict[str, str]:
    if limit.unit == "bytes":
        return {"static_th": str(limit.amount)}
    table = VENDOR_ALPHAS_MILLI["sonic"]
    if limit.unit == "frames":
        return {}
    return {"dynamic_th": str(min(table, key=lambda power: abs(table[power] - limit.amount)))}


def _pfc(group: _PortGroup, tables: dict[str, Table]) -> dict[str, str]:
    pfc, mark = group.policy.pfc, group.mark
    if pfc is None:
        return {}
    lossless = sorted(set(pfc.priorities))
    profiles = tables.setdefault("BUFFER_PROFILE", {})
    for priority in lossless:
        profile = _lossless(pfc.thresholds(priority))
        if profile is not None:
            profiles[f"lossless.{priority}{mark}"] = {"pool": "ingress_lossless_pool"} | profile
            tables.setdefault("BUFFER_PG", {})[f"{group.key}|{priority}"] = {
                "profile": f"lossless.{priority}{mark}"
            }
    rest = next((p for p in PRIORITIES if p not in lossless), None)
    if pfc.lossy is not None and rest is not None:
        profiles[f"lossy{mark}"] = {"pool": "ingress_lossless_pool", "size": "0"} | _limit(
            pfc.lossy
        )
        tables.setdefault("BUFFER_PG", {})[f"{group.key}|{rest}"] = {"profile": f"lossy{mark}"}
    if pfc.cable is not None:
        lengths = dict.fromkeys(group.ports, f"{round(pfc.cable / 1000)}m")
        tables.setdefault("CABLE_LENGTH", {}).setdefault("AZURE", {}).update(lengths)
    if pfc.watchdog is not None:
        times = {
            "detection_time": pfc.watchdog.detection,
            "restoration_time": pfc.watchdog.restoration,
        }
        stated = {"action": "drop"} | {key: str(t // PS_PER_MS) for key, t in times.items()}
        tables.setdefault("PFC_WD", {})[group.key] = stated
    return {"pfc_enable": ",".join(str(priority) for priority in lossless)}


def _lossless(own: GroupThresholds) -> dict[str, str] | None:
    """The profile of a lossless group; None for the profile that the switch computes."""
    assert own.xoff is not None, "complete thresholds"
    if isinstance(own.headroom, int):
        sizes = {"size": own.reserved, "xoff": own.headroom, "xon_offset": own.xon_offset}
        return {key: str(value) for key, value in sizes.items()} | _limit(own.xoff)
    return None if own.xoff == XOFF_DEFAULT else {"headroom_type": DYNAMIC} | _limit(own.xoff)
