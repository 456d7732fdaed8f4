"""`tailrace trace`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tailrace import files
from tailrace.cli.console import emit, emit_json, note
from tailrace.cli.outputs import refuse_unwritable
from tailrace.cli.trial_arguments import TraceArguments
from tailrace.errors import RunRefusedError, closest, listed
from tailrace.experiment.engine import LIVE
from tailrace.experiment.explain import (
    causes_of,
    chosen_workloads,
    explain_all,
    other_events_words,
    trial_plan,
)
from tailrace.experiment.native import simulator_version
from tailrace.experiment.reporter import reporter_for
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.types import Outcome
from tailrace.results import Run
from tailrace.results.causes.causes import NO_USER
from tailrace.results.causes.counted import counted_from_ps
from tailrace.results.causes.sentence import sentence
from tailrace.results.causes.wires import wire_names
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.format.numbers import bytes_text, count_text
from tailrace.scenario.lowering.plan import canonical_json
from tailrace.scenario.text.units import TIME, QuantityError, parse
from tailrace.timeline.capture import capture_of
from tailrace.timeline.chosen import (
    INTERVAL_REASON,
    Chosen,
    Workloads,
    at,
    by_id,
    intervals,
    slowest,
)
from tailrace.timeline.live import chosen_reason, live_log, read_live
from tailrace.timeline.log import Log
from tailrace.timeline.simulate import connections_of, datagram_workloads, log_of
from tailrace.timeline.tracks import SLICES_MAX, trace_of

SUFFIX = ".perfetto-trace"


def trace_run(path: Path, wanted: TraceArguments, *, json_: bool) -> None:
    """Writes the files and prints the transactions in them."""
    at_ps = _one_choice(wanted)
    run = Run.read(path)
    if run.manifest.engine == LIVE:
        _trace_live(run, wanted, at_ps, json_=json_)
        return
    trial = trial_of(run, wanted.arm, wanted.number)
    key = TrialKey(trial.arm, trial.number)
    plan = trial_plan(run, trial)
    _refuse_port(plan, wanted.port)
    text = canonical_json(plan)
    if streams := connections_of(plan, wanted.workload):
        if at_ps is None:
            raise RunRefusedError(
                f"{path}: '{wanted.workload}' is a stream without an end, which is never complete "
                "(hint: `--at TIME` shows 5 ms of its connections)"
            )
        _refuse_files(wanted)
        chosen = intervals(list(streams), at_ps, trial.outcome.end_ps, streams)
        chosen = [
            replace(one, why=f"{INTERVAL_REASON}, connection {one.transaction.user}")
            for one in chosen
        ]
        _print_result(
            run, key, _write(run, log_of(plan, text, chosen), chosen, wanted), json_=json_
        )
        return
    able = _without_datagrams(
        run, plan, chosen_workloads(run, [] if wanted.workload is None else [wanted.workload])
    )
    _refuse_files(wanted)
    ran = explain_all({key: text}, 1, reporter_for(json_lines=json_))[key]
    if trial.outcome.digest != ran.outcome.digest:
        note(other_events_words(key))
    causes = causes_of(ran, plan)
    of = {
        name: causes.by_workload[name]
        for name in causes.names_of(able)
        if causes.by_workload.get(name)
    }
    if not of:
        raise RunRefusedError(
            f"{path}: no transaction of {listed(able)} was complete in "
            f"{key} (hint: a longer `duration`)"
        )
    chosen = _chosen(of, wanted, at_ps, ran.outcome)
    log = log_of(plan, text, chosen)
    _print_result(run, key, _write(run, log, chosen, wanted), json_=json_)


def _trace_live(run: Run, wanted: TraceArguments, at_ps: int | None, *, json_: bool) -> None:
    """Writes and prints the transactions of a live trial, from its ingress log."""
    if wanted.pcapng is not None:
        raise RunRefusedError(
            "--pcapng is of simulated runs (hint: `tailrace lab capture` writes real frames "
            "while they pass)"
        )
    trial = trial_of(run, wanted.arm, wanted.number)
    _refuse_files(wanted)
    live = read_live(run, trial, wanted.workload, may_be_interval=at_ps is not None)
    if live.of:
        chosen = _chosen(live.of, wanted, at_ps, trial.outcome)
    else:
        assert at_ps is not None, "otherwise the trial is refused"
        chosen = intervals(live.workloads, at_ps, trial.outcome.end_ps)
    log, is_same = live_log(live, chosen)
    key = TrialKey(trial.arm, trial.number)
    if not is_same:
        note(
            f"warning: the replay of {key} had other events (hint: `tailrace lab replay "
            f"{run.path}`)"
        )
    chosen = [replace(one, why=chosen_reason(log, one)) for one in chosen]
    _print_result(run, key, _write(run, log, chosen, wanted), json_=json_)


def _print_result(run: Run, key: TrialKey, written: dict[str, Any], *, json_: bool) -> None:
    if json_:
        emit_json({"run": str(run.path), "arm": key.arm, "trial": key.number, **written})
        return
    for one in written["transactions"]:
        emit(f"{one['name']}: {one['sentence']}")
    emit(_summary_line(written))


def _one_choice(wanted: TraceArguments) -> int | None:
    """The time of `--at` in picoseconds; raises `RunRefusedError` for options that exclude each
    other."""
    given = [
        name
        for name, value in (("--slowest", wanted.slowest), ("--id", wanted.id), ("--at", wanted.at))
        if value is not None
    ]
    if len(given) > 1:
        raise RunRefusedError(
            f"{' and '.join(given)} exclude each other (hint: each chooses transactions)"
        )
    if wanted.port is not None and wanted.pcapng is None:
        raise RunRefusedError("--port belongs to --pcapng (hint: name the file of the capture too)")
    if wanted.at is None:
        return None
    try:
        return parse(wanted.at, TIME)
    except QuantityError as error:
        raise RunRefusedError(f"--at: {error}") from None


def _chosen(
    of: Workloads, wanted: TraceArguments, at_ps: int | None, outcome: Outcome
) -> list[Chosen]:
    if wanted.id is not None:
        return by_id(of, wanted.id)
    if at_ps is not None:
        return at(of, at_ps, outcome.end_ps)
    return slowest(of, wanted.slowest or 1, {name: counted_from_ps(outcome, name) for name in of})


def _without_datagrams(run: Run, plan: Mapping[str, Any], workloads: list[str]) -> list[str]:
    """Those with connections, which a timeline follows; raises `RunRefusedError` where there are
    none."""
    found = [name for name in workloads if name not in datagram_workloads(plan)]
    if not found:
        raise RunRefusedError(
            f"{run.path}: {', '.join(workloads)}: datagrams are explained, but not traced "
            "(hint: `tailrace explain`)"
        )
    return found


def _refuse_port(plan: Mapping[str, Any], port: str | None) -> None:
    if port is not None and port not in (ports := wire_names(plan)):
        raise RunRefusedError(f"there is no port '{port}' (hint: {closest(port, ports, 'ports')})")


def _refuse_files(wanted: TraceArguments) -> None:
    """Files that cannot be written are refused before anything is simulated."""
    for option, file in (("--out", wanted.output), ("--pcapng", wanted.pcapng)):
        if file is not None:
            refuse_unwritable(
                option, file, f"trace{SUFFIX}" if option == "--out" else "trace.pcapng"
            )
    if wanted.output is not None and wanted.output == wanted.pcapng:
        raise RunRefusedError(
            f"--out and --pcapng name the same file: {wanted.output} (hint: name two)"
        )


def _write(run: Run, log: Log, chosen: list[Chosen], wanted: TraceArguments) -> dict[str, Any]:
    trace = trace_of(log, chosen)
    if wanted.output is not None:
        output = wanted.output
        files.write_bytes(output, trace.content)
    else:
        name = f"{chosen[0].file_name}{SUFFIX}"
        output = run.path / name
        run.files.folder.write(name, trace.content)
    if wanted.pcapng is not None:
        files.write_bytes(wanted.pcapng, capture_of(log, chosen, simulator_version(), wanted.port))
    return {
        "transactions": [
            {
                "name": one.name,
                "workload": one.workload,
                "id": None if one.is_interval else one.id,
                "user": None if one.transaction.user == NO_USER else one.transaction.user,
                "start_ps": one.transaction.start_ps,
                "end_ps": one.transaction.end_ps,
                "sentence": one.why or sentence(one.transaction),
            }
            for one in chosen
        ],
        "trace": str(output),
        "trace_bytes": len(trace.content),
        "pcapng": None if wanted.pcapng is None else str(wanted.pcapng),
        "frames": len(log.frames),
        "slices": trace.own_slices,
        "slices_of_others": trace.other_slices,
        "slices_left_out": trace.left_out,
        "connections": len(log.sockets) // 2,
        "connections_left_out": log.connections_left_out,
    }


def _summary_line(written: dict[str, Any]) -> str:
    own, others, left_out = (
        written[key] for key in ("slices", "slices_of_others", "slices_left_out")
    )
    text = (
        f"{written['trace']}: {bytes_text(written['trace_bytes'])}, "
        f"{count_text(written['frames'])} frames of the transactions' connections, "
        f"{count_text(own)} slices of them and {count_text(others)} of others"
    )
    if left_out:
        text += (
            f"; {count_text(left_out)} slices of others are left out, because a trace has at "
            f"most {SLICES_MAX}"
        )
    if written["connections_left_out"]:
        text += (
            f"; {count_text(written['connections_left_out'])} connections of the transactions "
            "are not shown, because a"
            f" trace has at most {written['connections']}"
        )
    if written["pcapng"] is not None:
        text += f"\n{written['pcapng']}: the frames as a capture"
    return text + "\nOpen the trace at ui.perfetto.dev; the file stays on this machine."
