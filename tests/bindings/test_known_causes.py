"""Scenarios whose cause is known by construction: `run` names it without being asked to explain,
and everything else that is told of the run says the same.
"""

import html
import json
import warnings
from pathlib import Path

import pytest

import tailrace
from known_causes import KNOWN, Known
from tailrace.advice.causes import makeup
from tailrace.cli.explaining import explain_run
from tailrace.cli.trial_arguments import ExplainArguments
from tailrace.errors import ScenarioWarning
from tailrace.experiment.explain import trial_plan
from tailrace.experiment.native import explain_trial, make_trial
from tailrace.results import Result, Run, format_result
from tailrace.results.causes.sentence import part_words
from tailrace.results.text.limiting_text import verdict_words
from tailrace.scenario.lowering.plan import canonical_json

CAUSES_MIN = 30


def ran(known: Known, folder: Path) -> Result:
    """A run of the scenario, by which nobody asks for an explanation."""
    file = folder / "known.yaml"
    file.write_text(known.text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)  # frames that are too long are warned of
        return tailrace.run(file, out=folder / "run")


def told(text: str) -> str:
    """Without line breaks and columns."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", KNOWN)
def test_the_verdict_is_the_known_cause_wherever_it_is_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = KNOWN[name]
    found = ran(known, tmp_path)
    own = found.summary.arms["base"].workloads["shop"]
    assert own.limits
    assert verdict_words(own.limits) == known.verdict

    kept = json.loads((found.path / "result.json").read_text(encoding="utf-8"))
    assert (
        kept["arms"]["base"]["workloads"]["shop"]["limits"]["limited_by"] == own.limits.limited_by
    )
    assert known.verdict in told(format_result(found.summary)), "in the terminal"
    assert known.verdict in told(format_result(found.summary, is_full=True)), "with --full"
    page = told(html.unescape((found.path / "report.html").read_text(encoding="utf-8")))
    assert known.verdict in page

    capsys.readouterr()
    explain_run(
        found.path, ExplainArguments(arms=[], workloads=[], number=1, slowest=1, jobs=1), json_=True
    )
    explained = json.loads(capsys.readouterr().out)
    limits = [
        one["limited_by"]
        for key in ("explained", "counted")
        for one in explained.get(key, [])
        if is_shop(one)
    ]
    assert {own.limits.limited_by} == {one for one in limits if one}
    explain_run(
        found.path,
        ExplainArguments(arms=[], workloads=[], number=1, slowest=1, jobs=1),
        json_=False,
    )
    assert known.verdict in told(capsys.readouterr().out)

    if own.causes and own.causes.transactions:
        largest = max(
            own.limits.shares_percent, key=lambda part: own.limits.shares_percent[part].mean or 0.0
        )
        assert part_words(largest) in advised(found.path)


def is_shop(one: dict[str, object]) -> bool:
    """Whether this is told of the workload whose cause is known."""
    return one["workload"] == "shop"


def advised(path: Path) -> str:
    """What `advise` says where the time goes at present, of all transactions: the largest part
    first."""
    run = Run.read(path)
    plan = trial_plan(run, run.with_outcome("base")[0])
    made = makeup(
        explain_trial(make_trial(canonical_json(plan))),  # type: ignore[arg-type]
        plan,
        ["shop"],
        "latency_mean_ms",
    )
    assert made is not None
    return made.words.partition(",")[0]


def test_each_cause_has_two_scenarios() -> None:
    assert len(KNOWN) >= CAUSES_MIN
