"""`tailrace show interfaces`."""

import json
import time
from collections.abc import Sequence
from math import gcd
from pathlib import Path
from typing import Any

from tailrace.cli.console import emit, emit_json, emit_table, emit_text
from tailrace.cli.trial_arguments import InterfacesArguments
from tailrace.errors import RunRefusedError, closest, reason_of
from tailrace.files import read_json
from tailrace.live.lab import standing
from tailrace.results import Run
from tailrace.results.compare.fidelity import engine_name
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.directory.run_directory import Trial
from tailrace.results.directory.tables import read_trial_table
from tailrace.results.ports.interfaces import (
    COUNTERS,
    Row,
    difference,
    format_interfaces,
    rows_of,
    series_of,
)
from tailrace.scenario.schema import quantity_text
from tailrace.scenario.text.units import TIME, QuantityError, parse

PS_PER_S = 10**12
INTERVAL_PS_MIN = 10**10
"""A reading takes about a millisecond."""
SIMULATED = "simulated"
NOT_RECORDED = {
    SIMULATED: "interfaces were not recorded over time (hint: simulate with `--set "
    "observe.interfaces=1s`)",
    "exact": "exact runs count interfaces once, at the end (hint: omit "
    "--interval, or simulate the scenario)",
    "live": "live runs count interfaces once, at the end (hint: omit the run directory while the "
    "fabric is up)",
}
"""Why a run has no readings over time, by engine."""
FOREIGN = "it is not what `show interfaces --json` prints"


def show_interfaces(wanted: InterfacesArguments, *, json_: bool) -> None:
    """Prints the interfaces of a trial, or of a fabric that is up."""
    _refuse(wanted)
    if wanted.run is not None:
        _of_run(wanted.run, wanted, json_=json_)
    elif wanted.since is not None:
        _since(wanted.since, wanted, json_=json_)
    elif wanted.interval is not None:
        _repeatedly(wanted, json_=json_)
    else:
        rows = _of_fabric(wanted)
        if json_:
            emit_json({"interfaces": [row.data() for row in rows]})
        else:
            emit_table(lambda: format_interfaces(rows))


def _refuse(wanted: InterfacesArguments) -> None:
    """Options that do not belong together."""
    is_fabric = {"--fabric": wanted.fabric, "--since": wanted.since}
    for option, value in is_fabric.items():
        if wanted.run is not None and value is not None:
            raise RunRefusedError(
                f"{option} is for a fabric that is up, not for a run directory (hint: omit one)"
            )
    if wanted.run is None and (wanted.arm is not None or wanted.trial != 1):
        raise RunRefusedError("--arm and --trial are for a run directory (hint: name one)")
    if wanted.count is not None and wanted.interval is None:
        raise RunRefusedError("--count needs --interval (hint: --interval 1s --count 300)")
    if wanted.since is not None and wanted.interval is not None:
        raise RunRefusedError("--since and --interval exclude each other (hint: omit one)")


def _of_run(path: Path, wanted: InterfacesArguments, *, json_: bool) -> None:
    run = Run.read(path)
    trial = trial_of(run, wanted.arm, wanted.trial)
    if wanted.interval is not None:
        _over_time(trial, engine_name(run), wanted, json_=json_)
        return
    rows = _chosen(rows_of(trial.outcome.netstat), wanted.interface, str(path))
    if json_:
        emit_json(
            {"arm": trial.arm, "trial": trial.number, "interfaces": [row.data() for row in rows]}
        )
    else:
        emit_table(lambda: format_interfaces(rows))


def _over_time(trial: Trial, engine: str, wanted: InterfacesArguments, *, json_: bool) -> None:
    """The readings that a simulated trial has recorded, at multiples of the interval."""
    assert wanted.interval is not None
    last = rows_of(trial.outcome.netstat)
    if not trial.has_table("interface_series"):
        raise RunRefusedError(
            f"{trial.files.stem}: {NOT_RECORDED.get(engine, NOT_RECORDED[SIMULATED])}"
        )
    interval_ps = _interval_ps(wanted.interval)
    readings = list(series_of(last, read_trial_table(trial, "interface_series").rows()))
    recorded_ps = gcd(*(at_ps for at_ps, _ in readings))
    if not readings or interval_ps % recorded_ps:
        raise RunRefusedError(
            f"--interval: {wanted.interval} is no multiple of observe.interfaces, "
            f"{quantity_text(recorded_ps, TIME)} (hint: write a multiple of it)"
        )
    begin_ps = trial.outcome.counted_from_ps or 0
    due = [
        (at_ps, rows) for at_ps, rows in readings if at_ps % interval_ps == 0 and at_ps > begin_ps
    ]
    if not due:
        raise RunRefusedError(
            "--interval: the measured interval has no reading at a multiple of "
            f"{wanted.interval} (hint: write less)"
        )
    for number, (at_ps, rows) in enumerate(due[: wanted.count]):
        _print_reading(
            number,
            at_ps / PS_PER_S,
            _chosen(rows, wanted.interface, str(trial.files.stem)),
            json_=json_,
        )


