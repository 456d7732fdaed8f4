"""Costs of live trials: processor time and context switches of programs, of the switch and of the
machine, in total and per request, and frames that interfaces lost.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from tailrace.outcome.types import Interfaces, Live, MachineTimes
from tailrace.results.directory.run_directory import Trial
from tailrace.results.format.numbers import PS_PER_S, PS_PER_US
from tailrace.results.metrics.processors import Switched, switches_of
from tailrace.results.summary.base import Part
from tailrace.results.summary.hosts import Costs, InterfaceLosses, MachineSpent, Spent
from tailrace.results.summary.means import means_of

P = TypeVar("P", bound=Part)
NO_LOSS = InterfaceLosses(rx_dropped=0, rx_overruns=0, tx_dropped=0, tx_overruns=0)


class Used(Switched, Protocol):
    """A program, all programs of a workload on a host, or the switch."""

    @property
    def user_ps(self) -> int:
        """On the program itself."""

    @property
    def system_ps(self) -> int:
        """On system calls."""


def summarise_costs(trials: list[Trial]) -> Costs | None:
    """Means over live trials; None for others."""
    found = [_row(trial, live) for trial in trials if (live := trial.outcome.live)]
    if not found:
        return None
    switches = [row.switch for row in found if row.switch]
    return Costs(
        programs=_by_name(Spent, [row.programs for row in found]),
        switch=means_of(Spent, switches) if switches else None,
        neighbours=_by_name(Spent, [row.neighbours for row in found]),
        machine=means_of(MachineSpent, [row.machine for row in found]),
        losses=_by_name(InterfaceLosses, [row.losses for row in found]),
    )


def _by_name(kind: type[P], rows: Sequence[Mapping[str, P]]) -> dict[str, P]:
    """Means over the trials that have a part of this name."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: means_of(kind, [row[name] for row in rows if name in row]) for name in names}


def _row(trial: Trial, live: Live) -> Costs:
    span_s = live.span_s
    requests = {own.name: own.transactions for own in trial.outcome.workloads}
    done = sum(requests.values())
    return Costs(
        programs={
            f"{own.name}/{host.name}": _spent(own, span_s, requests.get(own.name, 0))
            for host in trial.outcome.hosts
            for own in host.programs or []
        },
        switch=_spent(live.switch, span_s, done) if live.switch else None,
        neighbours={name: _spent(own, span_s, 0) for name, own in live.neighbours.items()},
        machine=_machine(live.machine, span_s, done),
        losses=_losses(live.interfaces),
    )


def _spent(own: Used, span_s: float, requests: int) -> Spent:
    return Spent(
        user_cores=own.user_ps / PS_PER_S / span_s,
        system_cores=own.system_ps / PS_PER_S / span_s,
        voluntary_per_s=own.voluntary_switches / span_s,
        involuntary_per_s=own.involuntary_switches / span_s,
        switches_per_request=switches_of(own) / requests if requests else None,
        cpu_us_per_request=(own.user_ps + own.system_ps) / PS_PER_US / requests
        if requests
        else None,
    )


def _machine(own: MachineTimes, span_s: float, requests: int) -> MachineSpent:
    return MachineSpent(
        user_cores=own.user_ps / PS_PER_S / span_s,
        system_cores=own.system_ps / PS_PER_S / span_s,
        softirq_cores=own.softirq_ps / PS_PER_S / span_s,
        steal_cores=None if own.steal_ps is None else own.steal_ps / PS_PER_S / span_s,
        idle_cores=None if own.idle_ps is None else own.idle_ps / PS_PER_S / span_s,
        switches_per_s=own.context_switches / span_s,
        switches_per_request=own.context_switches / requests if requests else None,
        backlog_dropped=own.backlog["dropped"],
        backlog_squeezed=own.backlog["squeezed"],
    )


def _losses(interfaces: Interfaces) -> dict[str, InterfaceLosses]:
    """Interfaces that lost frames, of hosts and of a foreign switch."""
    every = {f"{host} eth0": own for host, own in interfaces.hosts.items()} | interfaces.switch
    found = {
        name: InterfaceLosses(
            rx_dropped=own["rx_dropped"],
            rx_overruns=own["rx_overruns"],
            tx_dropped=own["tx_dropped"],
            tx_overruns=own["tx_overruns"],
        )
        for name, own in every.items()
    }
    return {name: lost for name, lost in found.items() if lost != NO_LOSS}


def parts_of(costs: Costs, most: int | None = None) -> list[tuple[str, Spent]]:
    """The programs, the switch and the neighbours of an arm with their processor time; of programs
    and neighbours at most `most`."""
    switch = [("switch", costs.switch)] if costs.switch else []
    return [*list(costs.programs.items())[:most], *switch, *list(costs.neighbours.items())[:most]]


def cost_rows(
    arms: Iterable[tuple[str, Costs | None]], text: Callable[[float | None], str]
) -> list[list[str]]:
    """A text table with the programs, the switch, the neighbours and the machine of each arm; none
    without costs."""
    rows: list[list[str]] = []
    for arm, costs in arms:
        if costs is None:
            continue
        rows += [
            [arm, name, *(text(value) for value in _figures(part))]
            for name, part in parts_of(costs)
        ]
        machine = costs.machine
        figures = (machine.user_cores, machine.system_cores, machine.softirq_cores)
        switches = (machine.switches_per_s, machine.switches_per_request, None)
        rows.append([arm, "machine", *(text(value) for value in (*figures, *switches))])
    return [["arm", "workload/host", *HEADS], *rows] if rows else []


HEADS = (
    "user, cores",
    "system, cores",
    "soft irq, cores",
    "switches/s",
    "per request",
    "CPU us/request",
)


def _figures(part: Spent) -> tuple[float | None, ...]:
    return (
        part.user_cores,
        part.system_cores,
        None,
        part.voluntary_per_s + part.involuntary_per_s,
        part.switches_per_request,
        part.cpu_us_per_request,
    )
