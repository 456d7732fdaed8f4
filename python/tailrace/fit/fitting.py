"""A capture, turned into a scenario."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tailrace.errors import RunRefusedError
from tailrace.fit.conversations import Connection, DatagramFlow, connections_of, datagram_flows_of
from tailrace.fit.delay import Timing, timing_of
from tailrace.fit.group import Group, Window
from tailrace.fit.kinds.datagrams import fit_datagrams
from tailrace.fit.kinds.deciding import fit_connections
from tailrace.fit.network import Hosts, Stated, hosts_of, line_of, mtus_of
from tailrace.fit.paths import Vantage, path_of
from tailrace.fit.workload import Fit
from tailrace.profile.capture import Profile, ProfileOptions, profile_capture

WORKLOADS_MAX = 32
"""Workloads of the scenario; those with the least data are left out, and said."""
SPAN_NS_LEAST = 10_000_000
"""A shorter capture shows neither rates nor pauses."""
FRAMES_MAX = 2_000_000
"""Frames of one trial at most, so that a run takes seconds; the duration of the trial follows."""
FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
"""Characters that names of scenarios do not have."""


@dataclass(frozen=True)
class FitOptions:
    """What the capture does not show, stated."""

    line_bits_per_s: int | None = None
    delay_ps: int | None = None
    vantage: Vantage | None = None
    """Point of capture; None: from the round trips."""


@dataclass(frozen=True)
class Fitting:
    """A fitted scenario."""

    name: str
    file: str
    hosts: Hosts
    line: Stated
    timing: Timing
    mtus: Mapping[str, int]
    workloads: Mapping[str, Fit]
    span_ns: int
    duration_ns: int
    left_out: tuple[str, ...]
    """Traffic without a workload."""

    @property
    def duration_note(self) -> str:
        """Where the duration is from."""
        if self.duration_ns == self.span_ns:
            return "measured: length of the capture"
        return "assumed: a part of the capture's length, so that a trial takes seconds"


def fit_capture(path: Path, options: FitOptions) -> Fitting:
    """Fits a scenario to a file; raises `RunRefusedError` where the capture does not show enough."""
    profile = profile_capture(path, ProfileOptions(line_bits_per_s=options.line_bits_per_s))
    connections, flows = connections_of(profile), datagram_flows_of(profile)
    span_ns = _span_ns(profile, path, has_data=bool(connections or flows))
    line = line_of(profile, options.line_bits_per_s)
    start_ns = min([one.start_ns for one in connections] + [one.start_ns for one in flows])
    window = Window(start_ns, span_ns, line.value)
    hosts = hosts_of(connections, flows)
    fits = [*_tcp(connections, hosts, window, options), *_udp(flows, hosts, window)]
    if not fits:
        raise RunRefusedError(
            f"{path}: no complete exchange and no transfer of data (hint: capture both directions, for longer)"
        )
    fits.sort(key=lambda one: -one[1].seen["goodput_bits_per_s"])
    frames = profile.data["capture"]["frames"]
    return Fitting(
        name=FORBIDDEN.sub("-", path.name.split(".")[0]).strip("-_") or "capture",
        file=path.name,
        hosts=hosts,
        line=line,
        timing=timing_of(connections, line.value, options.delay_ps),
        mtus=mtus_of(connections, hosts, profile),
        workloads=_unique(fits[:WORKLOADS_MAX]),
        span_ns=span_ns,
        duration_ns=span_ns if frames <= FRAMES_MAX else round(span_ns * FRAMES_MAX / frames),
        left_out=tuple(f"{name}: {fit.kind}" for name, fit in fits[WORKLOADS_MAX:]),
    )


def _span_ns(profile: Profile, path: Path, *, has_data: bool) -> int:
    if not has_data:
        raise RunRefusedError(f"{path}: no data over TCP or UDP (hint: `tailrace profile {path}` says what is in it)")
    span_ns = int(profile.data["capture"]["duration_ns"])
    if span_ns < SPAN_NS_LEAST:
        raise RunRefusedError(f"{path}: {span_ns / 1e6:.3g} ms are too short for rates (hint: capture at least 1 s)")
    return span_ns


def _tcp(
    connections: Sequence[Connection], hosts: Hosts, window: Window, options: FitOptions
) -> Iterator[tuple[str, Fit]]:
    paths = defaultdict(list)
    groups = defaultdict(list)
    for one in connections:
        ends = hosts.names[one.client], hosts.names[one.server]
        paths[ends].append(one)
        groups[*ends, one.server_port].append(one)
    for (client, server, port), listed in groups.items():
        if client == server:
            continue
        path = path_of(paths[client, server], options.vantage)
        for fit in fit_connections(Group(client, server, port, listed, path), window):
            yield f"tcp{port}", fit


def _udp(flows: Sequence[DatagramFlow], hosts: Hosts, window: Window) -> Iterator[tuple[str, Fit]]:
    groups = defaultdict(list)
    for one in flows:
        groups[hosts.names[one.source], hosts.names[one.destination], one.destination_port].append(one)
    for (source, destination, port), listed in groups.items():
        if source != destination:
            for fit in fit_datagrams(source, destination, listed, window):
                yield f"udp{port}", fit


def _unique(fits: Sequence[tuple[str, Fit]]) -> dict[str, Fit]:
    found: dict[str, Fit] = {}
    for name, fit in fits:
        number, free = 1, name
        while free in found:
            number += 1
            free = f"{name}-{number}"
        found[free] = fit
    return found
