"""A scenario whose rates are divided by a number, for machines that do not hold them, with its ratios kept.

Divided are the rates of links, shapers, policers, QCN and streams, what waits in a switch (limits, thresholds, bursts,
the buffer), and what uses the network: users with the cores that their programs share, sizes of streams, numbers of
flows and datagrams. Kept are sizes of rows, MTU, TCP and its buffers, DPP's packets, and every time: the delay of a
full queue, the length of a trial, and the cycle of a user alone, whose gap becomes shorter by as much as its answer
takes longer.

A workload keeps at least one user. Where it has fewer users than the number, times are stretched by what is missing,
for all workloads alike: the cycles of users, the delay of a full queue, and the ages of DPP, of the elephant trap and
of CoDel. Users then do fewer transactions, and a trial takes as long as before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.scenario.checks.problems import check
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.host import Cpu, NicQcn
from tailrace.scenario.network.network import Dumbbell, LeafSpine, Link, LinkDefaults, Network
from tailrace.scenario.network.topology import expand
from tailrace.scenario.policies.aqm import Afd, Codel, Etrap, NotCapable, Red, Step
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.pause import GroupThresholds, LinkPause, Pfc, Police
from tailrace.scenario.policies.switch import Dpp, Qcn, Queue, Shape, Switch
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.text.quantities import Part
from tailrace.scenario.workloads.workload import Datagrams, Flows, Oltp, Stream

BITS_PER_BYTE = 8
PS_PER_S = 10**12
DIVISOR_MAX = 1000
TOLERANCE = 0.01
"""A cycle may be longer by this share: users of a saturated link pause for next to nothing."""
DIVIDED: dict[type[Part], tuple[str, ...]] = {
    LinkDefaults: ("rate",),
    Link: ("rate",),
    Dumbbell: ("bottleneck_rate",),
    LeafSpine: ("uplink_rate",),
    Switch: ("buffer",),
    Cpu: ("program_cores",),
    Queue: ("limit", "reserved"),
    Shape: ("min", "max"),
    Step: ("threshold",),
    Red: ("minimum", "maximum"),
    NotCapable: ("minimum", "maximum"),
    Afd: ("desired",),
    Qcn: ("set_point",),
    NicQcn: ("byte_counter", "active_increase", "hyper_increase", "rate_min"),
    Police: ("rate", "burst"),
    Pfc: ("headroom", "xoff", "xon_offset", "reserved", "lossy"),
    LinkPause: ("headroom", "xoff", "xon_offset", "reserved"),
    GroupThresholds: ("headroom", "xoff", "xon_offset", "reserved"),
}
"""By part of a scenario, what is a rate or waits in a switch. Frames, factors of the free buffer and `auto` stay."""
RATES = frozenset({"rate", "bottleneck_rate", "uplink_rate", "min", "max"}) | {
    "active_increase",
    "hyper_increase",
    "rate_min",
}
"""Those of them that are rates; the others are sizes, which hold for as long as before at the new rate."""
STRETCHED: dict[type[Part], tuple[str, ...]] = {
    Dpp: ("age",),
    Etrap: ("age", "afd_period"),
    Codel: ("target", "interval", "ce_threshold"),
}
"""Ages that are compared with delays and pauses."""
ALWAYS = (Network, LinkDefaults)
"""Parts whose defaults are divided too; those of the others are the machine's, or factors."""


@dataclass(frozen=True)
class Divisor:
    """By what a scenario is changed."""

    divisor: int
    stretch: float
    """Of times, where there are too few users to divide; 1 where there are enough."""

    @property
    def of_sizes(self) -> float:
        """What sizes in a switch and numbers of users are divided by."""
        return self.divisor / self.stretch


def stretch_of(scenario: Scenario, divisor: int) -> float:
    """By how much times must be stretched so that every workload keeps a user."""
    fewest = min((one.users for one in scenario.workloads.values() if isinstance(one, Oltp)), default=divisor)
    return max(1.0, divisor / fewest)


def divided(loaded: Loaded, divisor: int) -> Loaded:
    """`loaded` with every arm divided; raises `RunRefusedError` where a ratio cannot be kept."""
    if divisor == 1:
        return loaded
    if not 1 < divisor <= DIVISOR_MAX:
        raise RunRefusedError(f"--live-scale {divisor} is outside 1 to {DIVISOR_MAX} (hint: 2 halves the rates)")
    scale = Divisor(divisor, stretch_of(loaded.scenario, divisor))
    arms = {name: _scenario(arm, scale) for name, arm in loaded.arms.items()}
    found = dict.fromkeys(problem for arm in arms.values() for problem in check(arm, loaded.document))
    if found:
        raise ScenarioError([replace(one, what=f"with --live-scale {divisor}: {one.what}") for one in found])
    return replace(loaded, scenario=_scenario(loaded.scenario, scale), arms=arms)


def _scenario(scenario: Scenario, scale: Divisor) -> Scenario:
    rates_bps = expand(scenario.network).rates_bps
    switches = dict(scenario.switches)
    usual = switches.get(DEFAULTS, Switch())
    switches[DEFAULTS] = usual.model_copy(update={"buffer": usual.buffer})  # stated, so that it is divided
    update: dict[str, Any] = {name: _value(getattr(scenario, name), scale) for name in ("network", "hosts", "policies")}
    update["switches"] = _value(switches, scale)
    update["workloads"] = {
        name: _workload(name, workload, rates_bps, scale) for name, workload in scenario.workloads.items()
    }
    return scenario.model_copy(update=update)


