"""Queues of a port: strict or round robin, shares, thresholds and limits.

EOS serves transmit queues in strict priority, the highest number first. `no priority` makes a queue
and all queues below it round robin; they share the rest after strict queues by their bandwidth
percent. Queues without one share the rest equally, and percentages that exceed 100 together are
scaled. `defaults` has the evidence.
"""

from fractions import Fraction
from typing import Any

from tailrace.importers.eos import defaults
from tailrace.importers.eos.config import EosConfig, MemoryProfile, PortSettings, TxQueue
from tailrace.importers.section import rate, share, size
from tailrace.importers.step import steps_of_lossless_queues

LEAST = Fraction(1, 10)
"""Percent: the least share of a scenario."""
PASSING = {"minimum": "1GB", "maximum": "1GB", "probability": "0%"}
"""Thresholds that no queue reaches: frames that cannot be marked are not dropped by WRED."""
QUEUES = range(8)

Yaml = dict[str, Any]


def policy_of(config: EosConfig, settings: PortSettings) -> Yaml:
    """Queues, their classes and pauses of a port."""
    queue_of = {tc: config.queue_map[tc] for tc in QUEUES}
    used = sorted(set(queue_of.values()))
    memory = config.memory.get(config.memory_applied or "", MemoryProfile())
    queues = {
        number: _queue(config, settings.queues.get(number, TxQueue()), number, memory)
        for number in used
    }
    _serve(config, settings, queues)
    lossless = _lossless(config, settings)
    steps_of_lossless_queues(queues, {queue_of[tc] for tc in lossless})
    policy: Yaml = {
        "queues": {f"q{number}": queue for number, queue in queues.items()},
        "priorities": {tc: f"q{queue_of[tc]}" for tc in QUEUES},
    }
    if lossless:
        policy["pfc"] = _pfc(config, memory, lossless)
        _note_pauses(config, [settings.queues.get(queue_of[tc], TxQueue()) for tc in lossless])
    return policy


def _note_pauses(config: EosConfig, lossless: list[TxQueue]) -> None:
    """Remarks about the unverified defaults of the watchdog."""
    timed = bool(config.watchdog_s.get("timeout"))
    used = {
        "watchdog": not timed,
        "recovery": timed and "recovery-time" not in config.watchdog_s,
        "guaranteed": timed and not all(queue.shape_min_bps for queue in lossless),
    }
    defaults.note(config.remarks, *(name for name, is_used in used.items() if is_used))


def _queue(config: EosConfig, stated: TxQueue, number: int, memory: MemoryProfile) -> Yaml:
    queue: Yaml = {}
    if number in memory.limits:
        queue["limit"] = memory.limits[number]
    if memory.reserved.get(number):
        queue["reserved"] = size(memory.reserved[number])
    shape = {"min": stated.shape_min_bps, "max": stated.shape_max_bps}
    if any(shape.values()):
        queue["shape"] = {end: rate(value) for end, value in shape.items() if value}
    if stated.marking is not None:
        other = {
            key: value for key, value in (stated.dropping or {}).items() if key != "weight_exponent"
        }
        not_capable = PASSING if config.allows_unmarked else other
        queue["aqm"] = {"kind": "red", **stated.marking, "ecn": True} | (
            {"not_capable": not_capable} if not_capable else {}
        )
    elif stated.dropping is not None:
        queue["aqm"] = {"kind": "red", **stated.dropping}
    return queue


def _serve(config: EosConfig, settings: PortSettings, queues: dict[int, Yaml]) -> None:
    """Sets `strict` or `share` of every queue."""
    shared_from = max(
        (n for n, own in settings.queues.items() if own.is_strict is False), default=-1
    )
    for number in (
        n for n in queues if n <= shared_from and settings.queues.get(n, TxQueue()).is_strict
    ):
        words = (
            f"{settings.name}: queue {number} is round robin, because queue "
            f"{shared_from} above it is (EOS)"
        )
        config.remarks.add(0, "", "assumed", words)
    strict = [n for n in queues if n > shared_from]
    defaults.note(config.remarks, *(["order"] if len(strict) > 1 else []))
    for number in strict:
        queues[number] = {"strict": 8 - number, **queues[number]}
        if settings.queues.get(number, TxQueue()).bandwidth_percent is not None:
            words = (
                f"{settings.name}: queue {number} has strict priority: its "
                "bandwidth percent has no effect"
            )
            config.remarks.add(0, "", "assumed", words)
    weighted = {
        n: settings.queues.get(n, TxQueue()).bandwidth_percent for n in queues if n <= shared_from
    }
    _note_shares(config, settings, weighted)
    for number, percent in _shares(weighted).items():
        queues[number] = {"share": share(percent), **queues[number]}


def _note_shares(
    config: EosConfig, settings: PortSettings, weighted: dict[int, int | None]
) -> None:
    """Remarks about the unverified defaults that the shares rest on."""
    unstated = [number for number, percent in weighted.items() if percent is None]
    below = [
        number
        for number in weighted
        if settings.queues.get(number, TxQueue()).is_strict is not False
    ]
    whole = sum(percent for percent in weighted.values() if percent is not None)
    used = {
        "below": below,
        "equal": len(unstated) > 1 or (unstated and whole),
        "scaled": whole > 100,
    }
    defaults.note(config.remarks, *(name for name, is_used in used.items() if is_used))


def _shares(stated: dict[int, int | None]) -> dict[int, Fraction]:
    """Percent of each queue, at most 100 together and none without a share."""
    given = {number: Fraction(percent) for number, percent in stated.items() if percent is not None}
    whole = sum(given.values(), Fraction(0))
    if whole > 100:
        given = {number: percent * 100 / whole for number, percent in given.items()}
    unstated = [number for number in stated if number not in given]
    left = max(Fraction(0), 100 - whole) / max(1, len(unstated))
    shares = given | dict.fromkeys(unstated, left)
    raised = {number: max(percent, LEAST) for number, percent in sorted(shares.items())}
    if (excess := sum(raised.values()) - 100) > 0:
        raised[max(raised, key=lambda number: raised[number])] -= excess
    return raised


def _lossless(config: EosConfig, settings: PortSettings) -> list[int]:
    """Traffic classes of the priorities without drops."""
    stated = [priority for priority, is_lossless in sorted(settings.no_drop.items()) if is_lossless]
    if config.is_pausing_off or not settings.is_pausing or not stated:
        if stated:
            words = (
                f"{settings.name}: priority-flow-control is not on: priorities "
                f"{stated} are not lossless"
            )
            config.remarks.add(0, "", "assumed", words)
        return []
    for priority in (priority for priority in stated if config.cos_map[priority] != priority):
        words = (
            f"a pause of priority {priority} is that of traffic class "
            f"{config.cos_map[priority]} (qos map cos)"
        )
        config.remarks.add(0, "", "assumed", words)
    return sorted({config.cos_map[priority] for priority in stated})


def _pfc(config: EosConfig, memory: MemoryProfile, lossless: list[int]) -> Yaml:
    pfc: Yaml = {"priorities": lossless}
    if memory.xoff is not None:
        pfc["xoff"] = memory.xoff
    own = {tc: {"xoff": memory.xoffs[tc]} for tc in lossless if tc in memory.xoffs}
    if own:
        pfc["per_priority"] = own
    seconds = config.watchdog_s
    if seconds.get("timeout"):
        times = {
            "detection": seconds["timeout"],
            "restoration": seconds.get("recovery-time") or seconds["timeout"],
        }
        pfc["watchdog"] = {key: f"{value * 1000:g}ms" for key, value in times.items()}
    return pfc
