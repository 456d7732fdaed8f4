"""`make nightly`: stages get their shares, what could not run is a failure, and nothing is done
twice."""

import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

import coverage
import nightly
import random_cases
from coverage_cases import CASES
from fuzzing.mutations import mutated
from fuzzing.worker import shortened
from tailrace.files import read_json, write_json
from tailrace.results.metrics.figure import figure_of

PROGRAM = "import sys; print('a line'); print({line!r}); sys.exit({code})"


@pytest.fixture
def stages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[nightly.Stage]:
    """Three programs: one is done, one finds something, one cannot run."""
    (tmp_path / "scripts").mkdir()
    found = []
    for code, name in enumerate(("good", "finder", "absent")):
        (tmp_path / "scripts" / f"{name}.py").write_text(
            PROGRAM.format(line=f"{name}: 5 done", code=code)
        )
        found.append(nightly.Stage(name, f"{name}.py", 1 / 3, "a test"))
    monkeypatch.setattr(nightly, "ROOT", tmp_path)
    return found


@pytest.mark.parametrize(
    ("name", "word", "code"),
    [("good", "no finding", 0), ("finder", "FINDINGS", 1), ("absent", "NOT RUN", 1)],
)
def test_the_summary_has_the_last_line_of_a_stage_and_its_verdict(
    stages: list[nightly.Stage],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    word: str,
    code: int,
) -> None:
    ended = nightly.run_all([stage for stage in stages if stage.name == name], 1, tmp_path)
    assert nightly.summarise(ended, 1) == code
    assert nightly.summarise(ended, 2) == 1, "one was interrupted"
    line, _ = [
        line for line in capsys.readouterr().out.splitlines() if line.startswith(f"  {name}")
    ]
    assert line.endswith(f"{name}: 5 done")
    assert word in line


def test_the_stage_that_lacks_most_of_its_share_runs_first(
    stages: list[nightly.Stage], tmp_path: Path
) -> None:
    write_json(tmp_path / "stages.json", {"good": 50.0, "finder": 10.0, "absent": 20.0})
    assert [one.stage.name for one in nightly.run_all(stages, 1, tmp_path)] == [
        "finder",
        "absent",
        "good",
    ]
    assert read_json(tmp_path / "stages.json")["good"] > 50


def test_the_stages_of_a_part_of_them_have_the_whole_time(
    stages: list[nightly.Stage], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    def run(stage: nightly.Stage, seconds: float, folder: Path) -> nightly.Ended:
        given.append(seconds)
        return nightly.Ended(stage, 0, 0, "")

    monkeypatch.setattr(nightly, "run", run)
    nightly.run_all(stages[:2], 6000, tmp_path)
    assert given == pytest.approx([3000, 6000], rel=0.1)


@pytest.mark.parametrize(("status", "code"), [(0, 0), (7, 1)])
def test_the_build_with_overflow_checks_comes_first(
    stages: list[nightly.Stage],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    status: int,
    code: int,
) -> None:
    (tmp_path / "scripts" / "checked.py").write_text(
        f"open('built', 'w').close(); raise SystemExit({status})"
    )
    (tmp_path / "scripts" / "good.py").write_text("import os; print(os.path.exists('built'))")
    monkeypatch.setattr(nightly, "STAGES", stages[:1])
    monkeypatch.setattr(
        "sys.argv", ["nightly", "--minutes", "0.01", "--state", str(tmp_path / "state")]
    )
    assert nightly.main() == code
    assert ("  True" in capsys.readouterr().out) == (code == 0)


def test_every_stage_has_a_program() -> None:
    for stage in nightly.STAGES:
        assert (Path(nightly.__file__).parent / stage.program).is_file()
    assert sum(stage.share for stage in nightly.STAGES) == pytest.approx(1)


def test_a_coverage_that_is_certainly_beyond_its_limits_is_a_finding() -> None:
    assert not coverage.Counted(1000, 1000, 900, 0).fault
    assert "in 80.0% of 1000 experiments" in coverage.Counted(1000, 1000, 800, 0).fault
    assert "more than they say" in coverage.Counted(1000, 1000, 990, 0).fault
    assert not coverage.Counted(1000, 1000, 1000, 990).fault, (
        "what all trials count alike is always covered"
    )
    assert "in 80.0% of 1000 experiments" in coverage.Counted(1000, 1000, 800, 990).fault
    assert not coverage.Counted(30, 30, 24, 0).fault, "thirty experiments do not tell"
    assert not coverage.Counted(30, 0, 0, 0).fault


def test_what_must_have_an_interval_and_arms_that_are_told_apart_are_findings() -> None:
    counts = {f"{trials} p50": [100, 90, 0] for trials in coverage.TRIALS} | {"3 p99": [0, 0, 0]}
    held: dict[str, Any] = {
        "cases": {"mm1": {"experiments": 100, "truth": {"p50": 1.0, "p99": 2.0}, "counts": counts}},
        "aa": {"aa3": {"experiments": 200, "told": 9}},
    }
    assert list(coverage.faults_of(held)) == []
    counts["3 p50"] = [99, 90, 0]
    held["aa"]["aa3"]["told"] = 30
    found = list(coverage.faults_of(held))
    assert ["an interval is missing" in found[0], "told apart in 30 of 200" in found[1]] == [
        True,
        True,
    ]


def test_the_p99_of_a_queue_is_that_of_theory_and_needs_enough_transactions() -> None:
    case = CASES["mm1"]
    trials = [coverage.trial_of(case.scenario, 1, number) for number in range(1, 7)]
    found = figure_of(trials, [case.workload], "latency_p99_ms")
    assert found.interval
    assert found.interval.low < 23.03 < found.interval.high
    assert found.value == pytest.approx(23.03, rel=0.15)
    few = figure_of(trials[:2], [case.workload], "latency_p99_ms")
    assert (few.interval, few.trials_needed) == (None, 3)


@pytest.mark.parametrize("name", [*CASES, *coverage.AA])
def test_every_case_can_be_added(name: str) -> None:
    held: dict[str, Any] = {"cases": {}, "aa": {}}
    assert coverage._of(held, name)["experiments"] == 0
    assert sum(map(len, held.values())) == 1


def test_coverage_goes_on_with_other_seeds_and_writes_its_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coverage, "LONG", 2)
    seen = []
    for _ in range(2):
        coverage.accumulate(1e-9, tmp_path, 1, ["stream"])
        seen.append(read_json(tmp_path / "coverage-1.json")["cases"]["stream"])
    assert [one["experiments"] for one in seen] == [1, 2]
    assert [one["counts"]["3 goodput"][0] for one in seen] == [1, 2]
    page = tmp_path / "page.md"
    page.write_text(f"before\n{coverage.START}\nold\n{coverage.END}\nafter\n")
    coverage.write_table(page, read_json(tmp_path / "coverage-1.json"))
    text = page.read_text()
    assert "| goodput, stream beside flows | 2 |" in text
    assert "\nold\n" not in text
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")


