"""The runner of `make test`: what fails is seen, what hangs is ended, the last line is the
verdict."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import checks

SCRIPTS = Path(checks.__file__).parent


def python(program: str) -> checks.Check:
    """A check that runs a line of Python."""
    return checks.Check("sample", (sys.executable, "-c", program), 120)


def test_a_check_passes_when_its_command_does() -> None:
    assert checks.run(python("pass")).outcome == "passed"


def test_a_failed_command_is_a_failed_check() -> None:
    assert checks.run(python("raise SystemExit(3)")).outcome == "FAILED (status 3)"


def test_a_check_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    # No interpreter, which may need seconds to start on a busy machine.
    hanging = checks.Check("sample", ("sh", "-c", f"sleep 600 & echo $! > '{note}'; wait"), 3)
    assert checks.run(hanging).outcome == "FAILED (over its limit of 3 s)"
    assert not is_alive(int(note.read_text()))


def is_alive(pid: int) -> bool:
    """Whether a process still runs after a moment to end."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


def test_the_summary_ends_with_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    good = checks.Verdict(python("pass"), "passed", 1.0)
    bad = checks.Verdict(python("pass"), "FAILED (status 1)", 2.0)
    assert checks.summarise([good, bad], 2.6) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "checks: 1 of 2 passed in 3 s"
    assert checks.summarise([good], 1.0) == 0


def test_each_check_can_be_run_alone() -> None:
    for name, check in checks.named().items():
        assert checks.select([name]) == ((), [check])
    rows, last = checks.select(["test"])
    for check in (*(one for row in rows for one in row), *last):
        assert checks.named()[check.name] == check, "as in a run before a commit"
    assert checks.select(["unknown"]) == checks.select([]) == ((), ())


def test_a_run_before_a_commit_leaves_out_what_is_slow_and_nothing_else() -> None:
    def names(*, whole: bool) -> set[str]:
        rows, last = checks.select(["test-all" if whole else "test"])
        return {check.name for row in (*rows, last) for check in row}

    assert names(whole=False) < names(whole=True)
    assert names(whole=True) - names(whole=False) == {
        "kill rounds",
        "exact kill rounds",
        "bench guard",
    }
    [usual, whole] = [checks.lanes(whole=whole)[1][-1].command for whole in (False, True)]
    assert "not slow" in usual
    assert "not slow" not in whole


def test_before_a_commit_these_run_and_with_these_words() -> None:
    def words(*, whole: bool) -> dict[str, str]:
        rows, last = checks.select(["test-all" if whole else "test"])
        every = [check for row in (*rows, last) for check in row]
        return {
            check.name: re.sub(r"\S*/\.venv/bin/|scripts/", "", " ".join(check.command))
            for check in every
        }

    usual = words(whole=False)
    assert usual == {
        "checked": "python checked.py",
        "cargo build": "cargo test --workspace --lib --bins --tests --locked --quiet --no-run",
        "clippy": "cargo clippy --workspace --lib --bins --tests --locked "
        "--examples --quiet -- -D warnings",
        "cargo test": "cargo test --workspace --lib --bins --tests --locked --no-fail-fast",
        "rustfmt": "cargo fmt --all --check",
        "ruff": "ruff check",
        "ruff format": "ruff format --check",
        "import order": "lint-imports --no-logo",
        "mypy": "mypy",
        "cargo deny": "cargo-deny --locked check licenses bans sources",
        "python licences": "python python_licences.py",
        "advisories": "python advisories.py",
        "check commands": "python check_commands.py",
        "pytest": "python -m pytest --quiet --numprocesses 4 --dist loadfile "
        "--ignore=tests/exact -m not slow",
        "exact kernel": "python exact_checks.py --kernel",
        "live packages": "python live_checks.py --install",
        "exact checks": "python exact_checks.py",
        "live checks": "python live_checks.py",
    }
    more = words(whole=True)
    assert {name for name in usual if usual[name] != more[name]} == {
        "pytest", "live packages", "exact checks", "live checks",
    }  # fmt: skip
    assert more["exact checks"].endswith("--all")
    assert more["live checks"].endswith("--all")


def test_whole_counts_are_asked_for_before_a_release_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[dict[str, str]] = []

    def side_by_side(_: object, __: int, environment: dict[str, str]) -> list[checks.Verdict]:
        told.append(environment)
        return []

    monkeypatch.setattr(checks, "side_by_side", side_by_side)
    monkeypatch.setattr(checks, "alone", tuple)
    assert checks.main(["test-all"]) == checks.main(["test"]) == 0
    assert told == [{"TAILRACE_TESTS": "all"}, {}]


def test_a_program_that_is_not_there_fails_and_the_next_of_its_row_run() -> None:
    lacking = checks.Check("lacking", ("no-such-program",), 5)
    rows = (
        (lacking, python("pass")),
        (checks.Check("later", (sys.executable, "-c", ""), 60, after="lacking"),),
    )
    outcomes = {verdict.check.name: verdict.outcome for verdict in checks.side_by_side(rows, 1, {})}
    assert "no-such-program" in outcomes.pop("lacking")
    assert outcomes == {"sample": "passed", "later": "passed"}


