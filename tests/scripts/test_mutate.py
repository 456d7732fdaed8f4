"""Deliberate faults: each fits the code as it stands, and the outcome of a run is read rightly."""

import re
from pathlib import Path
from typing import Any

import pytest

import checks
import mutate


@pytest.mark.parametrize("fault", mutate.load(), ids=lambda fault: fault.what)
def test_each_fault_changes_the_code_as_it_stands(fault: mutate.Fault) -> None:
    text = (mutate.ROOT / fault.file).read_text(encoding="utf-8")
    assert mutate.with_fault(text, fault) != text


def test_faults_have_names_of_their_own() -> None:
    names = [fault.what for fault in mutate.load()]
    assert len(set(names)) == len(names) >= 40


def test_the_page_has_a_row_for_each_fault_and_counts_them() -> None:
    page = (mutate.ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    page = page[page.index("## Can the tests of the mechanisms fail?") :]
    rows = re.findall(r"^\| ([^|`]+?)( †)? \| (.+) \|$", page, re.MULTILINE)
    table = [(what, dagger, noticed) for what, dagger, noticed in rows if what != "Fault"]
    assert sorted(what for what, _, _ in table) == sorted(fault.what for fault in mutate.load())
    assert not [what for what, _, noticed in table if "**no test**" in noticed]
    late = sum(bool(dagger) for _, dagger, _ in table)
    assert f"Of the {len(table)} faults, {late} (†) were noticed" in page
    assert f"# all {len(table)}\n" in page


def test_a_fault_that_no_longer_fits_is_refused() -> None:
    fault = mutate.Fault("a sign is lost", "crates/x/src/a.rs", "-1", "1", ())
    with pytest.raises(mutate.StaleFaultError, match="'a sign is lost' 2 times instead of once"):
        mutate.with_fault("-1 + -1", fault)


def test_the_code_is_whole_again_after_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.rs"
    path.write_text("1 + 1", encoding="utf-8")
    seen = []

    def tests(copy: Path, arguments: str, limit_s: float) -> list[str]:
        seen.append((path.read_text(encoding="utf-8"), arguments, limit_s))
        return ["sums_are_right", "sums_are_right"]

    monkeypatch.setattr(mutate, "failures", tests)
    verdict = mutate.attempt(tmp_path, mutate.Fault("a sum", "a.rs", "+", "-", ("-p x",)))
    assert verdict.noticed_by == ("sums_are_right",)
    assert seen == [("1 - 1", "-p x", mutate.LIMIT_S)]
    assert path.read_text(encoding="utf-8") == "1 + 1"


def test_names_of_failed_tests_are_read_without_their_modules() -> None:
    output = "test a::b::sums_are_right ... FAILED\ntest a::fine ... ok\ntest broken - should panic ... FAILED\n"
    assert mutate.read_failures(output, 101) == ["sums_are_right", "broken"]
    assert mutate.read_failures("test a ... ok\n", 0) == []
    assert mutate.read_failures("error: could not compile `x`", 101) == ["the compiler"]
    assert mutate.read_failures("killed", -9) == ["a test program that ended early"]


def test_names_of_failed_python_tests_are_read_without_their_files_and_parameters() -> None:
    output = (
        "....F\nFAILED tests/a/test_b.py::test_c[1:2 3] - assert 1 == 2\nFAILED tests/a/test_b.py::test_c[2] - x\n"
        "ERROR tests/a/test_d.py - ImportError\n2 failed in 1 s\n"
    )
    assert mutate.read_pytest_failures(output, 1) == ["test_c", "a test that cannot be read"]
    assert mutate.read_pytest_failures("5 passed in 1 s\n", 0) == []
    assert mutate.read_pytest_failures("no tests ran\n", 5) == ["a test program that ended early"]


def test_python_tests_see_the_faults_of_the_copy(tmp_path: Path) -> None:
    copy = mutate.copy_sources(tmp_path)
    claim = copy / "python" / "tailrace" / "disk" / "claim.py"
    claim.write_text("raise ImportError('a fault')\n", encoding="utf-8")
    chosen = "tests/python/disk/test_claim.py"
    assert mutate.failures(copy, chosen, 120) == ["a test that cannot be read"]


class Ended:
    """A process that has ended."""

    pid, returncode = 0, 0

    def __init__(self, command: list[str], **options: Any) -> None:
        self.command, self.environment = command, options["env"]
        STARTED.append(self)

    def communicate(self, timeout: float) -> tuple[str, None]:
        return "", None


STARTED: list[Ended] = []


def test_random_cases_are_those_of_the_checks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("mutate.subprocess.Popen", Ended)
    STARTED.clear()
    assert mutate.failures(tmp_path, "-p x", 1) == mutate.failures(tmp_path, "tests/x.py", 1) == []
    assert STARTED[0].environment["PROPTEST_RNG_SEED"] == str(checks.USUAL_SEED)
    assert f"--hypothesis-seed={checks.USUAL_SEED}" in STARTED[1].command


def test_a_fault_that_does_not_compile_is_noticed_by_nobody() -> None:
    fault = mutate.Fault("a sum", "a.rs", "+", "-", ())
    noticed = [mutate.Verdict(fault, by).is_noticed for by in ((), ("the compiler",), ("a_b",), ("the time limit",))]
    assert noticed == [False, False, True, True]


def test_a_row_names_a_few_tests_and_says_when_nobody_noticed() -> None:
    fault = mutate.Fault("a sum", "a.rs", "+", "-", ())
    row = mutate.row(mutate.Verdict(fault, ("a_b", "c_d", "e_f", "g_h")))
    assert row == "| a sum | `a_b`, `c_d`, `e_f` and 1 more |"
    assert mutate.row(mutate.Verdict(fault, ())) == "| a sum | **no test** |"
    assert mutate.row(mutate.Verdict(fault, ("the time limit",))) == "| a sum | the time limit |"
