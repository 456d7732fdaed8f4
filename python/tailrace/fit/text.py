"""How well a scenario fits, as text and as data."""

from collections.abc import Sequence
from typing import Any

from tailrace.fit.comparing import Compared, compared_data
from tailrace.fit.scenario import Fit
from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import digits_text, rate_text


def fit_text(found: Fit, compared: Sequence[Compared]) -> str:
    """The capture beside the simulated scenario, distances of distributions, and what is unknown."""
    rows = [["", "", "per second", "goodput", "median, ms", "p99, ms"]]
    for one in compared:
        for label, seen in (("capture", one.seen), ("simulated", one.simulated)):
            name = one.name if label == "capture" else ""
            cells = [digits_text(seen.rate_per_s), rate_text(seen.goodput_bps)]
            rows.append([name, label, *cells, digits_text(seen.response_p50_ms), digits_text(seen.response_p99_ms)])
    lines = ["The capture, and a simulated run of the scenario:", align(rows), ""]
    for workload in found.found:
        if workload.distances:
            told = ", ".join(f"{key} {distance:.3f}" for key, distance in workload.distances.items())
            lines.append(fill(f"{workload.name}: distance of distributions (Kolmogorov and Smirnov): {told}.", WIDTH))
        for words in workload.unknown:
            lines.append(fill(f"{workload.name}: the capture cannot tell {words}.", WIDTH))
    lines += [fill(warning, WIDTH) for warning in found.warnings]
    return "\n".join(lines) + "\n"


def fit_data(found: Fit, compared: Sequence[Compared]) -> dict[str, Any]:
    """The same for programs, with the scenario."""
    return {
        "scenario": found.data(),
        "hosts": found.hosts,
        "length_ns": found.length_ns,
        "links": {
            "rate": found.links.words["rate"],
            "delay": found.links.words["delay"],
            "mtu": found.links.words["mtu"],
        },
        "workloads": [
            {"name": one.name, "words": one.words, "distances": one.distances, "unknown": one.unknown}
            for one in found.found
        ],
        "compared": [compared_data(one) for one in compared],
        "warnings": found.warnings,
    }
