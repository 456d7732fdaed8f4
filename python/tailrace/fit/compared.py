"""A scenario and its simulated run beside the capture; server times without the queues that the simulation has.

Where a capture is taken before a queue, the time to a response contains it, and the simulation adds its own: the queue
counts twice. What the simulation adds is taken from the server's times, until both latencies agree.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tailrace.experiment.reporter import Reporter, Silent
from tailrace.experiment.stages import working
from tailrace.fit.comparing import Beside, beside
from tailrace.fit.document import recordings_of, scenario_text
from tailrace.fit.fitting import FitOptions, Fitting, fit_profile
from tailrace.fit.paths import NetworkPart
from tailrace.fit.simulated import simulate
from tailrace.profile.capture import ProfileOptions, profile_capture

CORRECTIONS_MAX = 4
"""Simulations besides the first."""
LONGER = 0.05
"""A simulated median that is longer by this share, and the time below, has a queue twice."""
LONGER_NS = 50_000
SHARE_LEAST = 0.05
"""Of the spread of times to responses."""
MEDIAN, TAIL = "latency_p50_ns", "latency_p99_ns"


def fit_compared(path: Path, options: FitOptions, reporter: Reporter | None = None) -> tuple[Fitting, list[Beside]]:
    """Fits a scenario to a file and compares it; raises `RunRefusedError` where the capture does not show enough."""
    reporter = reporter or Silent()
    with working(reporter, f"reading {path.name}"):
        profile = profile_capture(path, ProfileOptions(line_bits_per_s=options.line_bits_per_s))
    with working(reporter, f"fitting a scenario to {path.name}"):
        fitting = fit_profile(profile, path, options)
    with working(reporter, "simulating the fitted scenario"):
        compared = _compare(fitting)
    parts: dict[str, NetworkPart] = {}
    for _ in range(CORRECTIONS_MAX):
        found = _parts(fitting, compared, parts)
        if found == parts:
            break
        parts = found
        with working(reporter, "correcting the fit, and simulating it again"):
            fitting = fit_profile(profile, path, replace(options, networks=parts))
            compared = _compare(fitting)
    return fitting, compared


def _compare(fitting: Fitting) -> list[Beside]:
    with tempfile.TemporaryDirectory(prefix="tailrace-fit-") as folder:
        scenario = Path(folder) / "fitted.yaml"
        scenario.write_text(scenario_text(fitting, scenario.stem), encoding="utf-8")
        for name, text in recordings_of(fitting, scenario.stem).items():
            scenario.with_name(name).write_text(text, encoding="utf-8")
        return list(beside(fitting.workloads, simulate(scenario), fitting.duration_ns))


def _parts(fitting: Fitting, compared: Sequence[Beside], before: Mapping[str, NetworkPart]) -> dict[str, NetworkPart]:
    """The parts of the network by conversation, from medians and 99th percentiles."""
    parts = dict(before)
    of = {(one.workload, one.statistic): one for one in compared}
    for name, fit in fitting.workloads.items():
        median, tail = of.get((name, MEDIAN)), of.get((name, TAIL))
        if not fit.has_network_wait or median is None or not median.simulated or (tail and not tail.simulated):
            continue
        known = before.get(fit.conversation)
        more_ns = abs(median.simulated - median.captured) if known else median.simulated - median.captured
        if more_ns > max(LONGER * median.captured, LONGER_NS):
            parts[fit.conversation] = _corrected(known or NetworkPart(), median, tail)
    return parts


def _corrected(part: NetworkPart, median: Beside, tail: Beside | None) -> NetworkPart:
    """Spreads of the server's times and of queues add up, as medians do."""
    assert median.simulated is not None
    share = part.share
    if tail is not None:
        assert tail.simulated is not None
        simulated_ns, captured_ns = tail.simulated - median.simulated, max(1.0, tail.captured - median.captured)
        if simulated_ns > LONGER * median.simulated:  # a smaller spread is that of the model's hosts
            share = min(1.0, max(SHARE_LEAST, part.share * captured_ns / simulated_ns))
    served_ns = max(0.0, median.captured - part.less_ns)
    more_ns = median.simulated - median.captured - (part.share - share) * served_ns
    return NetworkPart(max(0.0, part.less_ns + more_ns / share), share)
