"""Computes `result.json` from a run directory."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tailrace.errors import known_arm
from tailrace.results.causes.record import Explained, first_record
from tailrace.results.causes.verdict import with_fabric_limits
from tailrace.results.compare.effects import compare_arms
from tailrace.results.compare.fidelity import engine_name, fabric_name, summarise_fidelity
from tailrace.results.compare.judge import judge
from tailrace.results.compare.looks import compare_looked
from tailrace.results.compare.looks_text import summarise_looks
from tailrace.results.directory.published import read_bands
from tailrace.results.directory.run_directory import SOLO, Run, Trial
from tailrace.results.metrics.costs import summarise_costs
from tailrace.results.metrics.early_end import early_end_of
from tailrace.results.metrics.figures import summarise_figures, summarise_subjects
from tailrace.results.metrics.flow_slowdown import summarise_flow_slowdown
from tailrace.results.metrics.hypervisors import summarise_hypervisors
from tailrace.results.metrics.processors import summarise_processors
from tailrace.results.metrics.slowdown import summarise_slowdown
from tailrace.results.metrics.unfinished import planned_work
from tailrace.results.metrics.workload import summarise_group, summarise_workload
from tailrace.results.ports.fair_drop import idle_fair_drop
from tailrace.results.ports.lock_out import lock_outs_of
from tailrace.results.ports.outcome import drops_by_cause, early_drops, summarise_hosts, summarise_ports
from tailrace.results.ports.pauses import deadlocks_of, summarise_pauses
from tailrace.results.ports.rates import summarise_rates
from tailrace.results.sweep.curves import summarise_sweep
from tailrace.scenario.workloads.kinds import facts_of
from tailrace.statistics import jain_index

# Version of the layout of `result.json`.
FORMAT = 2


def summarise(run_dir: Path, baseline: str | None = None) -> dict[str, Any]:
    """All results of a run as plain dictionaries. Writes no files.

    `baseline` is the arm that the others are compared with; None for that of the scenario. Raises `RunRefusedError`
    for an arm that the run does not have.
    """
    return summarise_run(Run.read(Path(run_dir)), baseline)


def summarise_run(run: Run, baseline: str | None = None) -> dict[str, Any]:
    """`summarise` for a run that was read already."""
    compared_with = run.baseline if baseline is None else known_arm(baseline, run.named_arms, str(run.path))
    effects, decided = compare_looked(run, compared_with) if run.auto else (compare_arms(run, compared_with), [])
    return {
        "format": FORMAT,
        "run": _run(run),
        "baseline": compared_with,
        "workloads": run.workloads,
        "subjects": summarise_subjects(run),
        "headline": run.manifest.get("headline") or [],
        "arms": {arm: _arm(run, arm) for arm in run.arms},
        "solo": {arm.removeprefix(SOLO): _arm(run, arm) for arm in run.trials if arm.startswith(SOLO)},
        "comparisons": effects,
        "looks": summarise_looks(run, decided) if run.auto else None,
        # The figures of a scenario are those of its own values, which a sweep changes.
        "expectations": [] if run.sweep else [judge(run, band) for band in read_bands(run)],
        "sweep": summarise_sweep(run),
        "assumptions": run.manifest.get("assumptions") or [],
    }


def _run(run: Run) -> dict[str, Any]:
    manifest = run.manifest
    kept = (
        "description",
        "state",
        "started",
        "finished",
        "versions",
        "machine",
        "plan_hashes",
        "overrides",
        "calibration",
    )
    return {
        "name": run.name,
        "engine": engine_name(run),
        "fabric": fabric_name(run),
        "seed": run.seed,
        "scale": run.scale,
        "live_scale": run.live_scale,
        "workload_scale": {name: run.scale_of(name) for name in run.workloads},
        "trials_planned": run.trials_planned,
        "is_partial": run.is_partial,
        "problems": _problems(run),
        "repeated": [_problem(trial) for trial in run.repeated],
        "command": _command(manifest.get("command")),
        "order": [_key(trial) for trial in manifest.get("order") or []],
    } | {key: manifest.get(key) for key in kept}


def _command(command: str | list[str] | None) -> str | None:
    """As one types it."""
    return shlex.join(command) if isinstance(command, list) else command


def _key(trial: str | list[Any]) -> str:
    """`fifo/3`."""
    return trial if isinstance(trial, str) else "/".join(str(part) for part in trial)


def _problems(run: Run) -> list[dict[str, Any]]:
    """Invalid and failed trials with their reasons; they are excluded from all averages."""
    problems: list[dict[str, Any]] = []
    for arm, trials in run.trials.items():
        problems += [_problem(trial) for trial in trials if trial.status != "ok"]
        problems += [{"arm": arm, "trial": n, "status": "missing", "reason": "not run"} for n in run.missing(arm)]
    return problems


def _problem(trial: Trial) -> dict[str, Any]:
    return {"arm": trial.arm, "trial": trial.number, "status": trial.status, "reason": trial.reason} | (
        {"unfinished": True} if trial.is_unfinished else {}
    )


def _groups(
    run: Run, trials: list[Trial], workloads: dict[str, Any], explained: dict[str, Explained]
) -> dict[str, Any]:
    """The groups of which an arm has all members."""
    found = {}
    for name, members in run.groups.items():
        late = {number for one in members for number in _late(workloads.get(one))}
        scales = {one: run.scale_of(one) for one in members}
        summary = summarise_group(members, trials, scales=scales, unfinished=late)
        if summary is not None:
            has_sizes = any(facts_of(kind).has_slowdown_by_size for kind in summary["kinds"])
            found[name] = with_fabric_limits(
                summary
                | {
                    "slowdown": None,
                    "flow_slowdown": summarise_flow_slowdown(trials, members) if has_sizes else None,
                    "causes": asdict(explained[name]) if name in explained else None,
                }
            )
    return found


def _late(workload: dict[str, Any] | None) -> list[int]:
    """Trials in which a workload with an end did not reach it."""
    unfinished = (workload or {}).get("unfinished")
    return unfinished["trials"] if unfinished else []


def _arm(run: Run, arm: str) -> dict[str, Any]:
    trials = run.told(arm)
    plan = run.plan(arm) or {}
    work = planned_work(plan)
    ports, ports_omitted = summarise_ports(trials)
    explained = first_record(trials)
    workloads = {}
    for name in run.workloads_of(arm):
        summary = summarise_workload(
            name, trials, scale=run.scale_of(name), work=work.get((name, run.kind_of(name) or ""))
        )
        if summary is not None:
            has_sizes = facts_of(summary["kind"]).has_slowdown_by_size
            workloads[name] = with_fabric_limits(
                summary
                | {
                    "slowdown": summarise_slowdown(run, arm, name),
                    "flow_slowdown": summarise_flow_slowdown(trials, [name]) if has_sizes else None,
                    "causes": asdict(explained[name]) if name in explained else None,
                }
            )
    groups = {} if arm.startswith(SOLO) else _groups(run, trials, workloads, explained)
    return {
        "trials": [trial.number for trial in trials],
        "unfinished_trials": [trial.number for trial in trials if trial.is_unfinished],
        "early_end": early_end_of(trials, plan),
        "seeds": [trial.outcome.get("seed") for trial in trials],
        "digests": [trial.outcome.get("digest") for trial in trials],
        "wall_s": [trial.outcome.get("wall_s") for trial in trials],
        "packet_hops": [trial.outcome.get("packet_hops") for trial in trials],
        "workloads": workloads,
        "groups": groups,
        "figures": summarise_figures(run, arm),
        "rates": summarise_rates(trials),
        "goodput_jain": jain_index([w["goodput_gbps"]["mean"] for w in workloads.values()]),
        "deadlocks": deadlocks_of(trials),
        "idle_fair_drop": idle_fair_drop(run, arm, trials),
        "lock_outs": lock_outs_of(trials),
        "drops": drops_by_cause(trials) if trials else {},
        "early_drops": early_drops(trials),
        "ports": ports,
        "ports_omitted": ports_omitted,
        "pauses": summarise_pauses(trials),
        "hosts": summarise_hosts(trials),
        "processors": summarise_processors(trials),
        "hypervisors": summarise_hypervisors(trials),
        "costs": summarise_costs(trials),
        "fidelity": summarise_fidelity(trials),
    }
