"""The list of all ports of a large network, with a search box; the first of each arm stand without
scripts too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest

from markupsafe import Markup

from tailrace.report.embedded import script_json
from tailrace.report.limits import (
    PORT_LISTS_MAX,
    PORTS_FEW_MAX,
    PORTS_LISTED_MAX,
    PORTS_TOP,
    PORTS_TOP_OF_POINT,
)
from tailrace.results import Run
from tailrace.results.format.numbers import count_text
from tailrace.results.ports.listing import PortFigures, listed_ports
from tailrace.results.summary.sweep import PlannedAxis, SweepPoint


@dataclass(frozen=True)
class TopPort:
    """A row of the table that stands without scripts."""

    arm: str
    index: int
    """Number of the arm's colour."""
    port: PortFigures
    is_first: bool
    """Whether it is the first row of its arm."""


@dataclass(frozen=True)
class PortList:
    """The section."""

    noun: str
    """Noun of the lists' owners: `arm`."""
    sentence: str
    names: list[str]
    """Names of the lists' owners."""
    first: str
    """Whose list stands first: the one with most drops."""
    count: int
    """Ports of the longest list."""
    left_out: int
    """Most ports that a list leaves out."""
    top: list[TopPort]
    data: Markup
    """All lists as JSON."""


def port_list(run: Run, arms: list[str]) -> PortList | None:
    """Ports of these arms that sent or lost a frame; None where the table of queues has them
    all."""
    listed = {arm: listed_ports(run.with_outcome(arm)) for arm in arms}
    if max((len(ports) for ports in listed.values()), default=0) <= PORTS_FEW_MAX:
        return None
    losses = [f"{arm}: {_lossy_words(ports)}." for arm, ports in listed.items()]
    colours = {arm: index for index, arm in enumerate(arms)}
    return _section("arm", " ".join(losses), listed, colours, PORTS_TOP)


def sweep_port_list(run: Run) -> PortList | None:
    """Lists of ports of every arm at every point of a sweep, or of those with most dropped frames;
    a sweep has no table of queues."""
    sweep = run.sweep
    if sweep is None:
        return None
    points: dict[str, tuple[int, str]] = {}
    for number, point in enumerate(sweep.points, start=1):
        for index, arm in enumerate(sweep.arms):
            name = f"{arm} at {_values(sweep.axes, point)}"
            name += f" (point {number})" if name in points else ""  # two values may have one text
            points[name] = index, run.arm_at(arm, point.label)
    drops: dict[str, float] = {}

    def lists() -> Iterator[tuple[str, list[PortFigures]]]:
        for name, (_, arm) in points.items():
            if ports := listed_ports(run.with_outcome(arm)):
                drops[name] = _drops(ports)
                yield name, ports

    # Not all at once: a sweep may have thousands of points.
    kept = dict(nlargest(PORT_LISTS_MAX, lists(), key=lambda one: drops[one[0]]))
    if not kept:
        return None
    listed = {name: kept[name] for name in points if name in kept}
    lossy = sum(lost > 0 for lost in drops.values())
    of = (
        f"{len(drops)} combinations of an arm and a point"
        if len(drops) > 1
        else "1 combination of an arm and a point"
    )
    sentence = (
        f"Of {of}, {lossy or 'none'} {'have' if lossy > 1 else 'has'} ports that dropped frames."
    )
    if len(listed) < len(drops):
        sentence += f" The {len(listed)} that dropped most are listed."
    colours = {name: points[name][0] for name in listed}
    return _section("arm and point", sentence, listed, colours, PORTS_TOP_OF_POINT)


def _values(axes: Sequence[PlannedAxis], point: SweepPoint) -> str:
    """`delay = 1us, load = 40%`: long labels of points are cut for the names of folders."""
    return ", ".join(f"{axis.name} = {point.values[axis.path]}" for axis in axes)


def _section(
    noun: str,
    sentence: str,
    listed: dict[str, list[PortFigures]],
    colours: dict[str, int],
    top: int,
) -> PortList:
    each_max = PORTS_LISTED_MAX // len(listed)
    shown = {name: ports[:each_max] for name, ports in listed.items()}
    return PortList(
        noun=noun,
        sentence=sentence,
        names=list(listed),
        first=max(listed, key=lambda name: _drops(listed[name])),
        count=max(len(ports) for ports in listed.values()),
        left_out=max(len(listed[name]) - len(ports) for name, ports in shown.items()),
        top=[
            TopPort(name, colours[name], port, is_first=at == 0)
            for name, ports in shown.items()
            for at, port in enumerate(ports[:top])
        ],
        data=_json(shown),
    )


def _drops(ports: list[PortFigures]) -> float:
    return sum(port.drops_frames for port in ports)


def _lossy_words(ports: list[PortFigures]) -> str:
    """`12 ports dropped frames`."""
    lossy = sum(port.drops_frames > 0 for port in ports)
    return f"{count_text(lossy) if lossy else 'no'} port{'' if lossy < 2 else 's'} dropped frames"


def _json(listed: dict[str, list[PortFigures]]) -> Markup:
    """By arm a row for each port; a node is named once, because a switch has many ports."""
    nodes: dict[str, int] = {}
    arms = []
    for arm, ports in listed.items():
        rows = []
        for port in ports:
            node, _, towards = port.name.partition(">")
            index = nodes.setdefault(node, len(nodes))
            busy = round(port.utilisation_percent, 1)
            rows.append([index, towards, round(port.drops_frames, 1), port.queue_bytes_max, busy])
        arms.append({"name": arm, "rows": rows})
    return script_json({"nodes": list(nodes), "arms": arms})
