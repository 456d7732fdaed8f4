"""Commands that run no trial: init, check, plan, compare, list, schema."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from tailrace.cli.console import emit, emit_json, emit_table, emit_text, note, overrides, warn
from tailrace.cli.scenarios import loaded_of, scenario_paths
from tailrace.errors import RunRefusedError, ScenarioError, known_arm

if TYPE_CHECKING:
    from tailrace.outcome.types import Tree
    from tailrace.scenario.loading import Loaded
    from tailrace.scenario.scenario import Scenario

COMPARED = 2
"""Runs of one engine that are compared at a time."""
COUNTED = (("host", "hosts"), ("switch", "switches"), ("link", "links"))

NAMED_MAX = 10
"""Workloads and arms that `check` names; `--json` has all."""


def counted(number: int, one: str, many: str) -> str:
    """`1 switch`, `2 switches`."""
    return f"{number} {one if number == 1 else many}"


def print_version() -> None:
    """The version of the package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        emit(f"tailrace {version('tailrace')}")
    except PackageNotFoundError:
        emit("tailrace (not installed)")


def write_starter(path: Path, *, force: bool) -> None:
    """Writes the starter scenario."""
    from tailrace.scenario.starter import STARTER

    if path.exists() and not force:
        raise RunRefusedError(
            f"{path}: the file exists already (hint: choose another name, or use --force)"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STARTER, encoding="utf-8")
    except OSError as error:
        raise RunRefusedError(f"{path}: cannot write it: {error.strerror}") from None
    name = shlex.quote(str(path))
    emit(f"wrote {path}; now `tailrace check {name}` and `tailrace run {name}`")


def check_scenario(
    paths: list[Path],
    assignments: Mapping[str, Any] | None,
    sweep: Sequence[str],
    *,
    is_paired: bool,
    json_: bool,
) -> None:
    """Prints a summary of a scenario; raises `ScenarioError` with all of its problems."""
    from tailrace.experiment.published import check_published

    loaded = _checked(scenario_paths(paths), assignments, sweep, is_paired=is_paired, json_=json_)
    check_published(loaded)
    trees = {
        arm: of_arm for arm, scenario in loaded.arms.items() if (of_arm := _trees(scenario, arm))
    }
    found = _summary(loaded, trees)
    if json_:
        emit_json(found)
        return
    warn(loaded.warnings)
    for line in (*_summary_lines(loaded, found), *_tree_lines(loaded, trees)):
        emit(line)


def _checked(
    paths: list[Path],
    assignments: Mapping[str, Any] | None,
    sweep: Sequence[str],
    *,
    is_paired: bool,
    json_: bool,
) -> "Loaded":
    """The scenario; its problems are printed as JSON before they are raised."""
    from tailrace.scenario.loading import load_scenario

    try:
        return load_scenario(paths, overrides(assignments, sweep=sweep, is_paired=is_paired))
    except ScenarioError as error:
        if json_:
            emit_json({"valid": False, "problems": [vars(problem) for problem in error.problems]})
        raise


