"""Runs as arms or a sweep: the workloads of each combination, and how they differ from those of the
first.

vdbench runs one combination after the other; arms are independent of each other, which is the same
for a model without memory of earlier runs.
"""

from fractions import Fraction

from tailrace.importers.storage.scenario import StorageScenario, differing
from tailrace.importers.storage.source import Findings
from tailrace.importers.storage.values import SECOND_PS, name_of, span
from tailrace.importers.vdbench.devices import Device
from tailrace.importers.vdbench.runs import Combination, Run
from tailrace.importers.vdbench.workloads import Load
from tailrace.importers.vdbench.writer import Writer
from tailrace.importers.whole import Yaml

ARMS_MAX = 500
"""Arms of one scenario; further runs are not imported."""


def write_runs(
    scenario: StorageScenario,
    runs: list[Run],
    loads: list[Load],
    devices: list[Device],
    hosts: list[str],
    findings: Findings,
) -> None:
    """Fills the scenario with the workloads of the first run, and arms or a sweep for the
    others."""
    writer = Writer(
        scenario, {load.name: load for load in loads}, {one.name: one for one in devices}, findings
    )
    writer.name_hosts(hosts)
    states: list[tuple[Run, Combination, dict[str, Yaml]]] = []
    for run in runs:
        for combination in run.combinations:
            if len(states) < ARMS_MAX:
                states.append((run, combination, writer.workloads(run, combination)))
        if len(states) >= ARMS_MAX:
            findings.say(
                run.location,
                f"rd={run.name}",
                "not-modelled",
                f"only the first {ARMS_MAX} runs are imported",
            )
    if len(runs) == 1:
        states = [
            one
            for at, one in enumerate(states)
            if one[2] not in [earlier for _, _, earlier in states[:at]]
        ]
    writer.remark_uses([name for run in runs for name in run.loads if name == f"rd={run.name}"])
    is_sweep = len(runs) == 1 and len(states) > 1 and not any(_absent(states))
    for run in runs:
        findings.say(
            run.location,
            f"rd={run.name}",
            "understood",
            _run_words(run, len(runs), is_sweep=is_sweep),
        )
    every = dict.fromkeys(name for _, _, workloads in states for name in workloads)
    first_run, _, first = states[0]
    base = {
        name: first.get(name)
        or next(w[name] for _, _, w in states if name in w) | {"enabled": False}
        for name in every
    }
    scenario.workloads = base
    scenario.duration_ps, scenario.warm_up_ps = _ps(first_run.duration_s), _ps(first_run.warm_up_s)
    if is_sweep:
        _write_sweep(scenario, [workloads for _, _, workloads in states])
    elif len(states) > 1:
        _write_arms(scenario, states)


def _absent(states: list[tuple[Run, Combination, dict[str, Yaml]]]) -> list[frozenset[str]]:
    """Keys that only some states of each workload have; points of a sweep have a value for each."""
    by_name: dict[str, list[set[str]]] = {}
    for _, _, workloads in states:
        for name, keys in workloads.items():
            by_name.setdefault(name, []).append(set(keys))
    return [
        frozenset().union(*keys) - frozenset(keys[0]).intersection(*keys)
        for keys in by_name.values()
    ]


def _run_words(run: Run, runs: int, *, is_sweep: bool) -> str:
    several = len(run.combinations)
    if is_sweep:
        return f"a sweep of {several} points"
    if runs == several == 1:
        return "the scenario"
    return f"{several} arms, arms.{run.name}-*" if several > 1 else f"arms.{run.name}"


def _write_arms(
    scenario: StorageScenario, states: list[tuple[Run, Combination, dict[str, Yaml]]]
) -> None:
    for run, combination, workloads in states:
        text = f"{run.name}-{combination.label}" if combination.label else run.name
        arm = differing(scenario.workloads, workloads)
        if _ps(run.duration_s) != scenario.duration_ps:
            arm["experiment.duration"] = span(run.duration_s)
        if _ps(run.warm_up_s) != scenario.warm_up_ps:
            arm["experiment.warm_up"] = span(run.warm_up_s)
        scenario.arms[name_of(text, "run", scenario.arms)] = arm


def _write_sweep(scenario: StorageScenario, states: list[dict[str, Yaml]]) -> None:
    """One axis for each key that a loop changes; the values of all axes belong together."""
    changes = [differing(scenario.workloads, state) for state in states]
    paths = dict.fromkeys(path for change in changes for path in change)
    for path in paths:
        _, name, key = path.split(".", 2)
        scenario.axes[path] = [state[name].get(key) for state in states]


def _ps(seconds: Fraction) -> int:
    return round(seconds * SECOND_PS)
