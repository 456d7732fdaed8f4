"""Deliberate faults: where one is inserted, what a run keeps, how the outcome of tests is read;
with toys alone."""

import fcntl
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import checks
import code_items
import mutate

RUST = """
impl<T: Fn() -> u32> Rule<T> for a::Bucket<T> {
    /// Not here: { "
    fn take(&self, now: [u8; 2]) -> u32 { let _ = '{'; self.tokens.min(
        self.burst,
    ) }
}
pub(crate) const fn take() -> u32 { 1 }
pub const BURST: [u32; 2] = [1, 2];
"""
PYTHON = (
    "BURST = 1\n\nclass Bucket:\n    def take(self):\n        return min(\n            1,\n    "
    "        BURST)\n"
)


def fault(item: str, old: str, new: str, file: str = "crates/x/src/a.rs") -> mutate.Fault:
    return mutate.Fault("a toy", file, item, old, new, ("-p x",))


@pytest.mark.parametrize(
    ("text", "suffix", "names"),
    [
        (RUST, ".rs", ["Bucket::take", "take", "BURST"]),
        (PYTHON, ".py", ["BURST", "Bucket.take"]),
        ("a {}", ".js", []),
    ],
)
def test_functions_methods_and_constants_have_names(
    text: str, suffix: str, names: list[str]
) -> None:
    assert [item.name for item in code_items.items(text, suffix)] == names


def test_a_fault_is_inserted_within_its_item_however_the_text_is_broken_into_lines() -> None:
    method = fault("Bucket::take", "self.tokens.min(self.burst)", "0")
    assert "let _ = '{'; 0 }" in method.put_into(RUST)
    assert fault("take", "1", "2").put_into(RUST) == RUST.replace("{ 1 }", "{ 2 }")
    assert fault("BURST", "[1, 2]", "[2, 1]").put_into(RUST) == RUST.replace("[1, 2]", "[2, 1]")
    python = fault("Bucket.take", "return min(1, BURST)", "return 1", "python/a.py")
    assert python.put_into(PYTHON).endswith("        return 1\n")


@pytest.mark.parametrize(
    ("item", "old", "reason"),
    [
        ("Bucket::give", "1", "crates/x/src/a.rs has Bucket::give 0 times"),
        ("BURST", "3", "BURST of crates/x/src/a.rs has the text 0 times"),
        ("take", "u3", "take of crates/x/src/a.rs has the text 0 times"),
        ("Bucket::take", "self", "Bucket::take of crates/x/src/a.rs has the text 3 times"),
    ],
)
def test_a_fault_that_no_longer_fits_is_stale(item: str, old: str, reason: str) -> None:
    with pytest.raises(mutate.StaleFaultError, match=reason):
        fault(item, old, "").put_into(RUST)


