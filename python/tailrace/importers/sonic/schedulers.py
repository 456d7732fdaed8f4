"""SCHEDULER and WRED_PROFILE: service, shape and active queue management of a queue."""

from fractions import Fraction
from typing import Any

from tailrace.importers.remarks import Remarks
from tailrace.importers.section import rate, share, size
from tailrace.importers.sonic.read import DatabaseRow, Tables
from tailrace.importers.sonic.tables import row_of

NAMED = "queue."
"""Prefix of a scheduler's name that is followed by the name of its queue."""
MARK = "@"
"""Separates the name of the queue from the rest of such a name."""
QUEUE_MAX = 7
WEIGHT = "weight"
"""Key for the weight of a queue until all queues of its port are known."""
WEIGHT_DEFAULT = 1
"""SAI_SCHEDULER_ATTR_SCHEDULING_WEIGHT (saischeduler.h) is 1 unless set."""
LEAST = Fraction(1, 10)
"""Percent: the least share of a scenario."""
ECN_ON = ("ecn_green", "ecn_all", "ecn_green_yellow", "ecn_green_red")
COLOURS = ("yellow", "red")

Yaml = dict[str, Any]


def service(row: DatabaseRow, number: int, tables: Tables, remarks: Remarks) -> Yaml:
    """`strict` or a weight, and `shape`. Of strict queues, that with the larger number is served
    first."""
    name = row.reference("scheduler")
    scheduler = row_of(tables, "SCHEDULER", name)
    if scheduler is None:
        if name is not None:
            remarks.add(
                row.line, f"QUEUE|{row.key}", "contradiction", f"there is no SCHEDULER '{name}'"
            )
        return {}
    made: Yaml = {}
    kind = (scheduler.take("type") or "DWRR").upper()
    weight = scheduler.number("weight", 1)
    if kind == "STRICT":
        made["strict"] = QUEUE_MAX + 1 - number
    elif weight is not None:
        made[WEIGHT] = weight
    if kind == "WRR":
        words = "WRR counts frames; the model's DWRR counts bytes"
        remarks.add(scheduler.line, f"SCHEDULER|{scheduler.key}", "not-modelled", words)
    return made | _shape(scheduler, remarks)


def _shape(scheduler: DatabaseRow, remarks: Remarks) -> Yaml:
    """`cir` and `pir` are bytes per second."""
    meter = scheduler.take("meter_type") or "bytes"
    stated = {"min": scheduler.number("cir"), "max": scheduler.number("pir")}
    if meter != "bytes" and any(stated.values()):
        words = "rates in packets are not supported: write shape: {min, max} as rates"
        remarks.add(scheduler.line, f"SCHEDULER|{scheduler.key}", "not-modelled", words)
        return {}
    shape = {end: rate(8 * value) for end, value in stated.items() if value}
    return {"shape": shape} if shape else {}


def shares(queues: dict[str, Yaml], port: str, remarks: Remarks) -> None:
    """Converts weights to shares with the resolution of a scenario; weights that add up to 100 are
    unchanged."""
    weights = {name: queue.pop(WEIGHT) for name, queue in queues.items() if WEIGHT in queue}
    if not weights:
        return
    without = [
        name for name, queue in queues.items() if name not in weights and "strict" not in queue
    ]
    if without:
        words = (
            f"{port}: no scheduler sets the weight of {', '.join(without)}: the default of SAI, "
            f"{WEIGHT_DEFAULT}, is used"
        )
        remarks.add(0, "QUEUE", "assumed", words)
    weights |= dict.fromkeys(without, WEIGHT_DEFAULT)
    whole = sum(weights.values())
    parts = {name: Fraction(100 * weight, whole) for name, weight in weights.items()}
    tiny = [name for name, part in parts.items() if part < LEAST]
    if tiny:
        parts |= dict.fromkeys(tiny, LEAST)
        parts[max(parts, key=lambda name: parts[name])] -= sum(parts.values()) - 100
        words = f"{port}: {', '.join(tiny)} gets the least share, {share(LEAST)}"
        remarks.add(0, "SCHEDULER", "assumed", words)
    for name, part in parts.items():
        queues[name]["share"] = share(part)


def wred(row: DatabaseRow, tables: Tables, remarks: Remarks) -> Yaml:
    """`aqm` of a queue: the thresholds for green frames; colours are not modelled."""
    name = row.reference("wred_profile")
    profile = row_of(tables, "WRED_PROFILE", name)
    if profile is None:
        if name is not None:
            remarks.add(
                row.line, f"QUEUE|{row.key}", "contradiction", f"there is no WRED_PROFILE '{name}'"
            )
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
        words = (
            "wred_green_enable false: frames without ECN are nevertheless "
            "dropped by the same thresholds"
        )
        remarks.add(profile.line, f"WRED_PROFILE|{profile.key}", "not-modelled", words)
    made: Yaml = {"kind": "red", "minimum": size(minimum), "maximum": size(maximum)}
    made["probability"] = f"{100 if percent is None else percent}%"
    # SAI_WRED_ATTR_WEIGHT is 0 unless set, and SONiC does not set it: the instantaneous depth [K].
    made["weight_exponent"] = 0
    if ecn in ECN_ON:
        made["ecn"] = True
    return {"aqm": made}
