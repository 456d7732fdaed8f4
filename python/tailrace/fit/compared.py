"""A scenario and its simulated run beside the capture; server times without the queues that the
simulation has.

Where a capture is taken before a queue, the time to a response contains it, and the simulation adds
its own: the queue counts twice. What the simulation adds is taken from the server's times, until
both latencies agree.

Means of a server's times and of a queue add up to the mean of their sum, whatever their
distributions; medians do not, and times that are cut off at zero have another mean. So the mean
decides how much is taken, after the cut, and the spread above the median how the rest is scaled.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from tailrace.experiment.reporter import Reporter, Silent
from tailrace.experiment.stages import working
from tailrace.fit.comparing import NS_PER_MS, Beside, beside
from tailrace.fit.document import recordings_of, scenario_text
from tailrace.fit.fitting import FitOptions, Fitting, fit_profile
from tailrace.fit.paths import NetworkPart
from tailrace.fit.simulated import simulate
from tailrace.fit.workload import Answers, Fit
from tailrace.profile.capture import ProfileOptions, profile_capture
from tailrace.results.summary.kinds import LatencyFigures

CORRECTIONS_MAX = 4
"""Simulations besides the first."""
LONGER = 0.05
"""A simulated latency that is longer by this share, and the time below, has a queue twice."""
LONGER_NS = 50_000
SHARE_LEAST = 0.05
"""Of the spread of times to responses."""
HALVINGS = 60
"""Of the range in which the shift is sought: finer than a nanosecond."""


def fit_compared(
    path: Path, options: FitOptions, reporter: Reporter | None = None
) -> tuple[Fitting, list[Beside]]:
    """Fits a scenario to a file and compares it; raises `RunRefusedError` where the capture does
    not show enough."""
    reporter = reporter or Silent()
    with working(reporter, f"reading {path.name}"):
        profile = profile_capture(path, ProfileOptions(line_bits_per_s=options.line_bits_per_s))
    with working(reporter, f"fitting a scenario to {path.name}"):
        fitting = fit_profile(profile, path, options)
    with working(reporter, "simulating the fitted scenario"):
        compared, latencies = _compare(fitting)
    parts: dict[str, NetworkPart] = {}
    for _ in range(CORRECTIONS_MAX):
        found = _parts(fitting, latencies, parts)
        if found == parts:
            break
        parts = found
        with working(reporter, "correcting the fit, and simulating it again"):
            fitting = fit_profile(profile, path, replace(options, networks=parts))
            compared, latencies = _compare(fitting)
    return fitting, compared


def _compare(fitting: Fitting) -> tuple[list[Beside], Mapping[str, LatencyFigures]]:
    """The rows of all workloads, and the simulated latencies of those that have some."""
    with tempfile.TemporaryDirectory(prefix="tailrace-fit-") as folder:
        scenario = Path(folder) / "fitted.yaml"
        scenario.write_text(scenario_text(fitting, scenario.stem), encoding="utf-8")
        for name, text in recordings_of(fitting, scenario.stem).items():
            scenario.with_name(name).write_text(text, encoding="utf-8")
        arm = simulate(scenario)
    latencies = {
        name: one.latency_ms
        for name, one in arm.workloads.items()
        if one.latency_ms and one.latency_ms.count
    }
    return list(beside(fitting.workloads, arm, fitting.duration_ns)), latencies


def _parts(
    fitting: Fitting, latencies: Mapping[str, LatencyFigures], before: Mapping[str, NetworkPart]
) -> dict[str, NetworkPart]:
    """The parts of the network by conversation."""
    parts = dict(before)
    for name, fit in fitting.workloads.items():
        simulated = latencies.get(name)
        if not fit.has_network_wait or fit.answers is None or simulated is None:
            continue
        known = before.get(fit.conversation)
        captured_ns, more_ns = longer_by(fit, fit.answers, simulated)
        within_ns = max(LONGER * captured_ns, LONGER_NS)
        if (abs(more_ns) if known else more_ns) > within_ns:
            part = _corrected(known or NetworkPart(), fit, fit.answers, simulated, more_ns)
            parts[fit.conversation] = replace(part, within_ns=within_ns)
    return parts


def longer_by(fit: Fit, answers: Answers, simulated: LatencyFigures) -> tuple[float, float]:
    """The captured latency, and by how much the simulated one is longer: means, or medians where a
    few transactions decide one of the means (repairs of lost frames).
    """
    if answers.mean_ns > answers.p90_ns or simulated.mean > simulated.p90:
        captured_ns = fit.seen["latency_p50_ns"]
        return captured_ns, simulated.p50 * NS_PER_MS - captured_ns
    return answers.mean_ns, simulated.mean * NS_PER_MS - answers.mean_ns


def _corrected(
    part: NetworkPart, fit: Fit, answers: Answers, simulated: LatencyFigures, more_ns: float
) -> NetworkPart:
    share = part.share
    if (tail_ns := fit.seen.get("latency_p99_ns")) is not None:
        spread_ns = (simulated.p99 - simulated.p50) * NS_PER_MS
        if (
            spread_ns > LONGER * simulated.p50 * NS_PER_MS
        ):  # a smaller spread is that of the model's hosts
            captured_ns = max(1.0, tail_ns - fit.seen["latency_p50_ns"])
            share = min(1.0, max(SHARE_LEAST, part.share * captured_ns / spread_ns))
    served_ns = answers.served_ns
    wanted_ns = max(0.0, _mean_ns(part, served_ns) - more_ns / answers.per_transaction)
    return part_with_mean(served_ns, share, wanted_ns)


def part_with_mean(served_ns: Sequence[int], share: float, wanted_ns: float) -> NetworkPart:
    """The shift that leaves this mean of the times, with this share of their spread, or a larger
    one if the times have to be longer than that.
    """
    whole_ns = fmean(served_ns)
    if share * whole_ns <= wanted_ns:
        return NetworkPart(0.0, min(1.0, wanted_ns / whole_ns) if whole_ns else 1.0)
    low_ns, high_ns = 0.0, float(max(served_ns))
    for _ in range(HALVINGS):
        middle_ns = (low_ns + high_ns) / 2
        is_too_long = _mean_ns(NetworkPart(middle_ns, share), served_ns) > wanted_ns
        low_ns, high_ns = (middle_ns, high_ns) if is_too_long else (low_ns, middle_ns)
    return NetworkPart(high_ns, share)


def _mean_ns(part: NetworkPart, served_ns: Sequence[int]) -> float:
    return fmean(part.without(one) for one in served_ns)