def test_a_fault_without_tests_has_those_of_its_crate() -> None:
    table = {
        "what": "a toy",
        "file": "crates/wire/src/a.rs",
        "item": "take",
        "old": "1",
        "new": "2",
    }
    assert mutate.Fault.of(table).tests == ("-p tailrace-wire",)
    assert mutate.Fault.of(table | {"tests": ["-p x", "tests/x"]}).tests == ("-p x", "tests/x")


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one function, whose test notices that it does not return 1."""
    root = tmp_path / "code"
    (root / "crates" / "x" / "src").mkdir(parents=True)
    (root / "crates" / "x" / "src" / "a.rs").write_text(
        "fn take() -> u32 { 1 }\n", encoding="utf-8"
    )
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True)
    monkeypatch.setattr(mutate, "ROOT", root)
    return root


def toy_tests(tried: list[str]) -> Any:
    """Stands for the tests of the toy; keeps what they saw."""

    def failures(copy: Path, chosen: str, limit_s: float) -> list[str]:
        text = (copy / "crates" / "x" / "src" / "a.rs").read_text(encoding="utf-8")
        tried.append(text[text.index("{") + 2 : -3])
        if tried[-1] == "stop":
            raise KeyboardInterrupt
        return {"1": [], "2": ["takes_one"], "one": ["the compiler"]}.get(tried[-1], [])

    return failures


def test_a_run_is_continued_and_sums_up(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []
    monkeypatch.setattr(mutate, "failures", toy_tests(tried))
    toys = [
        fault("take", "1", "2"),
        fault("take", "1", "1 + 0"),
        fault("take", "1", "one"),
        fault("take", "3", "4"),
    ]

    assert mutate.Run(tmp_path / "kept", until_s=0).go(toys) == 0
    assert tried == []
    assert "4 faults: 0 noticed, 0 unnoticed, 1 stale, 3 not tried" in capsys.readouterr().out

    assert mutate.Run(tmp_path / "kept", until_s=float("inf")).go(toys[:1]) == 0
    assert mutate.Run(tmp_path / "kept", until_s=float("inf")).go(toys) == 1
    assert tried == ["1", "2", "1 + 0", "one"]
    assert "4 faults: 1 noticed, 1 unnoticed, 2 stale, 0 not tried" in capsys.readouterr().out

    mutate.Run(tmp_path / "kept", until_s=float("inf")).go(toys)
    assert len(tried) == 4
    assert (tmp_path / "kept" / "copy" / "crates" / "x" / "src" / "a.rs").read_text(
        encoding="utf-8"
    ) == (code / "crates" / "x" / "src" / "a.rs").read_text(encoding="utf-8")

    # Another state of the code, in which the file of the faults is the same: tried again when there
    # is time.
    (code / "crates" / "x" / "a.md").write_text("b", encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=code, check=True)
    mutate.Run(tmp_path / "kept", until_s=0).go(toys)
    assert "(3 were tried with an earlier state of the code" in capsys.readouterr().out
    mutate.Run(tmp_path / "kept", until_s=float("inf")).go(toys)
    assert tried[4:] == ["1", "2", "1 + 0", "one"]


def test_an_interrupted_run_keeps_what_it_found(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutate, "failures", toy_tests([]))
    toys = [fault("take", "1", new) for new in ("2", "stop", "one")]
    mutate.Run(tmp_path / "kept", until_s=float("inf")).go(toys)
    assert "3 faults: 1 noticed, 0 unnoticed, 0 stale, 2 not tried" in capsys.readouterr().out
    assert "{ 1 }" in (tmp_path / "kept" / "copy" / "crates" / "x" / "src" / "a.rs").read_text(
        encoding="utf-8"
    )


def test_nothing_is_found_by_tests_that_fail_without_any_fault(
    code: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutate, "failures", lambda copy, chosen, limit_s: ["takes_one"])
    assert mutate.Run(tmp_path / "kept", until_s=float("inf")).go([fault("take", "1", "2")]) == 2
    printed = capsys.readouterr()
    assert "without any fault, the tests -p x end with: takes_one" in printed.err
    assert "1 faults: 0 noticed, 0 unnoticed, 0 stale, 1 not tried" in printed.out


def test_names_of_failed_tests_are_read_without_their_modules() -> None:
    output = (
        "test a::b::sums_are_right ... FAILED\ntest a::fine ... ok\ntest broken - should panic "
        "... FAILED\n"
    )
    assert mutate.read_failures(output, 101) == ["sums_are_right", "broken"]
    assert mutate.read_failures("test a ... ok\n", 0) == []
    assert mutate.read_failures("error: could not compile `x`", 101) == ["the compiler"]
    assert mutate.read_failures("killed", -9) == ["a test program that ended early"]


def test_names_of_failed_python_tests_are_read_without_their_files_and_parameters() -> None:
    output = (
        "....F\nFAILED tests/a/test_b.py::test_c[1:2 3] - assert 1 == 2\nFAILED "
        "tests/a/test_b.py::test_c[2] - x\n"
        "ERROR tests/a/test_d.py - ImportError\n2 failed in 1 s\n"
    )
    assert mutate.read_pytest_failures(output, 1) == ["test_c", "a test that cannot be read"]
    assert mutate.read_pytest_failures("5 passed in 1 s\n", 0) == []
    assert mutate.read_pytest_failures("no tests ran\n", 5) == ["a test program that ended early"]


class Ended:
    """A process that has ended."""

    pid, returncode = 0, 0

    def __init__(self, command: list[str], **options: Any) -> None:
        self.command, self.environment = command, options["env"]
        STARTED.append(self)

    def communicate(self, timeout: float) -> tuple[str, None]:
        return "", None

    def poll(self) -> int:
        return 0


STARTED: list[Ended] = []


def test_random_cases_are_those_of_the_checks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mutate.subprocess.Popen", Ended)
    STARTED.clear()
    assert mutate.failures(tmp_path, "-p x", 1) == mutate.failures(tmp_path, "tests/x.py", 1) == []
    assert STARTED[0].environment["PROPTEST_RNG_SEED"] == str(checks.USUAL_SEED)
    assert f"--hypothesis-seed={checks.USUAL_SEED}" in STARTED[1].command


def test_rust_tests_with_a_fault_have_a_build_folder_of_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("mutate.subprocess.Popen", Ended)
    STARTED.clear()
    mutate.failures(tmp_path / "copy", "-p x", 1)
    assert STARTED[0].environment["CARGO_TARGET_DIR"] == str(tmp_path / "build")


def test_python_tests_see_the_faults_of_the_copy(tmp_path: Path) -> None:
    package, tests = tmp_path / "python" / "tailrace", tmp_path / "tests"
    package.mkdir(parents=True)
    tests.mkdir()
    (package / "__init__.py").write_text("BURST = 2\n", encoding="utf-8")
    text = (
        "import tailrace\ndef test_one(): assert tailrace.BURST == 1\ndef test_two(): assert "
        "tailrace.BURST == 2\n"
    )
    (tests / "test_burst.py").write_text(text, encoding="utf-8")
    assert mutate.failures(tmp_path, "tests/test_burst.py", 120) == ["test_one"]


def test_tests_that_do_not_end_notice_a_fault_and_are_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cargo").write_text("#!/bin/sh\nexec sleep 1000\n", encoding="utf-8")
    (tmp_path / "cargo").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    noticed_by = mutate.failures(tmp_path, "-p x", 0.1)
    found = mutate.Found(tmp_path / "found.json")
    found.note("a", "b", noticed_by)
    assert (noticed_by, found.outcome("a")) == (["the time limit"], "noticed")


def test_two_runs_do_not_share_the_copy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Alone:
        """A run that sees whether another could begin."""

        def __init__(self, folder: Path, until_s: float) -> None:
            self.folder = folder

        def go(self, faults: list[mutate.Fault]) -> int:
            with (self.folder / "lock").open("w") as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return 5

    monkeypatch.setattr(mutate, "Run", Alone)
    monkeypatch.setattr("mutate.resource.setrlimit", lambda *_limits: None)
    assert mutate.main(["--state", str(tmp_path)]) == 5


def test_the_copy_becomes_what_the_code_is(code: Path, tmp_path: Path) -> None:
    copy, file = tmp_path / "copy", Path("crates", "x", "src", "a.rs")
    (code / "crates" / "x" / "src" / "b.rs").touch()
    mutate.refresh(copy)
    assert (copy / file).with_name("b.rs").exists()
    (code / "crates" / "x" / "src" / "b.rs").unlink()
    # As long and as old as before.
    (copy / file).write_text("fn take() -> u32 { 2 }\n", encoding="utf-8")
    for place in (code, copy):
        os.utime(place / file, (0, 0))
    mutate.refresh(copy)
    assert (copy / file).read_bytes() == (code / file).read_bytes()
    assert not (copy / file).with_name("b.rs").exists()
