"""Computes `result.json` from a run directory."""

import shlex
from pathlib import Path

from msgspec import UNSET, to_builtins

from tailrace.errors import known_arm
from tailrace.folder import Folder
from tailrace.json_text import json_text
from tailrace.plan.types import Plan
from tailrace.results.causes.record import first_record
from tailrace.results.compare.effects import compare_arms
from tailrace.results.compare.fidelity import engine_name, fabric_name, summarise_fidelity
from tailrace.results.compare.judge import judge
from tailrace.results.compare.looks import compare_looked
from tailrace.results.compare.looks_text import summarise_looks
from tailrace.results.directory.published import read_bands
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.metrics.costs import summarise_costs
from tailrace.results.metrics.early_end import early_end_of
from tailrace.results.metrics.figures import summarise_figures, summarise_subjects
from tailrace.results.metrics.hypervisors import summarise_hypervisors
from tailrace.results.metrics.processors import summarise_processors
from tailrace.results.metrics.slowdown import summarise_slowdown
from tailrace.results.metrics.unfinished import planned_work
from tailrace.results.ports.fair_drop import idle_fair_drop
from tailrace.results.ports.lock_out import lock_outs_of
from tailrace.results.ports.outcome import (
    drops_by_cause,
    early_drops,
    summarise_hosts,
    summarise_ports,
)
from tailrace.results.ports.pauses import deadlocks_of, summarise_pauses
from tailrace.results.ports.rates import summarise_rates
from tailrace.results.summary.causes import Explained
from tailrace.results.summary.summary import ArmSummary, Problem, RunFacts, Summary
from tailrace.results.summary.workload import GroupSummary, WorkloadSummary
from tailrace.results.sweep.curves import summarise_sweep
from tailrace.results.workload import summarise_group, summarise_workload
from tailrace.scenario.experiment import SOLO
from tailrace.statistics import jain_index

# Version of the layout of `result.json`.
FORMAT = 2


def summarise(run_dir: Path, baseline: str | None = None) -> Summary:
    """All results of a run. Writes no files.

    `baseline` is the arm that the others are compared with; None for that of the scenario. Raises
    `RunRefusedError` for an arm that the run does not have.
    """
    return summarise_run(Run.read(Path(run_dir)), baseline)


def write_summary(folder: Folder, summary: Summary) -> None:
    """Writes `result.json` into the directory of the run."""
    folder.write("result.json", f"{json_text(to_builtins(summary))}\n".encode())


def summarise_run(run: Run, baseline: str | None = None) -> Summary:
    """`summarise` for a run that was read already."""
    compared_with = (
        run.baseline if baseline is None else known_arm(baseline, run.named_arms, str(run.path))
    )
    is_looked_at = run.manifest.auto is not None
    effects, decided = (
        compare_looked(run, compared_with)
        if is_looked_at
        else (compare_arms(run, compared_with), [])
    )
    return Summary(
        format=FORMAT,
        run=_run(run),
        baseline=compared_with,
        workloads=run.workloads,
        subjects=summarise_subjects(run),
        headline=run.manifest.headline,
        arms={arm: _arm(run, arm) for arm in run.arms},
        solo={arm.removeprefix(SOLO): _arm(run, arm) for arm in run.trials if arm.startswith(SOLO)},
        comparisons=effects,
        looks=summarise_looks(run, decided) if is_looked_at else None,
        # The figures of a scenario are those of its own values, which a sweep changes.
        expectations=[] if run.sweep else [judge(run, band) for band in read_bands(run)],
        sweep=summarise_sweep(run),
        assumptions=run.manifest.assumptions,
    )


def _run(run: Run) -> RunFacts:
    manifest = run.manifest
    return RunFacts(
        name=run.name,
        engine=engine_name(run),
        fabric=fabric_name(run),
        seed=run.seed,
        scale=run.scale,
        live_scale=run.live_scale,
        workload_scale={name: run.scale_of(name) for name in run.workloads},
        trials_planned=manifest.trials,
        is_partial=run.is_partial,
        problems=_problems(run),
        repeated=[_problem(trial) for trial in run.repeated],
        command=_command(manifest.command),
        order=manifest.order,
        description=manifest.description,
        state=manifest.state,
        started=manifest.started,
        finished=manifest.finished,
        versions=manifest.versions,
        machine=manifest.machine,
        plan_hashes=manifest.plan_hashes,
        overrides=manifest.overrides,
        calibration=manifest.calibration,
    )