def _value(value: Any, scale: Divisor) -> Any:
    """A part of a scenario, and all parts in it."""
    if isinstance(value, Mapping):
        return {key: _value(one, scale) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one, scale) for one in value]
    if not isinstance(value, Part):
        return value
    names = set(type(value).model_fields) if isinstance(value, ALWAYS) else set(value.model_fields_set)
    names |= set(STRETCHED.get(type(value), ()))
    return value.model_copy(update={name: _held(value, name, scale) for name in names})


def _held(part: Part, name: str, scale: Divisor) -> Any:
    """What a key of a part becomes."""
    held = getattr(part, name)
    if name in STRETCHED.get(type(part), ()):
        return None if held is None else round(held * scale.stretch)
    if name in DIVIDED.get(type(part), ()):
        return _less(held, scale.divisor if name in RATES else scale.of_sizes)
    return _value(held, scale)


def _less(held: Any, factor: float) -> Any:
    """A rate or size divided; what has neither unit stays."""
    if isinstance(held, Limit):
        return held.model_copy(update={"amount": round(held.amount / factor)}) if held.unit == "bytes" else held
    return max(1, round(held / factor)) if isinstance(held, int) and held else held


def _workload(
    name: str, workload: Oltp | Stream | Flows | Datagrams, rates_bps: Mapping[str, int], scale: Divisor
) -> Oltp | Stream | Flows | Datagrams:
    divisor = scale.divisor
    match workload:
        case Oltp():
            rate_bps = min(rates_bps[workload.client], rates_bps[workload.server])
            return _users(name, workload, rate_bps, scale)
        case Stream():
            update = {"size": _less(workload.size, divisor), "rate": _less(workload.rate, divisor)}
            return workload.model_copy(update=update)
        case Flows():
            interarrival = workload.interarrival
            slower = None if interarrival is None else interarrival.scaled(divisor)
            return workload.model_copy(update={"flows": _less(workload.flows, divisor), "interarrival": slower})
        case Datagrams():
            slower = workload.interarrival.scaled(divisor)
            return workload.model_copy(update={"count": _less(workload.count, divisor), "interarrival": slower})


def _users(name: str, oltp: Oltp, rate_bps: int, scale: Divisor) -> Oltp:
    """Fewer users that ask alone for the same share of the link, each with the cycle that it had.

    Where the number of users is no multiple, those that are left have a longer cycle and fewer transactions.
    """
    users = max(1, round(oltp.users / scale.of_sizes))
    longer = users * scale.divisor / oltp.users
    answer_ps = sum(trip.response * trip.repeat for trip in oltp.round_trips) * BITS_PER_BYTE * PS_PER_S / rate_bps
    work_ps = sum(trip.server_time.mean * trip.repeat for trip in oltp.round_trips)
    wanted_ps = cycle_ps(oltp.users, oltp.gap.mean + work_ps, answer_ps) * longer
    gap_ps = _gap_ps(users, wanted_ps, answer_ps * scale.divisor) - work_ps
    if gap_ps < -TOLERANCE * wanted_ps:
        raise RunRefusedError(
            f"--live-scale {scale.divisor}: workload '{name}' would need a negative gap: {users} of its users"
            f" cannot request their share of a link of {rate_bps / scale.divisor / 1e6:g} Mbit/s"
            " (hint: a smaller number)"
        )
    gap = _with_mean(oltp.gap, max(0.0, gap_ps), scale.stretch)
    transactions = None if oltp.transactions is None else max(1, round(oltp.transactions / longer))
    return oltp.model_copy(update={"users": users, "gap": gap, "transactions": transactions})


def _with_mean(gap: Distribution, mean_ps: float, stretch: float) -> Distribution:
    """The same shape with another mean; a normal one keeps its deviation, but for the stretch."""
    if not gap.mean or round(gap.mean) == round(mean_ps):
        return gap
    [(kind, value)] = gap.raw.items()
    if kind == "normal":
        raw = {"normal": {"mean": round(mean_ps), "deviation": round(value["deviation"] * stretch)}}
        return Distribution(raw, mean_ps, f"{gap.text} with mean {mean_ps / 1e9:.6g}ms")
    return gap.scaled(mean_ps / gap.mean)


def cycle_ps(users: int, pause_ps: float, answer_ps: float) -> float:
    """From one transaction of a user to its next, when users pause and share one link: mean-value analysis of a closed
    network with one processor-sharing station (Reiser and Lavenberg, J. ACM 27(2), 1980)."""
    waiting = 0.0
    cycle = pause_ps + answer_ps
    for number in range(1, users + 1):
        response_ps = answer_ps * (1 + waiting)
        cycle = pause_ps + response_ps
        waiting = number * response_ps / cycle if cycle else 0.0
    return cycle


def _gap_ps(users: int, wanted_ps: float, answer_ps: float) -> float:
    """The pause with which a user's cycle is as wanted; below zero where even without one it is longer."""
    shortest_ps = cycle_ps(users, 0.0, answer_ps)
    if shortest_ps > wanted_ps:
        return wanted_ps - shortest_ps
    low, high = 0.0, wanted_ps
    while high - low > 1.0:
        middle = (low + high) / 2
        low, high = (middle, high) if cycle_ps(users, middle, answer_ps) < wanted_ps else (low, middle)
    return low
