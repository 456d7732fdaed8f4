"""SCHEDULER and WRED_PROFILE: service, shape and active queue management of a queue."""

from typing import Any

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import rate, size
from tailrace.importers.sonic.read import Row, Tables
from tailrace.importers.sonic.tables import row_of

NAMED = "queue."
"""A scheduler of this name belongs to the queue that its rest names."""
QUEUE_MAX = 7
WEIGHT = "weight"
"""Holds a queue's weight until all of its port are known."""
WEIGHT_DEFAULT = 1
"""SAI_SCHEDULER_ATTR_SCHEDULING_WEIGHT (saischeduler.h) is 1 unless set."""
MILLE_PERCENT = 10
ECN_ON = ("ecn_green", "ecn_all", "ecn_green_yellow", "ecn_green_red")
COLOURS = ("yellow", "red")

Yaml = dict[str, Any]


def service(row: Row, number: int, tables: Tables, remarks: Remarks) -> Yaml:
    """`strict` or a weight, and `shape`. Of strict queues, the one with the larger number is served first."""
    name = row.reference("scheduler")
    scheduler = row_of(tables, "SCHEDULER", name)
    if scheduler is None:
        if name is not None:
            remarks.add(row.line, f"QUEUE|{row.key}", "contradiction", f"there is no SCHEDULER '{name}'")
        return {}
    made: Yaml = {}
    kind = (scheduler.take("type") or "DWRR").upper()
    weight = scheduler.number("weight", 1)
    if kind == "STRICT":
        made["strict"] = QUEUE_MAX + 1 - number
    elif weight is not None:
        made[WEIGHT] = weight
    if kind == "WRR":
        words = "WRR counts frames, the model's DWRR bytes"
        remarks.add(scheduler.line, f"SCHEDULER|{scheduler.key}", "not-modelled", words)
    return made | _shape(scheduler, remarks)


def _shape(scheduler: Row, remarks: Remarks) -> Yaml:
    """`cir` and `pir` are bytes per second."""
    meter = scheduler.take("meter_type") or "bytes"
    stated = {"min": scheduler.number("cir"), "max": scheduler.number("pir")}
    if meter != "bytes" and any(stated.values()):
        words = "rates in packets: write shape: {min, max}"
        remarks.add(scheduler.line, f"SCHEDULER|{scheduler.key}", "not-modelled", words)
        return {}
    shape = {end: rate(8 * value) for end, value in stated.items() if value}
    return {"shape": shape} if shape else {}


def shares(queues: dict[str, Yaml], port: str, remarks: Remarks) -> None:
    """Weights become shares in tenths of a percent that add up to 100; weights that do so already stay."""
    weights = {name: queue.pop(WEIGHT) for name, queue in queues.items() if WEIGHT in queue}
    if not weights:
        return
    without = [name for name, queue in queues.items() if name not in weights and "strict" not in queue]
    if without:
        words = f"{port}: no scheduler gives a weight to {', '.join(without)}: {WEIGHT_DEFAULT}, the default of SAI"
        remarks.add(0, "QUEUE", "assumed", words)
    weights |= dict.fromkeys(without, WEIGHT_DEFAULT)
    if sum(weights.values()) == 100:
        parts = {name: MILLE_PERCENT * weight for name, weight in weights.items()}
    else:
        parts = _rounded(weights)
        exact = all(1000 * weight == parts[name] * sum(weights.values()) for name, weight in weights.items())
        if not exact:
            words = f"{port}: weights {', '.join(map(str, weights.values()))} are rounded to tenths of a percent"
            remarks.add(0, "SCHEDULER", "assumed", words)
    for name, mille in parts.items():
        whole, tenths = divmod(mille, MILLE_PERCENT)
        queues[name]["share"] = f"{whole}.{tenths}%" if tenths else f"{whole}%"


def _rounded(weights: dict[str, int]) -> dict[str, int]:
    """Thousandths that add up to 1000, each at least one: what rounding leaves goes to those that lost the most."""
    whole = sum(weights.values())
    parts = {name: max(1, 1000 * weight // whole) for name, weight in weights.items()}
    by_loss = sorted(weights, key=lambda name: 1000 * weights[name] / whole - parts[name], reverse=True)
    left = 1000 - sum(parts.values())
    for name in by_loss[: max(0, left)]:
        parts[name] += 1
    parts[max(parts, key=lambda name: parts[name])] += min(0, left)
    return parts


def wred(row: Row, tables: Tables, remarks: Remarks) -> Yaml:
    """`aqm` of a queue: the thresholds for green frames; the model has no colours."""
    name = row.reference("wred_profile")
    profile = row_of(tables, "WRED_PROFILE", name)
    if profile is None:
        if name is not None:
            remarks.add(row.line, f"QUEUE|{row.key}", "contradiction", f"there is no WRED_PROFILE '{name}'")
        return {}
    is_on = (profile.take("wred_green_enable") or "true").lower() != "false"
    ecn = (profile.take("ecn") or "ecn_none").lower()
    for colour in COLOURS:
        for key in [key for key in profile.fields if key.startswith((colour, f"wred_{colour}"))]:
            profile.take(key)
    minimum, maximum = profile.number("green_min_threshold"), profile.number("green_max_threshold")
    percent = profile.number("green_drop_probability")
    if minimum is None or maximum is None or not (is_on or ecn in ECN_ON):
        words = "no thresholds for green frames, or WRED and ECN are off for them"
        remarks.add(profile.line, f"WRED_PROFILE|{profile.key}", "not-modelled", words)
        return {}
    if not is_on:
        words = "wred_green_enable false: here frames that cannot be marked are dropped by the same thresholds"
        remarks.add(profile.line, f"WRED_PROFILE|{profile.key}", "not-modelled", words)
    made: Yaml = {"kind": "red", "minimum": size(minimum), "maximum": size(maximum)}
    made["probability"] = f"{100 if percent is None else percent}%"
    # SAI_WRED_ATTR_WEIGHT is 0 unless set, and SONiC does not set it: the depth of the moment [K].
    made["weight_exponent"] = 0
    if ecn in ECN_ON:
        made["ecn"] = True
    return {"aqm": made}
