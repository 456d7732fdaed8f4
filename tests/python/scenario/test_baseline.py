"""The arm with which the others are compared."""

from pathlib import Path

import pytest

from lab import load, problems, sound
from tailrace.advice.advise import _arm
from tailrace.advice.trying import PRESENT, trials_of, with_arms
from tailrace.errors import ScenarioError
from tailrace.experiment.large.run import LargeRun
from tailrace.experiment.options import Options
from tailrace.experiment.reporter import Silent
from tailrace.experiment.run import ExperimentRun
from tailrace.scenario.loading import Given, load_scenario
from tailrace.sensitivity.figures import chosen_arms

DPP = {"experiment__baseline": "dpp"}


def test_it_is_the_first_arm_unless_the_experiment_names_one() -> None:
    assert load().scenario.baseline == "fifo"
    assert load(**DPP).scenario.baseline == "dpp"
    assert list(load(**DPP).arms) == ["fifo", "dpp"], "the order of arms is that of the file"
    assert load(arms=..., experiment__baseline="base").scenario.baseline == "base"


def test_an_unknown_one_is_refused_with_its_line_and_the_closest_name(tmp_path: Path) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text(
        "tailrace: 1\nname: lab\nnetwork: {topology: {kind: star, hosts: [a, b]}}\n"
        "workloads: {bulk: {kind: stream, source: a, destination: b}}\n"
        "arms: {quiet: {}, tonight: {hosts.defaults.mtu: 9000B}}\n"
        "experiment:\n  duration: 1s\n  baseline: tonite\n",
        encoding="utf-8",
    )
    with pytest.raises(ScenarioError) as refused:
        load_scenario(path)
    assert str(refused.value) == (
        f"{path}:8: experiment.baseline: there is no arm 'tonite' (hint: did you mean 'tonight'?)"
    )
    with pytest.raises(
        ScenarioError, match=r"with --baseline: experiment\.baseline: there is no arm 'no'"
    ):
        load_scenario(sound(), {"experiment.baseline": Given("--baseline", "no")})


def test_an_arm_has_no_baseline_of_its_own() -> None:
    found = problems(sound(arms={"fifo": {}, "dpp": {"experiment.baseline": "fifo"}}))
    assert any("all arms have the same baseline" in problem for problem in found)


def test_commands_that_ask_about_one_arm_ask_about_it() -> None:
    loaded = load(**DPP)
    assert _arm(loaded, None) == "dpp"
    assert _arm(loaded, "fifo") == "fifo"
    assert chosen_arms(loaded, []) == ["dpp", "fifo"], "changes are against the first"
    assert chosen_arms(loaded, ["fifo"]) == ["fifo"]


def test_a_scenario_with_other_arms_forgets_it() -> None:
    tried = with_arms(load(**DPP).document, [], 1, trials_of(2))
    assert (list(tried.arms), tried.scenario.baseline) == ([PRESENT], PRESENT)


def test_workloads_alone_run_in_it_and_make_another_run(tmp_path: Path) -> None:
    def identity(**changes: object) -> str:
        return ExperimentRun(load(**changes), Options(out=tmp_path / "run")).identity

    assert identity() == identity(**DPP), "the same trials, told in another way"
    assert identity(experiment__solo=True) != identity(experiment__solo=True, **DPP)
    alone = ExperimentRun(
        load(experiment__solo=True, **DPP), Options(out=tmp_path / "run")
    ).scenarios
    assert alone["dpp"].switch("leaf").policy == "dpp"


def test_a_large_sweep_compares_with_it_if_it_runs(tmp_path: Path) -> None:
    sweep = {"axes": {"workloads.orders.users": [*range(1, 2102)]}}
    loaded = load(sweep=sweep, experiment__solo=False, **DPP)
    for arms, expected in ((None, "dpp"), (["fifo"], "fifo")):
        run = LargeRun(loaded, Options(arms=arms, out=tmp_path / "large"), Silent())
        assert run._manifest({})["baseline"] == expected
