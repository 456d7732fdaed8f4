"""Mutants of a change: what differs, which tests run, and what is printed of the survivors. No
mutant is made here."""

import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import mutants
import mutate


@pytest.mark.parametrize(
    ("file", "tests"),
    [
        ("python/tailrace/statistics/rank.py", "tests/python/statistics"),
        ("python/tailrace/results/sweep/no_folder_of_tests/curves.py", "tests/python/results"),
        ("python/tailrace/api.py", "tests/python"),
        ("scripts/mutants.py", "tests/scripts/test_mutants.py"),
        ("scripts/code_items.py", "tests/scripts"),
    ],
)
def test_a_module_has_the_tests_of_its_layer(file: str, tests: str) -> None:
    assert mutants.tests_of(Path(file)) == tests


def test_the_base_is_where_the_branch_left_main_and_on_main_the_last_commit_but_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    commit = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
    ]
    for command in (
        ["init", "--quiet", "--initial-branch=main"],
        [*commit, "first"],
        [*commit, "second"],
    ):
        mutants.git(*command)
    assert mutants.git("show", "--format=%s", mutants.usual_base()) == "first"
    for command in (
        ["switch", "--quiet", "--create", "branch"],
        [*commit, "third"],
        [*commit, "fourth"],
    ):
        mutants.git(*command)
    assert mutants.git("show", "--format=%s", mutants.usual_base()) == "second"


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a crate and a script, of which each has lines of two commits, and new files
    beside them."""
    root = tmp_path / "code"
    monkeypatch.setattr(mutants, "ROOT", root)
    monkeypatch.setattr("mutate.ROOT", root)
    monkeypatch.setattr(mutants, "STATE", tmp_path / "state")
    monkeypatch.setattr(mutants, "INDEX", {"GIT_INDEX_FILE": str(tmp_path / "state" / "index")})
    monkeypatch.setattr(mutants, "PYTHON_TOOLS", tmp_path / "tools")
    monkeypatch.setattr(mutants, "RUST_TOOL", tmp_path / "tools" / "bin" / "cosmic-ray")
    monkeypatch.setattr("bootstrap.output_of", lambda _words: mutants.CARGO_MUTANTS)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    (tmp_path / "tools" / "bin").mkdir(parents=True)
    (tmp_path / "tools" / "bin" / "cosmic-ray").touch()
    (root / "crates" / "x" / "src").mkdir(parents=True)
    (root / "scripts").mkdir()
    mutants.git("init", "--quiet", "--initial-branch=main")
    for text in ("old\n", "old\nrecent\n"):
        (root / "crates" / "x" / "src" / "a.rs").write_text(text)
        (root / "scripts" / "a.py").write_text(text)
        mutants.git("add", ".")
        mutants.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a")
    (root / "crates" / "x" / "src" / "new.rs").write_text("unknown\n")
    (root / "scripts" / "new.py").write_text("unknown\n")
    return root


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(
    ("words", "base", "files"),
    [([], "HEAD~1", ["a.py", "new.py"]), (["--base", "HEAD"], "HEAD", ["new.py"])],
)
def test_what_differs_from_the_base_is_mutated_new_files_too(
    monkeypatch: pytest.MonkeyPatch, words: list[str], base: str, files: list[str]
) -> None:
    seen: list[tuple[str, str]] = []
    monkeypatch.setattr(
        mutants, "mutate_python", lambda file, base, *_: seen.append((file.name, base))
    )
    monkeypatch.setattr(mutants, "mutate_rust", lambda base, _until_s: seen.append(("rust", base)))
    before = mutants.git("status", "--porcelain")
    assert mutants.main(words) == 0
    assert [name for name, _ in seen] == [*files, "rust"]
    assert {mutants.git("rev-parse", base) for _, base in seen} == {mutants.git("rev-parse", base)}
    assert mutants.git("status", "--porcelain") == before, "the index of the user is as it was"


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize(
    ("base", "lines"), [("HEAD", ["+unknown"]), ("HEAD~1", ["+recent", "+unknown"])]
)
def test_cargo_mutants_has_the_lines_that_differ(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, base: str, lines: list[str]
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(mutants, "until", lambda command, *_: started.append(command))
    mutants.mutate_rust(base, 0)
    [command] = started
    diff = tmp_path / "state" / "rust.diff"
    assert command[command.index("--in-diff") + 1] == str(diff)
    assert [
        line for line in diff.read_text().splitlines() if line[0] == "+" and line[:3] != "+++"
    ] == lines


@pytest.mark.usefixtures("code")
@pytest.mark.parametrize("code_of_tool", [0, 1, 2, 3, 4, None])
def test_a_failure_of_cargo_mutants_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code_of_tool: int | None
) -> None:
    monkeypatch.setattr(mutants, "mutate_python", lambda *_: None)
    monkeypatch.setattr(mutants, "until", lambda *_: code_of_tool)
    is_failure = code_of_tool in (1, 4)
    assert mutants.main([]) == (2 if is_failure else 0)
    assert ("cargo-mutants ended with" in capsys.readouterr().err) == is_failure


def test_cosmic_ray_has_the_base_and_sees_new_files(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code / "python").mkdir()
    (code / "python" / "new.py").write_text("unknown\n")
    mutate.refresh(tmp_path / "state" / "copy")
    mutants.add_new_files()
    git, seen = subprocess.run, []

    def run(command: list[str], **options: Any) -> Any:
        """Of cr-filter-git, what it asks; of the others, that they pass."""
        if command[0].endswith("cr-filter-git"):
            asked = ["git", "diff", "--name-only", "HEAD", "--", "python"]
            seen.append(
                git(
                    asked, cwd=options["cwd"], env=options["env"], capture_output=True, text=True
                ).stdout
            )
        return (
            git(command, **options)
            if command[0] == "git"
            else subprocess.CompletedProcess(command, 0, "", "")
        )

    monkeypatch.setattr("mutants.subprocess.run", run)
    monkeypatch.setattr(mutants, "until", lambda *_: 0)
    monkeypatch.setattr("mutate.refresh", lambda _copy: None)
    mutants.mutate_python(Path("python/new.py"), "the base", "tests/x", 0)
    settings = tomllib.loads((tmp_path / "state" / "python.toml").read_text())["cosmic-ray"]
    assert settings["filters"]["git-filter"]["branch"] == "the base"
    assert settings["module-path"] == ["python/new.py"]
    assert [text.splitlines() for text in seen] == [["python/new.py"]]


def test_survivors_are_told_with_their_lines_and_counted() -> None:
    diff = (
        "--- mutation diff ---\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n "
        "a\n-if cut < 1:\n+if cut < 2:\n b"
    )
    job = {"mutations": [{"start_pos": [58, 11]}]}
    results = [
        {"worker_outcome": "normal", "test_outcome": "survived", "diff": diff},
        {"worker_outcome": "normal", "test_outcome": "killed", "diff": diff},
        {"worker_outcome": "skipped", "test_outcome": None, "diff": None},
        None,
    ]
    dumped = "\n".join(json.dumps([job, result]) for result in results)
    assert mutants.python_summary(Path("x.py"), "tests/x", dumped).splitlines() == [
        "survived: x.py:58",
        "    -if cut < 1:",
        "    +if cut < 2:",
        "x.py with tests/x: 1 noticed, 1 survived, 1 not tried",
    ]


def test_a_program_ends_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "STATE", tmp_path)
    (tmp_path / "copy").mkdir()
    assert mutants.until(["sleep", "1000"], 0, dict(os.environ)) is None
    assert mutants.until(["false"], float("inf"), dict(os.environ)) == 1


def test_the_tests_of_a_mutant_end_with_the_program_that_runs_them() -> None:
    program = (
        "import subprocess\n"
        "child = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert _is_running(child)
        mutants.end(process.pid)
    while _is_running(child):
        time.sleep(0.01)


def _is_running(pid: int) -> bool:
    """Whether a process is there that is no zombie."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except FileNotFoundError:
        return False
