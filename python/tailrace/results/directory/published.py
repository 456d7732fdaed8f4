"""Reads published figures as acceptance bands."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml.error import YAMLError

from tailrace.errors import reason_of
from tailrace.files import read_bytes
from tailrace.results.directory.kept import RunDirectoryError, read_text
from tailrace.results.directory.run_directory import Run
from tailrace.scenario.text.document import FILE_BYTES_MAX
from tailrace.scenario.text.units import TIME, QuantityError, parse
from tailrace.scenario.text.yaml import load_yaml
from tailrace.scenario.vocabulary import RATIOS

PUBLISHED = "published.yaml"
"""Copy of the published figures in a run directory."""
STATISTICS = ("mean", "median")
KEYS_OF_SCOPE = frozenset({"arm", "baseline", "workload", "port", "queue", "cause", "after"})
KEYS_OF_BAND = frozenset({"value", "at_least", "at_most", "tolerance", "tolerance_points"})
KEYS = KEYS_OF_SCOPE | KEYS_OF_BAND | {"metric", "statistic", "kind", "source"}
INDEPENDENT = "independent"
KINDS = (INDEPENDENT, "derived", "bound", "fitted", "input")
"""Kinds of figures as evidence, the strongest first, as documented for the scenario's `expect`.

Default: independent.
"""
CHANGES = frozenset({"acceleration_percent"})
"""Metrics that are zero for an arm that equals its baseline."""
COMPARISONS = CHANGES | set(RATIOS)
"""Metrics of two arms."""


@dataclass(frozen=True)
class Band:
    """A figure with the bounds for the result, both inclusive, in the unit of the metric."""

    metric: str
    arm: str | None
    baseline: str | None
    workload: str | None
    port: str | None
    queue: str | None
    cause: str | None
    after_ps: int
    value: float | None
    low: float | None
    high: float | None
    tolerance: str
    statistic: str
    kind: str
    source: str

    @classmethod
    def parse(cls, raw: Any, location: str) -> "Band":
        """`location` names the file and the entry in errors."""
        if not isinstance(raw, dict):
            raise RunDirectoryError(
                f"{location}: {raw!r} is not a mapping (hint: `metric: completion_s`, ...)"
            )
        if unknown := sorted(set(raw) - KEYS):
            raise RunDirectoryError(
                f"{location}: unknown key {unknown[0]} (hint: known are {', '.join(sorted(KEYS))})"
            )
        if "metric" not in raw:
            raise RunDirectoryError(
                f"{location}: metric is missing (hint: for example completion_s)"
            )
        if raw.get("statistic", "mean") not in STATISTICS:
            raise RunDirectoryError(
                f"{location}: statistic {raw['statistic']!r} (hint: {' or '.join(STATISTICS)})"
            )
        value = _number(raw.get("value"), "value", location)
        low, high, tolerance = _bounds(raw, value, location)
        band = cls(
            metric=raw["metric"],
            arm=raw.get("arm"),
            baseline=raw.get("baseline"),
            workload=raw.get("workload"),
            port=raw.get("port"),
            queue=raw.get("queue"),
            cause=raw.get("cause"),
            after_ps=_time_ps(raw.get("after", 0), location),
            value=value,
            low=low,
            high=high,
            tolerance=tolerance,
            statistic=raw.get("statistic", "mean"),
            kind=_kind(raw.get("kind", INDEPENDENT), location),
            source=raw.get("source", ""),
        )
        if "kind" in raw:
            _refuse_unmatched_kind(band, location)
        return band

    def holds(self, value: float) -> bool:
        """Whether a value lies inside."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


def read_bands(run: Run) -> list[Band]:
    """Bands of the run: those of the scenario, then those of the file of published figures."""
    inline = run.manifest.expectations
    bands = [
        Band.parse(_without_none(raw), f"manifest.json: expectations.{i}")
        for i, raw in enumerate(inline)
    ]
    text = read_text(run.files, PUBLISHED)
    return bands + ([] if text is None else _published(run.path / PUBLISHED, text))


