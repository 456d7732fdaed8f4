"""Time series of a trial from an instant to its end."""

from itertools import pairwise

from tailrace.results.directory.run_directory import Trial
from tailrace.results.directory.tables import read_trial_table

Bin = tuple[int, float]
"""Start in picoseconds and value."""


def goodput_bytes_after(trial: Trial, workload: str, after_ps: int) -> tuple[float, int] | None:
    """Bytes that arrived in the bins from `after_ps` on, and how long that is; None where nothing
    was recorded."""
    bins = _bins(trial, "workload_series", ("workload", "goodput_bytes"))
    number = trial.workload_numbers.get(workload)
    if number is None or not bins:
        return None
    key = ("width of workload_series",)
    if key not in trial.kept:
        trial.kept[key] = _width_ps([start for rows in bins.values() for start, _ in rows])
    from_ps, time_ps = _rest(trial, trial.kept[key], after_ps)
    mine = bins.get(number, [])
    return (
        (sum(value for start, value in mine if start >= from_ps), time_ps) if time_ps > 0 else None
    )


def depth_after(trial: Trial, port: str, column: str, after_ps: int) -> float | None:
    """Mean (`queue_mean_bytes`) or largest (`queue_max_bytes`) depth of a port from `after_ps`
    on."""
    number = port_number(trial, port)
    rows = (
        _bins(trial, "port_series", ("port", column)).get(number, []) if number is not None else []
    )
    if not rows:
        return None
    width_ps = _width_ps([start for start, _ in rows])
    from_ps, time_ps = _rest(trial, width_ps, after_ps)
    late = [value for start, value in rows if start >= from_ps]
    if time_ps <= 0:
        return None
    # The time after the last recorded bin has no bytes.
    return max(late, default=0.0) if column == "queue_max_bytes" else sum(late) * width_ps / time_ps


def depth_percentile(trial: Trial, port: str, percent: float) -> float | None:
    """The depth that a port does not exceed for this percentage of the time; None where the port
    was not observed."""
    number = port_number(trial, port)
    if number is None or not trial.has_table("queue_depth"):
        return None
    seen = sorted(_depths(trial).get(number, []))
    wanted = sum(time_ps for _, time_ps in seen) * percent / 100
    passed = 0
    for depth, time_ps in seen:
        passed += time_ps
        if passed >= wanted:
            return float(depth)
    return None


def _depths(trial: Trial) -> dict[int, list[tuple[int, int]]]:
    """By number of a port, the depths at which it stood, and for how long."""
    if ("queue_depth",) not in trial.kept:
        table = read_trial_table(trial, "queue_depth")
        found: dict[int, list[tuple[int, int]]] = {}
        for number, *seen in zip(
            *(table.column(name) for name in ("port", "depth_bytes", "time_ps")), strict=True
        ):
            found.setdefault(number, []).append((seen[0], seen[1]))
        trial.kept["queue_depth",] = found
    kept: dict[int, list[tuple[int, int]]] = trial.kept["queue_depth",]
    return kept


def port_number(trial: Trial, port: str) -> int | None:
    """Number of a port `node>neighbour` in the tables of its trial."""
    return next(iter(trial.port_numbers.get(port, [])), None)


def _bins(trial: Trial, name: str, columns: tuple[str, str]) -> dict[int, list[Bin]]:
    """Rows of a table by the number in its first column."""
    if not trial.has_table(name):
        return {}
    if (name, columns) in trial.kept:
        kept: dict[int, list[Bin]] = trial.kept[name, columns]
        return kept
    table = read_trial_table(trial, name)
    found: dict[int, list[Bin]] = {}
    trial.kept[name, columns] = found
    read = (table.column(column) for column in (columns[0], "start_ps", columns[1]))
    for number, start, value in zip(*read, strict=True):
        found.setdefault(number, []).append((start, value))
    return found


def _width_ps(starts: list[int]) -> int:
    """Width of the bins; 0 for fewer than two bins, which do not determine it."""
    ordered = sorted(set(starts))
    return min((right - left for left, right in pairwise(ordered)), default=0)


def _rest(trial: Trial, width_ps: int, after_ps: int) -> tuple[int, int]:
    """The first edge of a bin from `after_ps` on, and the time from there to the end of the
    trial."""
    if width_ps == 0:
        return after_ps, 0
    from_ps = -(-after_ps // width_ps) * width_ps
    return from_ps, trial.outcome.end_ps - from_ps