def test_an_interrupt_ends_what_runs_and_nothing_more_begins(tmp_path: Path) -> None:
    script = f"""
import sys; sys.path.insert(0, {str(SCRIPTS)!r})
from pathlib import Path
import checks
checks.LOGS = Path({str(tmp_path)!r})
sleep = checks.Check("first", ("sh", "-c", "echo $$ > {tmp_path}/pid; exec sleep 600"), 900)
following = checks.Check("next", ("touch", "{tmp_path}/next"), 9)
checks.program("here", lambda: len(checks.side_by_side(((sleep, following),), 1, {{}})))
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=600)
    assert (process.returncode, said) == (checks.INTERRUPTED, "here: interrupted\n")
    assert not is_alive(int((tmp_path / "pid").read_text()))
    assert not (tmp_path / "next").exists()


def test_a_seed_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEED", "abc")
    with pytest.raises(SystemExit, match="SEED=abc"):
        checks.main(["ruff"])


def test_random_cases_have_one_seed_which_can_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = (
        "import os; raise SystemExit(f\"{os.environ['PROPTEST_RNG_SEED']} "
        "{os.environ['PYTEST_ADDOPTS']}\" != '%s')"
    )
    usual = python(seeds % "1 --hypothesis-seed=1")
    assert checks.run(usual).outcome == "passed"
    assert checks.run(usual, seed=2).outcome == "FAILED (status 1)"
    monkeypatch.setattr(
        checks, "named", lambda: {"sample": python(seeds % "77 --hypothesis-seed=77")}
    )
    monkeypatch.setenv("SEED", "77")
    assert checks.main(["sample"]) == 0
    monkeypatch.setenv("SEED", "78")
    assert checks.main(["sample"]) == 1


@pytest.fixture(autouse=True)
def _logs_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The logs and durations of these tests are not those of the run that they are part of."""
    monkeypatch.setattr(checks, "ROOT", tmp_path)
    monkeypatch.setattr(checks, "LOGS", tmp_path / "checks")
    monkeypatch.setattr(checks, "DURATIONS", tmp_path / "checks" / "durations.jsonl")


def test_rows_run_side_by_side_and_each_in_its_order(tmp_path: Path) -> None:
    """Either row waits for a file of the other: one after the other would never end."""

    def meet(own: str, other: str) -> str:
        wait = f"while not (p / '{other}').exists(): time.sleep(0.01)"
        return (
            f"import pathlib, time; p = pathlib.Path({str(tmp_path)!r}); (p / "
            f"'{own}').touch()\n{wait}"
        )

    first = tmp_path / "first"
    rows = (
        (python(f"import pathlib; pathlib.Path({str(first)!r}).touch()"), python(meet("a", "b"))),
        (
            python(meet("b", "a")),
            python(f"import pathlib; assert pathlib.Path({str(first)!r}).exists()"),
        ),
    )
    assert [verdict.outcome for verdict in checks.side_by_side(rows, 1, {})] == ["passed"] * 4


def test_durations_of_builds_stay_and_those_of_rust_tests_are_read_from_what_cargo_prints() -> None:
    checks.LOGS.mkdir()
    rows = [
        {"kind": "build", "name": "all", "seconds": 9.0},
        {"name": "tests/a.py::test_b[1]", "seconds": 1.0},
    ]
    checks.DURATIONS.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    checks.forget_tests()
    assert [row["name"] for row in checks.read_durations()] == ["all"]
    log = """\
     Running unittests src/lib.rs (target/debug/deps/tailrace_units-0a1b)
test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.25s
     Running tests/checks/main.rs (target/debug/deps/checks-2c)
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 100.02s
"""
    assert checks.rust_durations(log) == [
        {"kind": "rust", "name": "tailrace_units (src/lib.rs)", "seconds": 0.25},
        {"kind": "rust", "name": "checks (tests/checks/main.rs)", "seconds": 100.02},
    ]


def test_cases_of_a_test_are_one_row_and_the_most_expensive_comes_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    checks.LOGS.mkdir()
    rows = [("t::a[1]", 9.0, 1.0), ("t::a[2]", 1.0, 2.5), ("t::b", 90.0, 3.0)]
    texts = [
        json.dumps({"name": name, "seconds": clock, "processor_s": work})
        for name, clock, work in rows
    ]
    checks.DURATIONS.write_text("\n".join(texts) + "\n", encoding="utf-8")
    checks.print_most_expensive()
    _, _, first, second = capsys.readouterr().out.strip().splitlines()
    assert first.split() == ["10.0", "s", "3.5", "s", "python", "t::a", "(2", "cases)"]
    assert second.split() == ["90.0", "s", "3.0", "s", "python", "t::b"]
