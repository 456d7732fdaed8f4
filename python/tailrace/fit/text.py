"""How well a scenario fits, for people and as JSON."""

from collections.abc import Sequence
from typing import Any

from tailrace.fit.comparing import FAR, NS_PER_S, Beside
from tailrace.fit.fitting import Fitting
from tailrace.results.format.columns import Row, align
from tailrace.results.format.numbers import (
    bytes_text,
    count_text,
    number,
    rate_text,
    signed_text,
    span_text,
)

PS_PER_NS = 1000
NAMES = {
    "count": "number",
    "payload_bytes": "data",
    "rate_per_s": "rate",
    "goodput_bits_per_s": "goodput",
    "latency_p50_ns": "latency p50",
    "latency_p99_ns": "latency p99",
}
"""Statistics in words."""


def fit_text(fitting: Fitting, compared: Sequence[Beside]) -> str:
    """Tables of distributions and of the comparison, and unknown properties."""
    sections = [_warnings(compared), _distributions(fitting), _compared(compared), _notes(fitting)]
    return "\n\n".join(section for section in sections if section)


def farthest_text(compared: Sequence[Beside]) -> str:
    """The statistic whose simulated value is farthest from the captured one, in words."""
    found = [(off, one) for one in compared if (off := one.off) is not None]
    if not found:
        return "no statistic can be compared"
    off, one = max(found, key=lambda each: abs(each[0]))
    return f"farthest from it: {NAMES[one.statistic]} of {one.workload}, {_percent(off)}"


def fit_data(fitting: Fitting, compared: Sequence[Beside]) -> dict[str, Any]:
    """All of it as data; keys end with their units."""
    return {
        "scenario": fitting.name,
        "hosts": fitting.hosts.listed,
        "line_bps": fitting.line.value,
        "delay_ps": fitting.timing.delay.value,
        "workloads": {
            name: {
                "kind": fit.kind,
                "settings": {
                    one.key: {
                        "value": one.value,
                        "origin": one.origin and str(one.origin),
                        "note": one.note,
                    }
                    for one in fit.settings
                },
                "fits": {
                    key: {
                        "count": one.count,
                        "mean": one.mean,
                        "ks_distance": one.distance,
                        "mean_off": one.mean_off,
                    }
                    for key, one in fit.fits.items()
                },
                "notes": list(fit.notes),
            }
            for name, fit in fitting.workloads.items()
        },
        "compared": [
            {
                "workload": one.workload,
                "statistic": one.statistic,
                "active_s": one.active_ns / NS_PER_S,
                "is_far": one.is_far,
                "captured": one.captured,
                "simulated": one.simulated,
                "relative_difference": one.off,
            }
            for one in compared
        ],
        "left_out": list(fitting.left_out),
    }


def _warnings(compared: Sequence[Beside]) -> str:
    """Rows that are far apart: the scenario does not describe these workloads."""
    return "\n".join(
        f"warning: {one.workload}: {NAMES[one.statistic]} {_apart(one)}: the scenario does not "
        "describe this workload"
        for one in compared
        if one.is_far
    )


def _apart(one: Beside) -> str:
    if one.off is None:
        return "has no simulated value"
    return f"differs by {_percent(one.off)} from the capture (limit {FAR:.0%})"


def _distributions(fitting: Fitting) -> str:
    rows: list[Row] = [("workload", "distribution", "values", "KS distance", "mean off")]
    for name, fit in fitting.workloads.items():
        for key, one in fit.fits.items():
            rows.append(
                (
                    f"{name} ({fit.kind})",
                    key,
                    count_text(one.count),
                    f"{one.distance:.3f}",
                    _percent(one.mean_off),
                )
            )
    return align(rows) if len(rows) > 1 else ""


def _compared(compared: Sequence[Beside]) -> str:
    if not compared:
        return ""
    rows: list[Row] = [
        ("workload", "active for", "statistic", "capture", "simulated", "difference")
    ]
    for one in compared:
        simulated = "-" if one.simulated is None else _value(one.statistic, one.simulated)
        off = "-" if one.off is None else _percent(one.off)
        active = span_text(one.active_ns * PS_PER_NS)
        rows.append(
            (
                one.workload,
                active,
                NAMES[one.statistic],
                _value(one.statistic, one.captured),
                simulated,
                off,
            )
        )
    return align(rows)


def _notes(fitting: Fitting) -> str:
    notes = [f"{name}: {note}" for name, fit in fitting.workloads.items() for note in fit.notes]
    notes += [f"left out: {one}" for one in fitting.left_out]
    if fitting.hosts.merged:
        notes.append(f"{fitting.hosts.merged} addresses with the least data are one host, `others`")
    return "\n".join(f"note: {note}" for note in notes)


def _value(statistic: str, value: float) -> str:
    if statistic.endswith("_ns"):
        return span_text(value * PS_PER_NS)
    if statistic == "count":
        return count_text(round(value))
    if statistic == "payload_bytes":
        return bytes_text(round(value))
    return rate_text(value) if statistic.endswith("bits_per_s") else f"{number(value)}/s"


def _percent(share: float) -> str:
    return signed_text(100 * share, "%")
