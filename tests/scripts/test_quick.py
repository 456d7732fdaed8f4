"""What `make quick` chooses: the tests that a change can reach, nearest first, and no more than
fit."""

import subprocess
from pathlib import Path

import pytest

import checks
import quick


@pytest.fixture(autouse=True)
def _nothing_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Files of tests cost what is assumed."""
    monkeypatch.setattr(checks, "DURATIONS", tmp_path / "durations.jsonl")


def test_the_tests_of_a_module_come_before_those_of_what_uses_it() -> None:
    files = quick.choose(["python/tailrace/statistics/rank.py"]).files
    assert files[0].startswith("tests/python/statistics/")
    assert not any(name.startswith(("tests/live/", "tests/exact/")) for name in files)


def test_a_module_that_nothing_uses_needs_its_own_tests_alone() -> None:
    assert quick.choose(["scripts/quick.py"]).files == ("tests/scripts/test_quick.py",)


def test_a_changed_test_comes_first_and_what_does_not_fit_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = ["tests/python/scenario/test_units.py", "python/tailrace/errors.py"]
    monkeypatch.setattr(quick, "BUDGET_S", 3.0)
    chosen = quick.choose(changed)
    assert (chosen.files[0], len(chosen.files)) == (changed[0], 3)
    assert chosen.left_out > 100


def test_what_was_recorded_decides_how_many_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = ["tests/python/scenario/test_units.py", "tests/scripts/test_quick.py"]
    rows = "".join(
        f'{{"name": "tests/python/scenario/test_units.py::test_a[1]", "seconds": 900, '
        f'"processor_s": {used}}}\n'
        for used in (70, 100)
    )
    checks.DURATIONS.write_text(rows, encoding="utf-8")
    assert quick.recorded() == {"tests/python/scenario/test_units.py": 100.0}, (
        "the last time counts"
    )
    assert quick.choose(changed) == quick.Chosen(("tests/scripts/test_quick.py",), 1)


def test_every_kind_of_file_chooses_what_reaches_it_or_is_named() -> None:
    def tests(name: str) -> tuple[str, ...]:
        return quick.choose([name]).files

    assert "tests/scripts/test_mutants.py" in tests("scripts/mutate.py"), "a script that it imports"
    assert "tests/fuzz/test_findings.py" in tests("scripts/fuzzing/worker.py")
    assert tests("python/tailrace/report/assets/page.html.j2")[0].startswith("tests/python/report/")
    assert any(
        name.startswith("tests/python/statistics/")
        for name in tests("python/tailrace/statistics/gone.py")
    )
    assert tests("examples/jumbo.yaml") == ("tests/python/experiment/test_examples.py",)
    assert [check.name for check in quick.of_rust(["Cargo.toml"])] == ["clippy"]
    assert quick.of_rust(["crates/NOTES.md"]) == []
    for name in (
        "pyproject.toml",
        "uv.lock",
        "tests/conftest.py",
        "tests/live/test_lab.py",
        "tests/exact/a.yaml",
    ):
        assert not quick.is_reached(name)
    assert quick.is_reached("python/tailrace/errors.py")


def test_a_module_that_cannot_be_read_is_named_and_linted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: list[str]) -> quick.Chosen:
        raise SyntaxError("invalid syntax", ("broken.py", 3, 1, "(", 3, 2))

    (tmp_path / "broken.py").write_text("(", encoding="utf-8")
    monkeypatch.setattr(quick, "ROOT", tmp_path)
    monkeypatch.setattr(quick, "choose", broken)
    assert [check.name for check in quick.of_python(["broken.py"])] == [
        "ruff",
        "ruff format",
        "mypy",
    ]
    assert "broken.py, line 3" in capsys.readouterr().out


def test_a_change_runs_its_checks_and_one_that_fails_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changed = [
        "crates/capture/src/lib.rs",
        "python/tailrace/statistics/holm.py",
        "tests/conftest.py",
    ]
    ran: dict[str, tuple[str, ...]] = {}
    failing: set[str] = set()

    def run(check: checks.Check, *_: object) -> checks.Verdict:
        ran[check.name] = check.command
        return checks.Verdict(
            check, "FAILED (status 1)" if check.name in failing else "passed", 0.0
        )

    monkeypatch.setattr(quick, "changes", lambda _: changed)
    monkeypatch.setattr(checks, "run", run)
    assert quick.main() == 0
    assert set(ran) == {
        "checked",
        "rustfmt",
        "crates",
        "clippy",
        "ruff",
        "ruff format",
        "mypy",
        "pytest",
        "smoke",
    }
    assert ran["mypy"] == (checks.tool("mypy"),)
    assert "smoke" in ran["smoke"]
    assert any(name.startswith("tests/python/statistics/") for name in ran["pytest"])
    assert ran["pytest"][ran["pytest"].index("-m", 3) + 1] == "not slow"
    for name in set(ran):
        failing.clear()
        failing.add(name)
        assert quick.main() == 1, name


def test_a_crate_is_tested_with_those_that_use_it_and_a_common_one_alone() -> None:
    assert quick.dependents({"dataplane"}) >= {"host", "network", "sim", "fabric"}

    def tested(name: str) -> set[str]:
        [command] = [check.command for check in quick.of_rust([name]) if check.name == "crates"]
        return {word.removeprefix("tailrace-") for word in command if word.startswith("tailrace-")}

    assert tested("crates/capture/src/lib.rs") == {"capture"}
    assert tested("crates/dataplane/src/lib.rs") >= {"dataplane", "sim"}
    assert tested("crates/units/src/lib.rs") == {"units"}
    assert quick.of_rust(["python/tailrace/errors.py"]) == []


def test_the_change_is_what_is_pending_or_else_the_last_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "ROOT", tmp_path)

    def git(*words: str) -> None:
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for name in ("a", "b"):
        (tmp_path / name).write_text("1", encoding="utf-8")
        git("add", name)
        git("commit", "--message", name)
    assert quick.changes("") == ["b"]
    assert quick.changes("HEAD~1") == ["b"]
    (tmp_path / "a").write_text("2", encoding="utf-8")
    (tmp_path / "c").write_text("1", encoding="utf-8")
    (tmp_path / "b").unlink()
    assert quick.changes("") == ["a", "b", "c"], "one that is gone too"
    with pytest.raises(SystemExit, match="nonsense"):
        quick.changes("nonsense")