def _summary(loaded: "Loaded", trees: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of a valid scenario, as data."""
    from tailrace.experiment.looks import trials_least, trials_most
    from tailrace.experiment.significance import comparisons_of, trials_needed

    graph, spec = loaded.scenario.graph, loaded.scenario.experiment
    found: dict[str, Any] = {
        "valid": True,
        "name": loaded.scenario.name,
        "hosts": len(graph.hosts),
        "switches": len(graph.switches),
        "links": len(graph.links),
        "workloads": list(loaded.scenario.workloads),
        "arms": list(loaded.arms),
        "trials": spec.trials,
        "trials_min": trials_least(spec),
        "trials_max": trials_most(spec),
        "comparisons": comparisons_of(loaded),
        "trials_needed": trials_needed(loaded),
        "points": loaded.scenario.sweep.count if loaded.scenario.sweep is not None else 0,
        "warnings": [vars(warning) for warning in loaded.warnings],
    }
    return found | ({"spanning_trees": to_builtins(trees)} if trees else {})


def _summary_lines(loaded: "Loaded", found: Mapping[str, Any]) -> Iterator[str]:
    """The summary in words."""
    from tailrace.experiment.significance import too_few_words

    parts = [counted(found[key], one, key) for one, key in COUNTED]
    trials = counted(found["trials_max"], "trial", "trials")
    if loaded.scenario.experiment.is_auto:
        trials = f"{found['trials_min']} to {trials} of each arm, as many as decide the comparisons"
    swept = f" at {counted(found['points'], 'point', 'points')}" if found["points"] else ""
    names = (
        f"workloads {_listed(found['workloads'])}; arms {_listed(found['arms'])}{swept}; {trials}"
    )
    warnings = counted(len(loaded.warnings), "warning", "warnings")
    verdict = f"valid, with {warnings}" if loaded.warnings else "valid"
    yield f"{loaded.document.file}: {verdict}. {', '.join(parts)}; {names}"
    if too_few := too_few_words(loaded):
        yield f"  {too_few}"


def _tree_lines(loaded: "Loaded", trees: Mapping[str, Any]) -> Iterator[str]:
    """The spanning trees of each arm, one in a line."""
    from msgspec import convert

    from tailrace.outcome.types import Tree
    from tailrace.plan.types import Plan
    from tailrace.results.ports.trees import tree_words
    from tailrace.scenario.lowering.plan import lower

    for arm, of_arm in trees.items():
        plan = convert(lower(loaded.arms[arm], arm, 1), Plan)
        for tree in of_arm:
            yield f"  {arm}: {tree_words(convert(tree, Tree), plan)}"


def _listed(names: list[str]) -> str:
    """The first of many names, with the number of the others; `--json` has all."""
    more = len(names) - NAMED_MAX
    return ", ".join(names) if more <= 1 else f"{', '.join(names[:NAMED_MAX])} and {more} more"


def _trees(scenario: "Scenario", arm: str) -> "list[Tree]":
    """The spanning trees of an arm, as the simulator computes them."""
    from tailrace.experiment.native import spanning_trees
    from tailrace.scenario.lowering.plan import canonical_json, lower

    return (
        spanning_trees(canonical_json(lower(scenario, arm, 1)))
        if scenario.network.spanning_tree
        else []
    )


def print_plan(
    paths: list[Path],
    arm: str | None,
    trial: int,
    assignments: Mapping[str, Any] | None,
    seed: int | None,
    scale: float,
) -> None:
    """Prints the plan of one trial as JSON."""
    from tailrace.cli.running import refuse_scale
    from tailrace.experiment.plans import Plans
    from tailrace.experiment.scale import scaled
    from tailrace.experiment.schedule import TrialKey
    from tailrace.json_text import json_text

    refuse_scale(scale)
    loaded = loaded_of(paths, overrides(assignments, seed=seed))
    chosen = known_arm(arm or loaded.scenario.baseline, list(loaded.arms))
    plans = Plans({chosen: scaled(loaded.arms[chosen], scale)})
    emit_text(json_text(plans.raw(TrialKey(chosen, trial))))


def print_comparison(runs: Sequence[Path], page: Path | None, *, json_: bool) -> None:
    """Prints the differences of two runs; for runs of different engines, up to three, it can also
    write a page."""
    from tailrace import results

    is_engines = len(runs) > 1 and results.are_of_engines(runs)
    if page is not None and not is_engines:
        raise RunRefusedError(
            "--report requires runs of different engines (hint: omit it for two runs of the "
            "same engine)"
        )
    if len(runs) != COMPARED and not is_engines:
        raise RunRefusedError(
            f"compare takes {COMPARED} runs, or one run of each engine; there are {len(runs)} "
            "(hint: name two runs, or two arms of one run with --arms)"
        )
    if is_engines:
        _print_engines(runs, page, json_=json_)
        return
    compared = results.compare(*runs)
    if json_:
        emit_json(compared)
    else:
        emit_table(lambda: results.format_compare(compared))


def _print_engines(runs: Sequence[Path], page: Path | None, *, json_: bool) -> None:
    from tailrace import results

    compared = results.compare_engines(runs)
    if page is not None:
        from tailrace.report.engines import write_engines

        note(f"report: {write_engines(compared, page)}")
    if json_:
        emit_json(compared)
    else:
        emit_table(lambda: results.format_engines(compared))


def print_arms(
    runs: Sequence[Path], arms: tuple[str, str], page: Path | None, *, json_: bool
) -> None:
    """Prints the differences of two arms of one run."""
    from tailrace import results

    if len(runs) != 1:
        raise RunRefusedError(
            f"--arms compares two arms of one run; there are {len(runs)} runs (hint: name one "
            "run, or omit --arms)"
        )
    if page is not None:
        raise RunRefusedError(
            "--report requires runs of different engines (hint: omit it, or omit --arms)"
        )
    compared = results.compare_two_arms(runs[0], *arms)
    if json_:
        emit_json(compared)
    else:
        emit_table(lambda: results.format_two_arms(compared))


def print_list(runs: Path, *, json_: bool) -> None:
    """Prints runs and scenarios."""
    from tailrace.cli.listing import find_runs, find_scenarios

    found_runs, found_scenarios = find_runs(runs), find_scenarios()
    if json_:
        emit_json({"runs": found_runs, "scenarios": found_scenarios})
        return
    if not found_runs and not found_scenarios:
        emit("no runs or scenarios found; `tailrace init` writes a scenario to start from")
    for row in found_runs:
        divided = f", rates / {row['live_scale']}" if (row["live_scale"] or 1) != 1 else ""
        emit(
            f"{row['path']}  {row['state']}{divided}, {row['trials_done']} trials, {row['started']}"
        )
        for change in row["overridden"]:
            emit(f"    {change}")
    for scenario in found_scenarios:
        emit(f"{scenario['path']}  {scenario['title']}")


def print_schema() -> None:
    """Prints the JSON Schema of a scenario."""
    from tailrace.scenario.schema import scenario_schema

    emit_text(json.dumps(scenario_schema(), indent=1, ensure_ascii=False))