def test_random_cases_have_every_test_that_is_ignored_as_too_long() -> None:
    found = [" ".join(command) for command in random_cases.commands()]
    assert sum("--ignored" in command for command in found) == 5
    assert "cargo test --locked --quiet -p tailrace-dataplane" in found
    assert any(command.endswith("tests/python/scenario/test_units.py") for command in found)


def test_a_failed_step_is_repeated_until_it_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = tmp_path / "flag"
    step = (
        sys.executable,
        "-c",
        f"import pathlib; raise SystemExit(not pathlib.Path({str(flag)!r}).exists())",
    )
    monkeypatch.setattr(random_cases, "commands", lambda: [step])
    monkeypatch.setattr("sys.argv", ["random_cases", "--minutes", "1e-9", "--state", str(tmp_path)])
    assert random_cases.main() == 1
    assert read_json(tmp_path / "random-cases.json")["failed"] == [
        {"command": list(step), "seed": 2}
    ]
    flag.touch()
    assert random_cases.main() == 0
    held = read_json(tmp_path / "random-cases.json")
    assert (held["done"], held["failed"]) == (2, [])


def test_each_round_has_full_counts_and_another_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = tmp_path / "seen"
    step = ("sh", "-c", f"echo $TAILRACE_TESTS $PROPTEST_RNG_SEED $PYTEST_ADDOPTS >> {seen}")
    monkeypatch.setattr(random_cases, "commands", lambda: [step])
    monkeypatch.setattr("sys.argv", ["random_cases", "--minutes", "1e-9", "--state", str(tmp_path)])
    monkeypatch.delenv("TAILRACE_TESTS", raising=False)
    for _ in range(2):
        assert random_cases.main() == 0
    assert seen.read_text().splitlines() == [
        "all 2 --hypothesis-seed=2",
        "all 3 --hypothesis-seed=3",
    ]


def test_an_input_is_the_same_each_time_and_another_for_each_number() -> None:
    seeds = [b"policy-map type qos P\n  class C\n", b"interface Ethernet1/1\n  mtu 9216\n"]
    made = [mutated(Random(f"nxos/{number}"), seeds, is_binary=False) for number in range(50)]
    assert made == [
        mutated(Random(f"nxos/{number}"), seeds, is_binary=False) for number in range(50)
    ]
    assert len(set(made)) > 40


def test_an_input_is_shortened_by_lines() -> None:
    assert b"a\nc\n" in list(shortened(b"a\nb\nc\n"))
    assert list(shortened(b"")) == []
