"""Put each deliberate fault of tests/mutations into a copy of the code and print which tests notice.

`mutate.py` tries all; `mutate.py WORD..` those whose description or file has one of the words. The table is that of
docs/validation.md. The exit status is 1 when no test notices a fault (the compiler is none), 2 when the tests fail
without any.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import checks

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "mutations"
# What the copy needs to build the crates, and to run the Python tests of the program that was built here.
SOURCES = ("Cargo.toml", "Cargo.lock", ".cargo", "crates", "pyproject.toml", "python", "tests")
# What those tests only read.
READ = ("docs", "examples", "reproductions", "scripts")
# The first run builds everything that the tests need.
FIRST_LIMIT_S = 900
# A later one takes a few seconds for most crates, and a minute or two for the simulator; on a busy machine several
# times that.
LIMIT_S = 600
# A fault may make a program collect without end; a compiler needs less than this.
MEMORY_BYTES_MAX = 6 << 30
# Random cases are those of `make test`, so that a fault and the whole code are tried with the same ones.
SEED = checks.USUAL_SEED
# Each fault is built once and run once: building is most of it.
QUICK = {"CARGO_PROFILE_TEST_OPT_LEVEL": "1", "CARGO_PROFILE_TEST_DEBUG": "0"}
# More names than this are summed up.
NAMES_MAX = 3
# A test that does not end is noticed too, but so is a machine that is too busy: the last line says how many are noticed
# by this alone.
TIME = "the time limit"
# A fault that does not compile says nothing about the tests: it does not fit the code any more.
COMPILER = "the compiler"


class StaleFaultError(Exception):
    """A fault that does not fit the code any more."""


@dataclass(frozen=True)
class Fault:
    """One deliberate fault."""

    what: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """Who noticed a fault: names of tests, or what else happened."""

    fault: Fault
    noticed_by: tuple[str, ...]

    @property
    def is_noticed(self) -> bool:
        """Whether a test noticed, and not only the compiler."""
        return bool(set(self.noticed_by) - {COMPILER})


def main(words: list[str]) -> int:
    """Try the faults that the words choose and print the table."""
    faults = [fault for fault in load() if not words or any(word in f"{fault.what} {fault.file}" for word in words)]
    _, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, hard_limit))
    unnoticed, overtime = 0, 0
    with tempfile.TemporaryDirectory(prefix="tailrace-mutate-") as folder:
        copy = copy_sources(Path(folder))
        if not is_sound(copy, faults):
            return 2
        print("| Fault | Detected by |\n|---|---|", flush=True)
        for fault in faults:
            verdict = attempt(copy, fault)
            unnoticed += not verdict.is_noticed
            overtime += set(verdict.noticed_by) == {TIME}
            print(row(verdict), flush=True)
    by_time = f", {overtime} of them by the time limit alone" if overtime else ""
    print(f"\n{len(faults) - unnoticed} of {len(faults)} faults noticed{by_time}", flush=True)
    return 1 if unnoticed else 0


def is_sound(copy: Path, faults: list[Fault]) -> bool:
    """Whether the tests pass without any fault; builds what they need."""
    for chosen in dict.fromkeys(chosen for fault in faults for chosen in fault.tests):
        failed = failures(copy, chosen, FIRST_LIMIT_S)
        if failed:
            print(f"without any fault, the tests {chosen} end with: {', '.join(failed)}", file=sys.stderr)
            return False
    return True


def load() -> list[Fault]:
    """The faults on record, file by file.

    Each says what it breaks, its file, a text that stands there once, and what takes its place; `tests` are arguments
    of `cargo test` when they are not simply those of the fault's crate, or of `pytest` when they begin with `tests/`.
    """
    texts = [path.read_text(encoding="utf-8") for path in sorted(FAULTS.glob("*.toml"))]
    tables = [table for text in texts for table in tomllib.loads(text)["fault"]]
    return [Fault(each["what"], each["file"], each["old"], each["new"], arguments(each)) for each in tables]


def arguments(table: dict[str, Any]) -> tuple[str, ...]:
    """Arguments of the tests of a fault: what it says, or the crate that its file belongs to."""
    own = f"-p tailrace-{Path(table['file']).parts[1]}"
    return tuple(table.get("tests", [own]))


def copy_sources(folder: Path) -> Path:
    """A copy of what is built, in which faults may be made."""
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
        elif source.exists():
            shutil.copy2(source, folder / name)
    for name in READ:
        (folder / name).symlink_to(ROOT / name)
    return folder


def with_fault(text: str, fault: Fault) -> str:
    """The text of the file with the fault in it."""
    found = text.count(fault.old)
    if found != 1:
        raise StaleFaultError(f"{fault.file} has the text of {fault.what!r} {found} times instead of once")
    return text.replace(fault.old, fault.new)


def attempt(copy: Path, fault: Fault) -> Verdict:
    """Test the copy with one fault; the copy is whole again afterwards."""
    path = copy / fault.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(with_fault(whole, fault), encoding="utf-8")
    try:
        noticed = [name for chosen in fault.tests for name in failures(copy, chosen, LIMIT_S)]
    finally:
        path.write_text(whole, encoding="utf-8")
    return Verdict(fault, tuple(dict.fromkeys(noticed)))


def failures(copy: Path, chosen: str, limit_s: float) -> list[str]:
    """Names of the chosen tests that fail in the copy."""
    is_python = chosen.startswith("tests/")
    if is_python:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen.split()]
        command += [f"--hypothesis-seed={SEED}"]
        own = {"PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    else:
        command = ["cargo", "test", "--locked", "--no-fail-fast", *chosen.split()]
        # A target folder of its own: in a shared one, what was built with a fault would pass for what the whole code
        # gives.
        own = QUICK | {
            "CARGO_TARGET_DIR": str(copy / "target"),
            "RUST_BACKTRACE": "0",
            "PROPTEST_MAX_SHRINK_ITERS": "0",
            "PROPTEST_RNG_SEED": str(SEED),
        }
    process = subprocess.Popen(
        command,
        cwd=copy,
        env=os.environ | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return [TIME]
    return (read_pytest_failures if is_python else read_failures)(output, process.returncode)


def read_failures(output: str, status: int) -> list[str]:
    """Names of failed tests in the output of `cargo test`, without their modules."""
    if "could not compile" in output:
        return [COMPILER]
    names = re.findall(r"^test (\S+) .*\bFAILED$", output, re.MULTILINE)
    return _failed([name.rpartition("::")[2] for name in names], status)


def read_pytest_failures(output: str, status: int) -> list[str]:
    """Names of failed tests in the output of `pytest`, without their files and parameters, each once."""
    names = re.findall(r"^(?:FAILED|ERROR) [^\s:]+(?:::(\w+))*", output, re.MULTILINE)
    return _failed(list(dict.fromkeys(name or "a test that cannot be read" for name in names)), status)


def _failed(names: list[str], status: int) -> list[str]:
    """Names of failed tests, or what stands for them where a test program ended without any."""
    return names or (["a test program that ended early"] if status != 0 else [])


def row(verdict: Verdict) -> str:
    """One line of the table."""
    names = [f"`{name}`" if "_" in name else name for name in verdict.noticed_by]
    shown = ", ".join(names[:NAMES_MAX]) if names else "**no test**"
    more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
    return f"| {verdict.fault.what} | {shown}{more} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