def _command(command: list[str] | None) -> str | None:
    """As one types it."""
    return None if command is None else shlex.join(command)


def _problems(run: Run) -> list[Problem]:
    """Invalid and failed trials with their reasons; they are excluded from all averages."""
    problems: list[Problem] = []
    for arm, trials in run.trials.items():
        problems += [_problem(trial) for trial in trials if trial.status != "ok"]
        problems += [
            Problem(arm=arm, trial=n, status="missing", reason="not run") for n in run.missing(arm)
        ]
    return problems


def _problem(trial: Trial) -> Problem:
    unfinished = True if trial.is_unfinished else UNSET
    return Problem(
        arm=trial.arm,
        trial=trial.number,
        status=trial.status,
        reason=trial.reason,
        unfinished=unfinished,
    )


def _groups(
    run: Run,
    trials: list[Trial],
    workloads: dict[str, WorkloadSummary],
    explained: dict[str, Explained],
) -> dict[str, GroupSummary]:
    """The groups of which an arm has all members."""
    found = {}
    for name, members in run.groups.items():
        listed = [
            own.unfinished for one in members if (own := workloads.get(one)) and own.unfinished
        ]
        late = {number for unfinished in listed for number in unfinished.trials}
        scales = {one: run.scale_of(one) for one in members}
        summary = summarise_group(
            members, trials, scales=scales, unfinished=late, explained=explained.get(name)
        )
        if summary is not None:
            found[name] = summary
    return found


def _workloads(
    run: Run, arm: str, trials: list[Trial], plan: Plan | None, explained: dict[str, Explained]
) -> dict[str, WorkloadSummary]:
    work = planned_work(plan) if plan else {}
    found = {}
    for name in run.workloads_of(arm):
        summary = summarise_workload(
            name,
            trials,
            scale=run.scale_of(name),
            work=work.get((name, run.kind_of(name) or "")),
            slowdown=summarise_slowdown(run, arm, name),
            explained=explained.get(name),
        )
        if summary is not None:
            found[name] = summary
    return found


def _arm(run: Run, arm: str) -> ArmSummary:
    trials = run.with_outcome(arm)
    plan = run.plan(arm)
    ports, ports_omitted = summarise_ports(trials)
    explained = first_record(trials)
    workloads = _workloads(run, arm, trials, plan, explained)
    groups = {} if arm.startswith(SOLO) else _groups(run, trials, workloads, explained)
    return ArmSummary(
        trials=[trial.number for trial in trials],
        unfinished_trials=[trial.number for trial in trials if trial.is_unfinished],
        early_end=early_end_of(trials, plan) if plan else None,
        seeds=[trial.outcome.seed for trial in trials],
        digests=[trial.outcome.digest for trial in trials],
        wall_s=[trial.outcome.wall_s for trial in trials],
        packet_hops=[trial.outcome.packet_hops for trial in trials],
        workloads=workloads,
        groups=groups,
        figures=summarise_figures(run, arm),
        rates=summarise_rates(trials),
        goodput_jain=jain_index([own.goodput_gbps.mean or 0.0 for own in workloads.values()]),
        deadlocks=deadlocks_of(trials),
        idle_fair_drop=idle_fair_drop(run, arm, trials),
        lock_outs=lock_outs_of(trials),
        drops=drops_by_cause(trials) if trials else {},
        early_drops=early_drops(trials),
        ports=ports,
        ports_omitted=ports_omitted,
        pauses=summarise_pauses(trials),
        hosts=summarise_hosts(trials),
        processors=summarise_processors(trials),
        hypervisors=summarise_hypervisors(trials),
        costs=summarise_costs(trials),
        fidelity=summarise_fidelity(trials),
    )
