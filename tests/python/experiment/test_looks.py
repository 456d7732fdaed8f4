"""`trials: auto`: as many trials as decide the comparisons, the same ones whatever interrupts
them."""

import json
import re
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lab import load
from sealing import interrupt, seal
from tailrace.errors import RunRefusedError
from tailrace.experiment.budget import Budget
from tailrace.experiment.dry_run import describe
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import Silent
from tailrace.experiment.run import ExperimentRun, Finished, summarise_and_report
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.storage import RunDirectory
from tailrace.results.compare.two_arms import compare_two_arms
from tailrace.results.summary.summary import Summary
from tailrace.statistics.looks import looks_until

pytestmark = pytest.mark.usefixtures("fake", "workplace")

SLOW: dict[str, Any] = {"arms": {"fifo": {}, "slow": {"workloads.orders.gap": "9ms"}}}
UNCLEAR: dict[str, Any] = {
    "headline": [{"workload": "orders", "metric": "latency_p50_ms"}],
    "experiment__precision": "0.1%",
    "experiment__trials_max": 12,
}
"""Medians of the stand-in vary by a third of a percent."""


UNCLEAR_ARMS: dict[str, Any] = {
    "fifo": {},
    "slow": {"workloads.orders.round_trips": [{"response": "18450B"}]},
}


