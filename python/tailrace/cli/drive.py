"""`tailrace measure drive` and `tailrace measure specs`."""

import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tailrace.cli.codes import DONE, INTERRUPTED
from tailrace.cli.console import emit, emit_json, emit_table, emit_text, note
from tailrace.cli.measure_arguments import DriveArguments
from tailrace.errors import RunRefusedError, reason_of
from tailrace.files import make_folder
from tailrace.results.format.columns import align
from tailrace.scenario.text.units import TIME, QuantityError, parse
from tailrace.tools.drive import claim, load_run, result
from tailrace.tools.drive.as_device import as_device
from tailrace.tools.drive.drive import Drive, drive_of
from tailrace.tools.drive.identity import identity_of
from tailrace.tools.drive.io_limit import io_limits
from tailrace.tools.drive.load import DEPTH_MAX, Run, expected_s, runs_of
from tailrace.tools.drive.measurement import Measurement
from tailrace.tools.drive.report import Inspected
from tailrace.tools.drive.specification import Specification, load_specification, names, schema
from tailrace.tools.drive.split import split

PS_PER_S = 1e12
DURATION_S_MIN, DURATION_S_MAX = 2.0, 3600.0
REPEATS_MAX, JOBS_MAX = 100, 64


def disk_measure(request: DriveArguments) -> int:
    """Measures, prints and writes; returns the exit code. An interrupt keeps the completed runs."""
    duration_s = _checked(request)
    load_run.require()
    specification = load_specification(request.spec) if request.spec else None
    drive = _device(request.path)
    runs = runs_of(
        drive,
        specification,
        is_writing=request.destroy is not None,
        depth=request.depth,
        jobs=request.jobs,
    )
    _refuse_runs(drive, runs, specification)
    inspected = _inspected(drive)
    measurement = Measurement(
        drive=drive,
        specification=specification,
        runs=runs,
        duration_s=duration_s,
        repeats=request.repeats,
        link=drive.link,
        limits=io_limits(drive.number),
        carry_out=load_run.carry_out,
        say=note,
    )
    if warning := result.model_warning(measurement, inspected):
        note(f"warning: {warning}")
    folder = request.out or result.free_folder(drive.part)
    code = DONE
    with ExitStack() as stack:
        if request.destroy is not None:
            _say_lost(drive, stack.enter_context(claim.claimed(drive, request.destroy)))
        _make(folder)
        _say_plan(measurement)
        try:
            before = _precondition(drive) if request.precondition else result.NOT_DONE
            measurement.run()
        except KeyboardInterrupt:
            note("interrupted: what was measured until now is kept")
            before, code = result.NOT_DONE, INTERRUPTED
    data = result.as_data(measurement, inspected, before)
    if request.json_:
        emit_json(data)
    else:
        emit_table(partial(result.as_text, data))
    _write(data, folder)
    return code


def _checked(request: DriveArguments) -> float:
    """The length of a run in seconds; raises `RunRefusedError` for an option that makes no
    sense."""
    try:
        duration_s = parse(request.duration, TIME) / PS_PER_S
    except QuantityError as error:
        raise RunRefusedError(f"--duration: {error.what} (hint: {error.hint})") from None
    if not DURATION_S_MIN <= duration_s <= DURATION_S_MAX:
        raise RunRefusedError(
            f"--duration: {request.duration} is not between 2s and 1h (hint: --duration 10s)"
        )
    for option, value, most in (
        ("--repeats", request.repeats, REPEATS_MAX),
        ("--jobs", request.jobs, JOBS_MAX),
        ("--depth", request.depth or 1, DEPTH_MAX),
    ):
        if not 1 <= value <= most:
            raise RunRefusedError(f"{option}: {value} is not between 1 and {most}")
    if request.precondition and request.destroy is None:
        raise RunRefusedError(
            f"--precondition writes to the whole drive (hint: it needs {claim.OPTION} with the "
            "drive's name)"
        )
    if request.out is not None and (request.out / "result.json").exists():
        raise RunRefusedError(
            f"{request.out}: it has a result already (hint: choose another --out)"
        )
    return duration_s


