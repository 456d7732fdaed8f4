"""A capture, turned into a scenario."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tailrace.errors import RunRefusedError
from tailrace.fit.conversations import Connection, DatagramFlow, connections_of, datagram_flows_of
from tailrace.fit.delay import Timing, shortest_round_trip_ns, timing_of
from tailrace.fit.group import Group, Window
from tailrace.fit.kinds.datagrams import fit_datagrams
from tailrace.fit.kinds.deciding import fit_connections
from tailrace.fit.network import Hosts, Stated, hosts_of, line_of, mtus_of
from tailrace.fit.paths import NetworkPart, Vantage, path_of
from tailrace.fit.quantities import time_text
from tailrace.fit.workload import Fit, Origin, Setting
from tailrace.profile.capture import PS_PER_NS, Profile, ProfileOptions, profile_capture
from tailrace.results.format.numbers import span_text
from tailrace.scenario.text.units import TIME, parse
from tailrace.scenario.workloads.recording import CONNECTIONS_MAX, REQUESTS_MAX

WORKLOADS_MAX = 32
"""Workloads of the scenario; those with the least data are left out, and said."""
SPAN_NS_LEAST = 100_000
"""A shorter capture shows neither rates nor pauses."""
SPAN_NS_MOST = 30 * 86_400 * 10**9
"""30 days: in a longer capture a clock was set, or files of different days were merged."""
FRAMES_MAX = 2_000_000
"""Frames of one trial at most, so that a run takes seconds; the duration of the trial follows."""
SPARE_SHARE = 0.05
"""Of the length of a capture: the trial of a replay is longer by it, so that the last responses
arrive."""
SPARE_NS = 10_000_000
"""Minimum extension of the trial, so that it contains the last events of the capture."""
SPARE_TRIPS = 4
"""Further extension in round trips: handshakes, and the return path."""
FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]+")
"""Characters that names of scenarios do not have."""


@dataclass(frozen=True)
class FitOptions:
    """Stated properties that the capture does not show."""

    line_bits_per_s: int | None = None
    delay_ps: int | None = None
    vantage: Vantage | None = None
    """Point of capture; None: from the round trips."""
    is_replay: bool = False
    """Whether requests over TCP keep their sizes and times."""
    networks: Mapping[str, NetworkPart] = field(default_factory=dict)
    """By conversation: the part of the times to responses that is the network's, where it is
    known."""


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
    is_replay: bool
    left_out: tuple[str, ...]
    """Traffic without a workload."""

    @property
    def has_ends(self) -> bool:
        """Whether a workload ends before the trial does, which goes on."""
        return any(fit.is_finite for fit in self.workloads.values())

    @property
    def duration_note(self) -> str:
        """Where the duration is from."""
        if self.is_replay:
            return (
                f"measured: length of the capture, and {SPARE_SHARE:.0%} "
                "for responses that come later"
            )
        if self.duration_ns >= self.span_ns:
            return "measured: length of the capture, and time for its last events"
        return "assumed: a part of the capture's length, so that a trial takes seconds"


def fit_capture(path: Path, options: FitOptions) -> Fitting:
    """Fits a scenario to a file; raises `RunRefusedError` where the capture does not show
    enough."""
    return fit_profile(
        profile_capture(path, ProfileOptions(line_bits_per_s=options.line_bits_per_s)),
        path,
        options,
    )


def fit_profile(profile: Profile, path: Path, options: FitOptions) -> Fitting:
    """Fits a scenario to the profile of a file."""
    connections, flows = connections_of(profile), datagram_flows_of(profile)
    span_ns = _span_ns(profile, path, has_data=bool(connections or flows))
    line = line_of(profile, options.line_bits_per_s)
    start_ns = min([one.start_ns for one in connections] + [one.start_ns for one in flows])
    window = Window(start_ns, span_ns, line.value, shortest_round_trip_ns(connections))
    hosts = hosts_of(connections, flows)
    fits = [*_tcp(connections, hosts, window, options), *_udp(flows, hosts, window)]
    if not fits:
        raise RunRefusedError(
            f"{path}: no complete exchange and no transfer of data (hint: capture both "
            "directions, for longer)"
        )
    fits.sort(key=lambda one: -one[1].payload_bytes)
    is_replay = any(fit.recording for _, fit in fits)
    duration_ns = _duration_ns(
        span_ns, window.rtt_ns, profile.data["capture"]["frames"], is_replay=is_replay
    )
    fits, later = _begun(fits, time_text(duration_ns))
    _check_requests(path, fits)
    return Fitting(
        name=FORBIDDEN.sub("-", path.name.split(".")[0]).strip("-_") or "capture",
        file=path.name,
        hosts=hosts,
        line=line,
        timing=timing_of(connections, line.value, options.delay_ps),
        mtus=mtus_of(connections, hosts, profile),
        workloads=_unique(fits[:WORKLOADS_MAX]),
        span_ns=span_ns,
        duration_ns=duration_ns,
        is_replay=is_replay,
        left_out=(
            *(f"{name}: {fit.kind} (too many workloads)" for name, fit in fits[WORKLOADS_MAX:]),
            *(f"{name}: {fit.kind} (it begins after the end of a trial)" for name, fit in later),
        ),
    )


def _begun(
    fits: Sequence[tuple[str, Fit]], duration: str
) -> tuple[list[tuple[str, Fit]], list[tuple[str, Fit]]]:
    """Workloads that begin in a trial of this length, as the scenario states it, and those that
    begin later."""
    end_ps = parse(duration, TIME)
    begins_ps = [
        max(
            [0, *(parse(setting.value, TIME) for setting in fit.settings if setting.key == "start")]
        )
        for _, fit in fits
    ]
    begun = [one for one, begin_ps in zip(fits, begins_ps, strict=True) if begin_ps < end_ps]
    return begun, [one for one in fits if one not in begun]


def _duration_ns(span_ns: int, rtt_ns: int, frames: int, *, is_replay: bool) -> int:
    if is_replay:
        return max(round(span_ns * (1 + SPARE_SHARE)), span_ns + SPARE_NS)
    if frames > FRAMES_MAX:
        return round(span_ns * FRAMES_MAX / frames)
    # Four digits are written; frames captured on arrival are sent at that time.
    return span_ns + max(SPARE_NS, span_ns // 500) + SPARE_TRIPS * rtt_ns


def _check_requests(path: Path, fits: Sequence[tuple[str, Fit]]) -> None:
    for name, fit in fits:
        requests = sum(map(len, fit.recording))
        if requests > REQUESTS_MAX or len(fit.recording) > CONNECTIONS_MAX:
            raise RunRefusedError(
                f"{path}: {name} has {requests} requests on {len(fit.recording)} connections; "
                "a replay has at most"
                f" {REQUESTS_MAX} on {CONNECTIONS_MAX} (hint: fit without --replay, or a "
                "shorter part of the capture)"
            )


def _span_ns(profile: Profile, path: Path, *, has_data: bool) -> int:
    if not has_data:
        raise RunRefusedError(
            f"{path}: no data over TCP or UDP (hint: `tailrace profile {path}` says what is in it)"
        )
    span_ns = int(profile.data["capture"]["duration_ns"])
    if span_ns < SPAN_NS_LEAST:
        raise RunRefusedError(
            f"{path}: {span_ns / 1e6:.3g} ms are too short for rates (hint: capture at least 1 s)"
        )
    if span_ns > SPAN_NS_MOST:
        raise RunRefusedError(
            f"{path}: its frames are {span_text(span_ns * PS_PER_NS)} apart, more than 30 days"
            " (hint: one part of it, such as `editcap -A TIME -B TIME` writes)"
        )
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
        conversation = f"{client} {server} {port}"
        farther_ns = 0 if options.delay_ps is not None else max(0, path.rtt_ns - window.rtt_ns)
        path = replace(path, network=options.networks.get(conversation), farther_ns=farther_ns)
        has_wait = path.vantage is not Vantage.SERVER
        for fit in fit_connections(
            Group(client, server, port, listed, path), window, is_replay=options.is_replay
        ):
            yield (
                f"tcp{port}",
                _at_port(replace(fit, conversation=conversation, has_network_wait=has_wait), port),
            )


def _udp(flows: Sequence[DatagramFlow], hosts: Hosts, window: Window) -> Iterator[tuple[str, Fit]]:
    groups = defaultdict(list)
    for one in flows:
        groups[hosts.names[one.source], hosts.names[one.destination], one.destination_port].append(
            one
        )
    for (source, destination, port), listed in groups.items():
        if source != destination:
            for fit in fit_datagrams(source, destination, listed, window):
                yield f"udp{port}", _at_port(fit, port)


def _at_port(fit: Fit, port: int) -> Fit:
    """The workload with the port of its server."""
    return replace(
        fit, settings=(Setting("port", port, Origin.MEASURED, "of the server"), *fit.settings)
    )


def _unique(fits: Sequence[tuple[str, Fit]]) -> dict[str, Fit]:
    found: dict[str, Fit] = {}
    for name, fit in fits:
        number, free = 1, name
        while free in found:
            number += 1
            free = f"{name}-{number}"
        found[free] = fit
    return found
