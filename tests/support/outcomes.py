"""Run directories with chosen figures: rates and percentiles of every trial as a test states
them."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_run import FakeRun, change_plan
from tailrace.results import summarise
from tailrace.results.summary.summary import Summary
from trial_files import read_trial, write_trial

PS_PER_MS = 1_000_000_000
Change = Callable[[dict[str, Any], str, int], None]


def write_run(
    path: Path, change: Change, *, manifest: dict[str, Any] | None = None, **options: Any
) -> Path:
    """A fake run, each outcome of which `change(outcome, arm, number)` has edited; a key of
    `TrialHead` that it sets is that of the trial.
    """
    made = FakeRun(with_solo=False, **options).write(path)
    for file in made.glob("trials/*/*.json"):
        outcome = read_trial(file)
        names, kinds = _all(outcome, "name"), _all(outcome, "kind")
        change(outcome, file.parent.name, int(file.stem))
        write_trial(file, outcome)
        if names != _all(outcome, "name"):  # the tables are of others
            for table in file.parent.glob(f"{file.stem}.*.parquet"):
                table.unlink()
        if (names, kinds) != (_all(outcome, "name"), _all(outcome, "kind")):
            _plan_for(made, file.parent.name, outcome)
    if manifest:
        held = json.loads((made / "manifest.json").read_text())
        (made / "manifest.json").write_text(json.dumps(held | manifest))
    return made


def _plan_for(run: Path, arm: str, outcome: dict[str, Any]) -> None:
    """Gives the plan of an arm the workloads of this outcome; new ones are like its first."""
    held = json.loads((run / "plans" / f"{arm}.json").read_text(encoding="utf-8"))["workloads"]
    bodies = {own["header"]["name"]: next(iter(own["body"].values())) for own in held}
    first = next(iter(bodies.values()))
    workloads = [
        {
            "header": {"name": one["name"], "priority": 0, "port": 5432},
            "body": {one["kind"]: bodies.get(one["name"], first)},
        }
        for one in outcome["workloads"]
    ]
    change_plan(run, arm, workloads=workloads)


def _all(outcome: dict[str, Any], key: str) -> list[str]:
    return [one[key] for one in outcome["workloads"] or []]


def endless(outcome: dict[str, Any], *names: str) -> dict[str, dict[str, Any]]:
    """Keeps the named workloads, as closed loops without an end in a trial of 10 s; returns them by
    name."""
    outcome["workloads"] = [one for one in outcome["workloads"] if one["name"] in names]
    outcome["end_ps"] = 10 * 10**12
    for one in outcome["workloads"]:
        one["completion_ps"] = None
        one["tcp"] |= {"segments_sent": 100_000, "retransmits": 100, "spurious_retransmits": 0}
    return {one["name"]: one for one in outcome["workloads"]}


def state(
    workload: dict[str, Any], number: int, *, rate_per_s: float, p50_ms: float, p99_ms: float
) -> None:
    """Gives a workload of a trial of 10 s these figures, a little other in every trial."""
    wobble = 1 + 0.002 * number
    workload["transactions"] = round(rate_per_s * 10 * wobble)
    latency = workload["latency"]
    for key, ms in (
        ("mean_ps", p50_ms),
        ("p50_ps", p50_ms),
        ("p99_ps", p99_ms),
        ("p99_9_ps", p99_ms),
    ):
        latency[key] = round(ms * PS_PER_MS * wobble)
    long = max(1, latency["count"] // 50)
    latency |= {"min_ps": latency["p50_ps"], "max_ps": latency["p99_ps"]}
    latency["buckets"] = [[latency["p50_ps"], latency["count"] - long], [latency["p99_ps"], long]]


def many(path: Path, arms: int, workloads: int, *, trials: int = 6) -> Summary:
    """The summary of a run with so many arms and workloads."""
    names = [f"workload-{n}" for n in range(workloads)]

    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        model = endless(outcome, "XS")["XS"]
        outcome["workloads"] = [copy.deepcopy(model) | {"name": name} for name in names]
        for at, one in enumerate(outcome["workloads"]):
            rate = 1000.0 * (1 + at) * (2 if arm == "arm-1" else 1)
            state(one, number, rate_per_s=rate, p50_ms=2, p99_ms=9 if arm == "arm-1" else 8)

    labels = tuple(f"arm-{n}" for n in range(arms))
    return summarise(
        write_run(path / "run", change, manifest={"workloads": names}, arms=labels, trials=trials)
    )