def _device(path: Path) -> Drive:
    """A block device that can be read; a file would measure its file system."""
    drive = drive_of(path)
    if not path.is_block_device():
        raise RunRefusedError(
            f"{path} is a file, and its file system would be measured (hint: name its device)"
        )
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError as error:
        raise RunRefusedError(
            f"{path}: it cannot be read past the page cache: {reason_of(error)} (hint: root "
            "reads devices)"
        ) from None
    return drive


def _refuse_runs(drive: Drive, runs: list[Run], specification: Specification | None) -> None:
    if not runs:
        what = f"{specification.title if specification else 'the plan'} has no value of reads"
        raise RunRefusedError(f"--spec: {what} (hint: {claim.OPTION} allows writes)")
    block = drive.limits.logical_block_bytes
    for run in runs:
        if run.block_bytes % block or run.block_bytes * run.under_way > drive.size_bytes:
            what = f"{drive.device} has {drive.size_bytes} bytes in blocks of {block}"
            raise RunRefusedError(
                f"{run.title}: {what}: it is too small for this run (hint: a smaller --depth)"
            )


def _inspected(drive: Drive) -> Inspected:
    block = drive.limits.logical_block_bytes
    one = split(block, drive.limits, is_contiguous=True)
    return Inspected(drive, block, one, one, None, identity_of(drive.device, is_nvme=drive.is_nvme))


def _make(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        raise RunRefusedError(
            f"--out: {folder}: {reason_of(error)} (hint: name a folder that can be made)"
        ) from None


def _say_plan(measurement: Measurement) -> None:
    for run in measurement.runs:
        note(
            f"planned: {run.title}, {measurement.repeats} times {measurement.duration_s:g} s, "
            "then once deeper"
        )
    seconds = expected_s(measurement.runs, measurement.duration_s, measurement.repeats)
    note(
        f"measuring {measurement.drive.device}; expected time: about "
        f"{max(1, round(seconds / 60))} min"
    )


def _say_lost(drive: Drive, lost: list[str]) -> None:
    for each in lost or [
        f"{drive.part}: no partition and no known signature; whatever else it has"
    ]:
        note(f"warning: {claim.OPTION}: this is destroyed: {each}")


def _precondition(drive: Drive) -> str:
    note("pre-conditioning: the whole drive is written once")
    load_run.precondition(drive)
    return "Pre-conditioned: the whole drive was written once, sequentially."


def _write(data: dict[str, object], folder: Path) -> None:
    from tailrace.tools.drive import page

    try:
        page.write(data, folder)
    except OSError as error:
        raise RunRefusedError(
            f"{error.filename or folder}: {reason_of(error)}; the result is printed and not "
            "kept (hint: make room)"
        ) from None
    note(f"wrote {folder}/result.json and {folder}/report.html")


def disk_specs(name: str | None, *, is_scenario: bool, is_schema: bool, json_: bool) -> int:
    """Lists specifications, or prints one, as a device of scenarios with `is_scenario`."""
    if is_schema:
        emit_json(schema())
        return DONE
    if name is None:
        _list(json_=json_)
        return DONE
    found = load_specification(name)
    if is_scenario:
        emit_text(as_device(found, Path(name).stem.replace(".", "-")))
    elif json_:
        emit_json(found.model_dump())
    else:
        emit(_text(found))
    return DONE


def _list(*, json_: bool) -> None:
    every = {name: load_specification(name) for name in names()}
    if json_:
        emit_json({name: found.model_dump() for name, found in every.items()})
        return
    rows = [["name", "drive", "values", "read"]]
    rows += [
        [name, found.title, str(len(found.values)), found.source.read]
        for name, found in every.items()
    ]
    emit(align(rows, left=2))


def _text(found: Specification) -> str:
    rows = [["operation", "access", "at most", "block", "depth", "condition"]]
    for value in found.values:
        block = "–" if value.block is None else f"{value.block / 1024:g} KiB"
        depth = "–" if value.depth is None else str(value.depth)
        rows.append(
            [value.operation, value.access, value.text, block, depth, value.condition or ""]
        )
    source = found.source
    page = f", {source.page}" if source.page else ""
    head = f"{found.title} ({', '.join(found.models)})"
    notes = "\n".join(f"- {note_}" for note_ in found.notes)
    return "\n\n".join(
        [
            head,
            align(rows, left=2),
            f"{source.document}{page}\n{source.url}, read {source.read}",
            notes,
        ]
    )