def _print_reading(number: int, time_s: float, rows: Sequence[Row], *, json_: bool) -> None:
    """As `netstat -ic`: the head once, the counters of every interface again and again; JSON has
    one object a line."""
    if json_:
        emit_text(
            json.dumps({"time_s": round(time_s, 6), "interfaces": [row.data() for row in rows]})
        )
    else:
        table = format_interfaces(rows)
        emit(table if number == 0 else table.partition("\n")[2])


def _of_fabric(wanted: InterfacesArguments) -> list[Row]:
    fabric = standing.chosen(wanted.fabric)
    return _chosen(rows_of(fabric.counters().netstat), wanted.interface, f"fabric '{fabric.name}'")


def _chosen(rows: Sequence[Row], interface: str | None, where: str) -> list[Row]:
    """All rows, or those of one node or interface."""
    if interface is None:
        return list(rows)
    found = [row for row in rows if interface in (row.interface, row.node)]
    if not found:
        names = list(dict.fromkeys([row.node for row in rows] + [row.interface for row in rows]))
        raise RunRefusedError(
            f"{where}: there is no interface '{interface}' (hint: "
            f"{closest(interface, names, 'names')})"
        )
    return found


def _since(file: Path, wanted: InterfacesArguments, *, json_: bool) -> None:
    """Before, after, and the difference."""
    before = _chosen(_read(file), wanted.interface, str(file))
    after = _of_fabric(wanted)
    parts = {"before": before, "after": after, "difference": difference(after, before)}
    if json_:
        emit_json({name: [row.data() for row in rows] for name, rows in parts.items()})
        return
    for name, rows in parts.items():
        emit(f"{name}:")
        emit_table(lambda rows=rows: format_interfaces(rows))  # type: ignore[misc]


def _read(file: Path) -> list[Row]:
    """The rows of an output of `show interfaces --json`."""
    try:
        rows: list[dict[str, Any]] = read_json(file)["interfaces"]
        names = ("node", "towards", "name", "mtu_bytes", *COUNTERS, "flags")
        found = [Row(**{name: row[name] for name in names}) for row in rows]
    except OSError as error:
        raise _foreign(file, reason_of(error)) from None
    except (ValueError, KeyError, TypeError):
        raise _foreign(file, FOREIGN) from None
    if not all(
        value is None or isinstance(value, int) for row in found for value in row.counted().values()
    ):
        raise _foreign(file, FOREIGN)
    return found


def _foreign(file: Path, why: str) -> RunRefusedError:
    return RunRefusedError(
        f"{file}: {why} (hint: `tailrace show interfaces --json > {file}` writes one)"
    )


def _repeatedly(wanted: InterfacesArguments, *, json_: bool) -> None:
    """A reading every interval, from now on."""
    assert wanted.interval is not None
    interval_s = _seconds(wanted.interval)
    started_s = time.monotonic()
    number = 0
    while wanted.count is None or number < wanted.count:
        due_s = started_s + number * interval_s
        time.sleep(max(0.0, due_s - time.monotonic()))
        read_s = time.monotonic() - started_s
        _print_reading(number, read_s, _of_fabric(wanted), json_=json_)
        number += 1


def _interval_ps(text: str) -> int:
    try:
        interval_ps = parse(text, TIME)
    except QuantityError as error:
        raise RunRefusedError(f"--interval: {error.what} (hint: {error.hint})") from None
    if interval_ps <= 0:
        raise RunRefusedError("--interval must be greater than zero (hint: --interval 1s)")
    return interval_ps


def _seconds(text: str) -> float:
    interval_ps = _interval_ps(text)
    if interval_ps < INTERVAL_PS_MIN:
        raise RunRefusedError(f"--interval: '{text}' is shorter than 10ms (hint: --interval 1s)")
    return interval_ps / PS_PER_S
