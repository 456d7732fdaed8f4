"""Divides the rates of a scenario by a number, for machines that cannot sustain them, and keeps its
ratios.

Divided are the rates of links, shapers, policers, QCN and streams; the sizes of queues (limits,
thresholds, bursts, the buffer); and the load: users with the cores that their programs share, sizes
of streams, numbers of flows and datagrams. Unchanged are row sizes, the MTU, TCP and its buffers,
the packet count of DPP, and all times: the delay of a full queue, the length of a trial, and the
solo cycle of a user, whose gap is shortened by as much as its response takes longer.

A workload keeps at least one user. Where it has fewer users than the divisor, times are stretched
by the missing factor for all workloads alike: the cycles of users, the delay of a full queue, the
ages of DPP and of the elephant trap, and the times of queue management. Users then run fewer
transactions, and a trial takes as long as before.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.scenario.checks.problems import check
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.cpu import Cpu
from tailrace.scenario.network.host import NicQcn
from tailrace.scenario.network.network import Dumbbell, LeafSpine, Link, LinkDefaults, Network
from tailrace.scenario.network.topology import expand
from tailrace.scenario.policies.aqm.kinds import MECHANISMS
from tailrace.scenario.policies.aqm.red import NotCapable
from tailrace.scenario.policies.etrap import Etrap
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.policies.pause import GroupThresholds, LinkPause, Pfc, Police
from tailrace.scenario.policies.switch import Dpp, Qcn, Queue, Shape, Switch
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.text.quantities import Part
from tailrace.scenario.workloads.division import Divisor, divided_count

DIVISOR_MAX = 1000
DIVIDED: dict[type[Part], tuple[str, ...]] = {
    LinkDefaults: ("rate",),
    Link: ("rate",),
    Dumbbell: ("bottleneck_rate",),
    LeafSpine: ("uplink_rate",),
    Switch: ("buffer",),
    Cpu: ("program_cores",),
    Queue: ("limit", "reserved"),
    Shape: ("min", "max"),
    **{mechanism: mechanism.divided for mechanism in MECHANISMS},
    NotCapable: ("minimum", "maximum"),
    Qcn: ("set_point",),
    NicQcn: ("byte_counter", "active_increase", "hyper_increase", "rate_min"),
    Police: ("rate", "burst"),
    Pfc: ("headroom", "xoff", "xon_offset", "reserved", "lossy"),
    LinkPause: ("headroom", "xoff", "xon_offset", "reserved"),
    GroupThresholds: ("headroom", "xoff", "xon_offset", "reserved"),
}
"""Keys by part of a scenario that are rates or sizes of queues. Frames, factors of the free buffer
and `auto` stay."""
RATES = frozenset({"rate", "bottleneck_rate", "uplink_rate", "min", "max"}) | {
    "active_increase",
    "hyper_increase",
    "rate_min",
}
"""Those keys that are rates; the others are sizes, which stand for the same time at the divided
rate."""
STRETCHED: dict[type[Part], tuple[str, ...]] = {
    Dpp: ("age",),
    Etrap: ("age", "afd_period"),
    **{mechanism: mechanism.stretched for mechanism in MECHANISMS},
}
"""Ages that are compared with delays and pauses."""
ALWAYS = (Network, LinkDefaults)
"""Parts whose defaults are divided too; those of other parts belong to the machine or are
factors."""


def stretch_of(scenario: Scenario, divisor: int) -> float:
    """Factor by which times are stretched so that every workload keeps a user."""
    loops = [loop for one in scenario.workloads.values() if (loop := one.closed_loop())]
    fewest = min((loop.users for loop in loops), default=divisor)
    return max(1.0, divisor / fewest)


def divided(loaded: Loaded, divisor: int) -> Loaded:
    """`loaded` with every arm divided; raises `RunRefusedError` where a ratio cannot be kept."""
    if divisor == 1:
        return loaded
    if not 1 < divisor <= DIVISOR_MAX:
        raise RunRefusedError(
            f"--live-scale {divisor} is outside 1 to {DIVISOR_MAX} (hint: 2 halves the rates)"
        )
    scale = Divisor(divisor, stretch_of(loaded.scenario, divisor))
    arms = {name: _scenario(arm, scale) for name, arm in loaded.arms.items()}
    found = dict.fromkeys(
        problem for arm in arms.values() for problem in check(arm, loaded.document)
    )
    if found:
        raise ScenarioError(
            [replace(one, what=f"with --live-scale {divisor}: {one.what}") for one in found]
        )
    return replace(loaded, scenario=_scenario(loaded.scenario, scale), arms=arms)


def _scenario(scenario: Scenario, scale: Divisor) -> Scenario:
    rates_bps = expand(scenario.network).rates_bps
    switches = dict(scenario.switches)
    usual = switches.get(DEFAULTS, Switch())
    switches[DEFAULTS] = usual.model_copy(
        update={"buffer": usual.buffer}
    )  # stated, so that it is divided
    update: dict[str, Any] = {
        name: _value(getattr(scenario, name), scale) for name in ("network", "hosts", "policies")
    }
    update["switches"] = _value(switches, scale)
    update["workloads"] = {
        name: workload.divided(name, rates_bps, scale)
        for name, workload in scenario.workloads.items()
    }
    return scenario.model_copy(update=update)


def _value(value: Any, scale: Divisor) -> Any:
    """A part of a scenario, and all parts inside it."""
    if isinstance(value, Mapping):
        return {key: _value(one, scale) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one, scale) for one in value]
    if not isinstance(value, Part):
        return value
    names = (
        set(type(value).model_fields) if isinstance(value, ALWAYS) else set(value.model_fields_set)
    )
    names |= set(STRETCHED.get(type(value), ()))
    return value.model_copy(update={name: _held(value, name, scale) for name in names})


def _held(part: Part, name: str, scale: Divisor) -> Any:
    """The divided value of a key."""
    held = getattr(part, name)
    if name in STRETCHED.get(type(part), ()):
        return None if held is None else round(held * scale.stretch)
    if name in DIVIDED.get(type(part), ()):
        return _less(held, scale.divisor if name in RATES else scale.of_sizes)
    return _value(held, scale)


def _less(held: Any, factor: float) -> Any:
    """A rate or size divided; a value with neither unit is unchanged."""
    if isinstance(held, Limit):
        return (
            held.model_copy(update={"amount": round(held.amount / factor)})
            if held.unit == "bytes"
            else held
        )
    return divided_count(held, factor) if isinstance(held, int) else held