def read_published(path: Path) -> list[Band]:
    """Bands of the file of published figures that a scenario names: a list, or a mapping with the
    list under `figures` beside a description.
    """
    try:
        text = read_bytes(path, FILE_BYTES_MAX).decode("utf-8")
    except (OSError, ValueError) as error:
        raise RunDirectoryError(f"{path}: cannot be read: {reason_of(error)}") from error
    return _published(path, text)


def _published(path: Path, text: str) -> list[Band]:
    try:
        content = load_yaml(text, is_marked=False)
    except (ValueError, YAMLError) as error:
        raise RunDirectoryError(f"{path}: cannot be read: {reason_of(error)}") from error
    listed = content.get("figures") if isinstance(content, dict) else content
    if not isinstance(listed, list):
        raise RunDirectoryError(
            f"{path}: the key `figures` must be a list (hint: one entry per figure)"
        )
    source = str(content.get("source", "")) if isinstance(content, dict) else ""
    return [
        Band.parse(_with_source(raw, source), f"{path.name}: figures.{i}")
        for i, raw in enumerate(listed)
    ]


def _kind(kind: object, location: str) -> str:
    if not isinstance(kind, str) or kind not in KINDS:
        raise RunDirectoryError(
            f"{location}: unknown kind {kind!r} (hint: known are {', '.join(KINDS)})"
        )
    return kind


def _refuse_unmatched_kind(band: Band, location: str) -> None:
    """Rejects a band around a change that contains zero, unless it is of kind `bound`."""
    if (
        band.metric in CHANGES
        and band.value is not None
        and band.kind in (INDEPENDENT, "derived")
        and band.holds(0)
    ):
        raise RunDirectoryError(
            f"{location}: kind {band.kind}, but the band {band.low:.3g} to {band.high:.3g} "
            "contains 0, the value of a "
            "mechanism without effect (hint: use a smaller tolerance, or `kind: bound`)"
        )


def _bounds(
    raw: Mapping[str, object], value: float | None, location: str
) -> tuple[float | None, float | None, str]:
    """Lower bound, upper bound, and both in words."""
    if value is None:
        low, high = (_number(raw.get(key), key, location) for key in ("at_least", "at_most"))
        words = [f"at least {low:g}"] if low is not None else []
        words += [f"at most {high:g}"] if high is not None else []
        if not words:
            raise RunDirectoryError(
                f"{location}: a figure needs value and tolerance, or limits "
                "(hint: `at_least`, `at_most`)"
            )
        return low, high, ", ".join(words)
    points = _number(raw.get("tolerance_points"), "tolerance_points", location)
    if points is not None:
        return value - points, value + points, f"±{points:g} points"
    margin = abs(value) * _percentage(raw.get("tolerance"), location) / 100
    return value - margin, value + margin, f"±{_percentage(raw.get('tolerance'), location):g} %"


def _number(number: object, key: str, location: str) -> float | None:
    if number is None or (isinstance(number, int | float) and not isinstance(number, bool)):
        return number
    raise RunDirectoryError(
        f"{location}: {key} must be a number, not {number!r} (hint: `{key}: "
        "5`, in the unit of the metric)"
    )


def _time_ps(raw: object, location: str) -> int:
    """Manifests have picoseconds; files of published figures have times with a unit."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    try:
        return parse(raw, TIME)
    except QuantityError as error:
        raise RunDirectoryError(f"{location}: after: {error.what} (hint: {error.hint})") from None


def _percentage(text: object, location: str) -> float:
    hint = "(hint: `tolerance: 10%`, or `tolerance_points: 5`)"
    number, sign, rest = str(text).partition("%")
    if not sign or rest:
        raise RunDirectoryError(f"{location}: tolerance {str(text)!r} needs a unit {hint}")
    try:
        return float(number)
    except ValueError:
        raise RunDirectoryError(
            f"{location}: tolerance {text!r} is not a percentage {hint}"
        ) from None


def _with_source(raw: Any, source: str) -> Any:
    """The source of an entry; default: that of the file."""
    return {"source": source} | raw if isinstance(raw, dict) else raw


def _without_none(raw: Mapping[str, object]) -> Mapping[str, object]:
    return {key: value for key, value in raw.items() if value is not None}
