"""From a policy to the tables of a SONiC database that the importer reads back."""

import json

from tailrace.importers.expressible import compare
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, takes_all
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.sonic.schedulers import NAMED, QUEUE_MAX
from tailrace.scenario.aqm import Red
from tailrace.scenario.limit import VENDOR_ALPHAS_MILLI, Limit
from tailrace.scenario.switch import Policy, Queue, Switch

PORT = "Ethernet0"
"""All ports are alike; the tables are written for one."""
ONE_PERCENT_PPB = 10**7
MTU_BYTES = 9100
"""SONiC's default."""
PS_PER_MS = 10**9

Table = dict[str, dict[str, str]]


def export_sonic(name: str, switch: Switch, policy: Policy, mtu_bytes: int = MTU_BYTES) -> tuple[str, Remarks]:
    """The database, and what of the policy SONiC has no tables for. `mtu_bytes` is the largest MTU of the hosts."""
    numbers = queue_numbers(policy)
    tables: dict[str, Table] = {
        "DEVICE_METADATA": {"localhost": {"hostname": name}},
        "PORT": {PORT: {"mtu": str(max(MTU_BYTES, mtu_bytes))}},
        "BUFFER_POOL": {
            "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "size": str(switch.buffer)},
            "egress_lossless_pool": {"type": "egress", "mode": "dynamic", "size": str(switch.buffer)},
        },
        "TC_TO_QUEUE_MAP": {switch.policy: {str(p): str(numbers[policy.queue_of(p)]) for p in PRIORITIES}},
    }
    maps = {"tc_to_queue_map": switch.policy} | _classification(switch, tables)
    _queues(policy, numbers, tables)
    maps |= _pfc(policy, tables)
    tables["PORT_QOS_MAP"] = {PORT: maps}
    text = json.dumps(tables, indent=4) + "\n"
    remarks = Remarks()
    compare(switch.policy, policy, switch, import_sonic(text)[0], remarks)
    return text, remarks


def queue_numbers(policy: Policy) -> dict[str, int]:
    """A number for each queue: strict ones from above, first served highest, the others from below in order."""
    strict = sorted((name for name in policy.queues if _level(policy, name)), key=lambda name: _level(policy, name))
    numbers = {name: QUEUE_MAX - place for place, name in enumerate(strict)}
    wanted = {name: QUEUE_MAX + 1 - _level(policy, name) for name in strict}
    if len(set(wanted.values())) == len(strict) and min(wanted.values(), default=8) >= len(policy.queues) - len(strict):
        numbers = wanted
    for name in policy.queues:
        if name not in numbers:
            numbers[name] = next(number for number in range(8) if number not in numbers.values())
    return numbers


def _level(policy: Policy, name: str) -> int:
    return policy.queues[name].strict or 0


def _classification(switch: Switch, tables: dict[str, Table]) -> dict[str, str]:
    """Rules that look at the code point or the 802.1Q priority alone."""
    maps: dict[str, str] = {}
    rules = switch.classify
    # What no map names is in class 0 anyway: the rule that says so needs no map.
    rules = rules[:-1] if len(rules) > 1 and takes_all(rules[-1]) and not rules[-1].class_ else rules
    for key, table in (("dscp", "DSCP_TO_TC_MAP"), ("pcp", "DOT1P_TO_TC_MAP")):
        stated: dict[str, str] = {}
        for rule in rules:
            said = {name for name in type(rule).model_fields if getattr(rule, name) is not None} - {"class_"}
            for value in getattr(rule, key) if said == {key} else []:
                stated.setdefault(str(value), str(rule.class_))
        if stated:
            tables[table] = {switch.policy: stated}
            maps[table.lower()] = switch.policy
    return maps


def _queues(policy: Policy, numbers: dict[str, int], tables: dict[str, Table]) -> None:
    shares = policy.shares()
    for name, queue in sorted(policy.queues.items(), key=lambda item: numbers[item[0]]):
        profile = f"{NAMED}{name}"
        key = f"{PORT}|{numbers[name]}"
        tables.setdefault("SCHEDULER", {})[profile] = _scheduler(queue, shares.get(name))
        row = {"scheduler": profile}
        if isinstance(queue.aqm, Red):
            tables.setdefault("WRED_PROFILE", {})[profile] = _wred(queue.aqm)
            row["wred_profile"] = profile
        tables.setdefault("QUEUE", {})[key] = row
        limits = {"pool": "egress_lossless_pool", "size": str(queue.reserved)} | _limit(queue.limit)
        tables.setdefault("BUFFER_PROFILE", {})[f"egress.{name}"] = limits
        tables.setdefault("BUFFER_QUEUE", {})[key] = {"profile": f"egress.{name}"}


def _scheduler(queue: Queue, share_ppb: int | None) -> dict[str, str]:
    made = {"type": "STRICT" if queue.strict is not None else "DWRR"}
    if share_ppb is not None:
        made["weight"] = str(round(share_ppb / ONE_PERCENT_PPB))
    if queue.shape is not None:
        made["meter_type"] = "bytes"
        ends = (("cir", queue.shape.min), ("pir", queue.shape.max))
        made |= {key: str(rate_bps // 8) for key, rate_bps in ends if rate_bps is not None}
    return made


def _wred(red: Red) -> dict[str, str]:
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


def _pfc(policy: Policy, tables: dict[str, Table]) -> dict[str, str]:
    pfc = policy.pfc
    if pfc is None:
        return {}
    lossless = sorted(set(pfc.priorities))
    profiles = tables.setdefault("BUFFER_PROFILE", {})
    for priority in lossless:
        own = pfc.thresholds(priority)
        if not isinstance(own.headroom, int) or own.xoff is None:
            continue
        profiles[f"lossless.{priority}"] = {
            "pool": "ingress_lossless_pool",
            "size": str(own.reserved),
            "xoff": str(own.headroom),
            "xon_offset": str(own.xon_offset),
        } | _limit(own.xoff)
        tables.setdefault("BUFFER_PG", {})[f"{PORT}|{priority}"] = {"profile": f"lossless.{priority}"}
    rest = next((p for p in PRIORITIES if p not in lossless), None)
    if pfc.lossy is not None and rest is not None:
        profiles["lossy"] = {"pool": "ingress_lossless_pool", "size": "0"} | _limit(pfc.lossy)
        tables.setdefault("BUFFER_PG", {})[f"{PORT}|{rest}"] = {"profile": "lossy"}
    if pfc.cable is not None:
        tables["CABLE_LENGTH"] = {"AZURE": {PORT: f"{round(pfc.cable / 1000)}m"}}
    if pfc.watchdog is not None:
        times = {"detection_time": pfc.watchdog.detection, "restoration_time": pfc.watchdog.restoration}
        tables["PFC_WD"] = {PORT: {"action": "drop"} | {key: str(t // PS_PER_MS) for key, t in times.items()}}
    return {"pfc_enable": ",".join(str(priority) for priority in lossless)}