class Said(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """A line."""
        self.lines.append(text)


def experiment(out: str = "run", reporter: Silent | None = None, **changes: Any) -> ExperimentRun:
    budget_s, jobs = changes.pop("budget_s", None), changes.pop("jobs", 2)
    options = Options(None, jobs, 1.0, Path(out), ["tailrace", "run"], time_budget_s=budget_s)
    return ExperimentRun(load(**{"experiment__trials": "auto", **changes}), options, reporter)


def run(out: str = "run", **changes: Any) -> Finished:
    return experiment(out, **changes).run()


def manifest(out: str = "run") -> dict[str, Any]:
    return dict(json.loads(Path(out, "manifest.json").read_text(encoding="utf-8")))


def looks(out: str = "run") -> list[int]:
    return [look["trials"] for look in manifest(out)["auto"]["looks"]]


def summary(out: str = "run") -> Summary:
    return summarise_and_report(Path(out))[0]


def test_a_clear_difference_is_decided_at_the_first_look() -> None:
    said = Said()
    finished = experiment(reporter=said, **SLOW).run()
    assert finished.is_valid
    assert (looks(), manifest()["trials"], manifest()["state"]) == ([6], 6, "finished")
    words = (
        "Decided after 6 trials of each arm: a difference in 1 of 2 comparisons of main "
        "metrics, the others alike"
    )
    assert said.lines == [f"{words} within 5 %."]
    found = summary()
    assert found.looks.is_decided
    assert found.looks.sentence == said.lines[0]
    assert {one.workload: one.state for one in found.looks.standings} == {
        "orders": "different",
        "backup": "alike",
    }


def test_what_is_never_decided_ends_at_the_last_look_and_says_so() -> None:
    finished = run(**UNCLEAR)
    assert finished.is_valid
    assert (looks(), manifest()["trials"]) == ([6, 8, 12], 12)
    assert len(list(finished.path.glob("trials/dpp/*.json"))) == 12
    sentence = summary().looks.sentence
    what = "median latency of orders (dpp against fifo); about"
    assert sentence.startswith(f"Undecided after 12 of at most 12 trials of each arm: {what}")
    told = re.search(r"about (\d+) trials would decide it\.$", sentence)
    assert told
    assert int(told[1]) in looks_until(10_000)[3:], "a later look"


def test_the_printed_p_values_are_those_of_all_looks() -> None:
    run(
        **{
            **UNCLEAR,
            "arms": UNCLEAR_ARMS,
            "headline": [{"workload": "orders", "metric": "latency_mean_ms"}],
        }
    )
    [main] = [effect for effect in summary().comparisons if effect.is_main]
    [standing] = manifest()["auto"]["looks"][-1]["standings"]
    assert (main.p_value, main.p_adjusted) == (standing["p_value"], standing["p_adjusted"])
    assert main.verdict == "no significant difference"
    [two] = [
        effect
        for effect in compare_two_arms(Path("run"), "fifo", "slow").differences
        if effect.is_main
    ]
    assert two == main, "also those of two arms"
    alone = {**manifest(), "auto": None}
    Path("run/manifest.json").write_text(json.dumps(alone), encoding="utf-8")
    seal(Path("run/manifest.json"))
    [fixed] = [effect for effect in summary().comparisons if effect.is_main]
    [two] = [
        effect
        for effect in compare_two_arms(Path("run"), "fifo", "slow").differences
        if effect.is_main
    ]
    assert two == fixed
    assert 0.01 < fixed.p_value < 0.05 < main.p_value, (
        "three looks at the same trials cost more than one"
    )
    assert fixed.verdict == "higher"
    assert summary().looks is None


def test_an_interrupt_after_a_look_keeps_the_look(monkeypatch: pytest.MonkeyPatch) -> None:
    write_plan = RunDirectory.write_plan

    def interrupted(directory: RunDirectory, key: TrialKey, plan: dict[str, Any]) -> None:
        if key.number > 6:
            raise KeyboardInterrupt
        write_plan(directory, key, plan)

    monkeypatch.setattr(RunDirectory, "write_plan", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(**UNCLEAR)
    assert (manifest()["state"], manifest()["trials"], looks()) == ("interrupted", 8, [6])


def test_a_run_that_was_interrupted_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    run("whole", **UNCLEAR)
    for kept in (3, 13, 17):
        out = f"stopped-{kept}"
        rooms = count()
        with monkeypatch.context() as patch:
            patch.setattr(Budget, "has_room", lambda *_, rooms=rooms, kept=kept: next(rooms) < kept)
            run(out, **UNCLEAR, budget_s=60.0, jobs=1)
        assert len(list(Path(out).glob("trials/*/*.json"))) == kept
        run(out, **UNCLEAR)
        assert manifest(out)["auto"] == manifest("whole")["auto"]
        assert summary(out).comparisons == summary("whole").comparisons


def test_the_number_of_jobs_changes_no_look() -> None:
    run("one", **UNCLEAR, jobs=1)
    run("three", **UNCLEAR, jobs=3)
    assert manifest("one")["auto"] == manifest("three")["auto"]


def test_a_complete_run_is_not_run_again_and_a_larger_one_goes_on() -> None:
    run(**UNCLEAR)
    long_ago = "2001-02-03T04:05:06+00:00"
    Path("run/manifest.json").write_text(
        json.dumps(manifest() | {"finished": long_ago}), encoding="utf-8"
    )
    seal(Path("run/manifest.json"))
    before = manifest()
    run(**UNCLEAR)
    assert manifest() == before
    run(**{**UNCLEAR, "experiment__trials_max": 16})
    assert looks() == [6, 8, 12, 16]
    assert manifest()["finished"] != long_ago
    assert manifest()["auto"]["looks"][:3] == before["auto"]["looks"], (
        "looks of a larger run cost the same"
    )
    run("at-once", **{**UNCLEAR, "experiment__trials_max": 16})
    assert manifest("at-once")["auto"] == manifest()["auto"]


def test_a_budget_ends_between_looks_with_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = count()
    monkeypatch.setattr(Budget, "has_room", lambda *_: next(rooms) < 14)
    finished = run(**UNCLEAR, budget_s=60.0, jobs=1)
    assert (finished.is_valid, finished.is_out_of_time, list(finished.lacks)) == (True, True, [])
    assert (looks(), manifest()["trials"], manifest()["state"]) == ([6], 6, "finished")
    assert "Undecided after 6 of at most 12 trials" in summary().looks.sentence


def test_a_budget_before_the_first_look_leaves_trials_lacking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rooms = count()
    monkeypatch.setattr(Budget, "has_room", lambda *_: next(rooms) < 5)
    finished = run(**UNCLEAR, budget_s=60.0, jobs=1)
    assert (finished.is_valid, finished.is_out_of_time) == (False, False)
    assert sum(lack.wanted - lack.valid for lack in finished.lacks) == 7
    found = summary()
    assert found.looks.sentence == "Undecided: the first look is after 6 trials of each arm."
    assert [effect.verdict for effect in found.comparisons if effect.is_main] == ["too few trials"]


def test_a_budget_holds_for_a_number_of_trials_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = count()
    monkeypatch.setattr(Budget, "has_room", lambda *_: next(rooms) < 5)
    finished = run(experiment__trials=4, budget_s=60.0, jobs=1)
    assert len(finished.statuses) == 5
    assert sorted(lack.valid for lack in finished.lacks) == [2, 3]
    assert manifest()["state"] == "interrupted"
    assert "auto" not in manifest()


def test_one_arm_runs_until_its_figures_are_precise() -> None:
    run("precise", arms={})
    assert looks("precise") == [6]
    assert summary("precise").looks.sentence.endswith(
        "the interval of every main figure is within ± 5 %."
    )
    run("vague", **UNCLEAR, arms={})
    assert looks("vague") == [6, 8, 12]
    sentence = summary("vague").looks.sentence
    told = re.search(
        r"Undecided after 12 .*: median latency of orders \(base\); about (\d+) trials", sentence
    )
    assert told
    assert int(told[1]) in looks_until(10_000)[3:]


@pytest.mark.parametrize("arms", [{}, UNCLEAR_ARMS])
def test_a_percentile_without_an_interval_says_how_many_trials_that_takes(
    arms: dict[str, Any],
) -> None:
    run(
        **{
            **UNCLEAR,
            "arms": arms,
            "headline": [{"workload": "orders", "metric": "latency_p99_9_ms"}],
        }
    )
    found = summary()
    [standing] = found.looks.standings
    needs = [
        arm.workloads["orders"].latency_ms.trials_needed["p99_9"] for arm in found.arms.values()
    ]
    assert (standing.state, standing.trials_needed, standing.interval_needs) == (
        "undecided",
        None,
        max(needs),
    )
    assert found.looks.sentence.endswith(f"), whose interval takes about {max(needs)} trials.")


def test_a_trial_that_fails_ends_the_run_at_its_look() -> None:
    finished = run(name="broken")
    assert set(finished.statuses.values()) == {"failed"}
    assert (looks(), len(finished.statuses)) == ([], 12)


def test_points_of_a_sweep_are_decided_together() -> None:
    sweep = {"axes": {"workloads.orders.users": [2, 4]}}
    run(**SLOW, sweep=sweep)
    [look] = manifest()["auto"]["looks"]
    assert len(look["standings"]) == 4, "two workloads at two points"
    assert summary().looks.is_decided


def test_a_large_sweep_refuses_it() -> None:
    from tailrace.experiment.large.run import LargeRun

    users = list(range(1, 2102))
    loaded = load(experiment__trials="auto", sweep={"axes": {"workloads.orders.users": users}})
    with pytest.raises(RunRefusedError, match="auto would decide"):
        LargeRun(loaded, Options(), Silent())


def test_a_dry_run_tells_the_least_and_the_most() -> None:
    data = describe(experiment(**UNCLEAR), 2).data
    assert (len(data["trials"]), data["at_most"]["trials"]) == (12, 24)
    run(**{**UNCLEAR, "experiment__trials_max": 8})
    listing = describe(experiment(**UNCLEAR), 2)
    assert (len(listing.data["trials"]), listing.data["at_most"]["trials"]) == (8, 8)
    assert "at most 8 trials, if they decide late or never" in listing.text
    run(**UNCLEAR)
    assert describe(experiment(**UNCLEAR), 2).data["trials"] == []


def test_a_number_of_trials_after_looks_pays_for_them() -> None:
    run(**UNCLEAR)
    run(**UNCLEAR, experiment__trials=14)
    assert (looks(), manifest()["trials"]) == ([6, 8, 12], 14)
    assert summary().looks.trials == 12


def test_a_look_without_all_of_its_trials_does_not_count() -> None:
    run(**UNCLEAR)
    Path("run/trials/dpp/7.json").unlink()
    interrupt(Path("run"))
    assert summary().looks.trials == 6
    run(**UNCLEAR)
    assert summary().looks.trials == 12
