"""Put each deliberate fault of tests/mutations into a copy of the code and print which tests
notice.

`mutate.py` tries all, those first that were never tried and then the oldest; `mutate.py WORD..`
those whose description or file has one of the words. What was found is kept in
target/nightly/faults, so that a run that is interrupted, or whose `--minutes` are over, is
continued by the next. The exit status is 1 when no test notices a fault, 2 when tests fail without
any.
"""

import argparse
import fcntl
import filecmp
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import checks
import code_items

ROOT = Path(__file__).resolve().parent.parent
FAULTS = ROOT / "tests" / "mutations"
STATE = ROOT / "target" / "nightly"
# What the copy needs to build the crates, and to run the Python tests of the program that was built
# here.
SOURCES = ("Cargo.toml", "Cargo.lock", ".cargo", "crates", "pyproject.toml", "python", "tests")
# What those tests only read.
READ = ("docs", "examples", "reproductions", "scripts")
# The first run of some tests builds everything that they need.
FIRST_LIMIT_S = 900
# A later one takes a few seconds for most crates, and a minute or two for the simulator; on a busy
# machine several times that.
LIMIT_S = 600
# A fault may make a program collect without end; a compiler needs less than this.
MEMORY_BYTES_MAX = 6 << 30
# Random cases are those of `make test`, so that a fault and the whole code are tried with the same
# ones.
SEED = checks.USUAL_SEED
# More names than this are summed up.
NAMES_MAX = 3
# A test that does not end notices a fault too.
TIME = "the time limit"
# A fault that does not compile says nothing about the tests: it does not fit the code any more.
COMPILER = "the compiler"


class StaleFaultError(Exception):
    """A fault that does not fit the code any more."""


@dataclass(frozen=True)
class Fault:
    """One deliberate fault: in the file, within the item, `new` takes the place of `old`.

    `tests` are arguments of `cargo test`, or of `pytest` when they begin with `tests/`.
    """

    what: str
    file: str
    item: str
    old: str
    new: str
    tests: tuple[str, ...]

    @classmethod
    def of(cls, table: dict[str, Any]) -> "Fault":
        """Without tests of its own, a fault has those of the crate of its file."""
        return cls(
            **{"tests": (f"-p tailrace-{Path(table['file']).parts[1]}",)} | table | _tuples(table)
        )

    def put_into(self, text: str) -> str:
        """The text of the file with the fault in it."""
        named = [
            item
            for item in code_items.items(text, Path(self.file).suffix)
            if item.name == self.item
        ]
        if len(named) != 1:
            raise StaleFaultError(f"{self.file} has {self.item} {len(named)} times")
        start, end = named[0].start, named[0].end
        found = list(_pattern(self.old).finditer(text, start, end))
        if len(found) != 1:
            raise StaleFaultError(f"{self.item} of {self.file} has the text {len(found)} times")
        return text[: found[0].start()] + self.new + text[found[0].end() :]


def _tuples(table: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(value) for name, value in table.items() if isinstance(value, list)}


def _pattern(old: str) -> re.Pattern[str]:
    """The text however it is broken into lines: a formatter adds commas behind the last of several
    lines."""
    words = re.findall(r"\w+|[^\w\s]", old)
    text = re.escape(words[0]) + "".join(
        _gap(before, word) + re.escape(word) for before, word in pairwise(words)
    )
    first, last = (r"\b" if re.match(r"\w", word) else "" for word in (words[0], words[-1]))
    return re.compile(first + text + last)


def _gap(before: str, word: str) -> str:
    if word in ")]}":
        return r"\s*,?\s*"
    return r"\s+" if re.match(r"\w", before) and re.match(r"\w", word) else r"\s*"


@dataclass
class Found:
    """What is known of faults: the tests that noticed each, and the state of the code for which
    that was found."""

    path: Path
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Found":
        """That of earlier runs, or nothing."""
        return cls(path, json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})

    def tried_at(self, key: str) -> float:
        """When it was tried, those first that never were."""
        return float(self.rows.get(key, {}).get("at", 0))

    def outcome(self, key: str) -> str:
        """In a word; a fault that does not compile does not fit the code any more."""
        if key not in self.rows:
            return "not tried"
        noticed = set(self.rows[key]["noticed_by"])
        return "stale" if noticed == {COMPILER} else "noticed" if noticed else "unnoticed"

    def note(self, key: str, tree: str, noticed_by: list[str]) -> None:
        """Keep it at once, so that an interruption loses nothing."""
        self.rows[key] = {"tree": tree, "at": time.time(), "noticed_by": noticed_by}
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self.rows, indent=1) + "\n", encoding="utf-8")
        beside.replace(self.path)


def main(arguments: list[str]) -> int:
    """Try the faults that the words choose and print what was found of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "words", nargs="*", help="only faults whose description or file has one of these"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin nothing new after this time"
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=STATE,
        metavar="FOLDER",
        help="in `faults` of it is all that is kept",
    )
    asked = parser.parse_args(arguments)
    faults = [
        one
        for one in load()
        if not asked.words or any(word in f"{one.what} {one.file}" for word in asked.words)
    ]
    _, hard_limit = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES_MAX, hard_limit))
    until_s = time.monotonic() + 60 * asked.minutes
    with alone(asked.state / "faults"):
        return Run(asked.state / "faults", until_s).go(faults)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait for another run in the same folder, whose fault would be in the copy."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def load() -> list[Fault]:
    """The faults on record, file by file."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(FAULTS.glob("*.toml"))]
    return [Fault.of(table) for text in texts for table in tomllib.loads(text)["fault"]]


class Run:
    """Faults are tried one after the other in one copy, until all are or the time is over."""

    def __init__(self, folder: Path, until_s: float) -> None:
        self.copy = folder / "copy"
        self.found = Found.read(folder / "found.json")
        self.until_s = until_s
        self.tree = tree_of(ROOT)
        self.unsound: set[str] = set()

    def go(self, faults: list[Fault]) -> int:
        """Try the faults and print the summary; the exit status."""
        counts = Counter(dict.fromkeys(("noticed", "unnoticed", "stale", "not tried"), 0))
        keys: dict[str, Fault] = {}
        for fault in faults:
            text = (
                (ROOT / fault.file).read_text(encoding="utf-8")
                if (ROOT / fault.file).exists()
                else ""
            )
            try:
                fault.put_into(text)
                keys[_hash(repr(fault) + text)] = fault
            except StaleFaultError as error:
                counts["stale"] += 1
                print(f"stale: {fault.what}: {error}", flush=True)
        refresh(self.copy)
        try:
            for key in sorted(keys, key=self.found.tried_at):
                if (
                    not self.is_tried(key)
                    and time.monotonic() < self.until_s
                    and self.is_sound(keys[key])
                ):
                    self.attempt(key, keys[key])
        except KeyboardInterrupt:
            print("interrupted; the next run continues", file=sys.stderr)
        outcomes = {key: self.found.outcome(key) for key in keys}
        counts.update(outcomes.values())
        for key in keys:
            if outcomes[key] in ("unnoticed", "stale"):
                print(f"{outcomes[key]}: {keys[key].what}")
        old = sum(outcomes[key] != "not tried" and not self.is_tried(key) for key in keys)
        earlier = f" ({old} were tried with an earlier state of the code)" if old else ""
        print(
            f"{len(faults)} faults: "
            f"{', '.join(f'{n} {name}' for name, n in counts.items())}{earlier}",
            flush=True,
        )
        return 2 if self.unsound else 1 if counts["unnoticed"] else 0

    def is_tried(self, key: str) -> bool:
        """Whether a fault, or tests without any, were tried with the code as it stands."""
        return bool(self.found.rows.get(key, {}).get("tree") == self.tree)

    def is_sound(self, fault: Fault) -> bool:
        """Whether the tests of the fault pass without it; the first time, builds what they need."""
        for chosen in fault.tests:
            if chosen not in self.unsound and not self.is_tried(chosen):
                failed = failures(self.copy, chosen, FIRST_LIMIT_S)
                if failed:
                    self.unsound.add(chosen)
                    print(
                        f"without any fault, the tests {chosen} end with: {', '.join(failed)}",
                        file=sys.stderr,
                    )
                else:
                    self.found.note(chosen, self.tree, [])
        return not self.unsound.intersection(fault.tests)

    def attempt(self, key: str, fault: Fault) -> None:
        """Test the copy with one fault; the copy is whole again afterwards."""
        path = self.copy / fault.file
        whole = path.read_text(encoding="utf-8")
        path.write_text(fault.put_into(whole), encoding="utf-8")
        try:
            noticed = [
                name for chosen in fault.tests for name in failures(self.copy, chosen, LIMIT_S)
            ]
        finally:
            path.write_text(whole, encoding="utf-8")
        self.found.note(key, self.tree, list(dict.fromkeys(noticed)))
        print(told(self.found.outcome(key), fault, noticed), flush=True)


def tree_of(root: Path) -> str:
    """A hash of the code as it stands, committed or not."""
    commands = (["git", "rev-parse", "HEAD^{tree}"], ["git", "diff", "HEAD", "--binary"])
    printed = [
        subprocess.run(each, cwd=root, check=True, capture_output=True).stdout.hex()
        for each in commands
    ]
    return _hash("".join(printed))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def refresh(copy: Path) -> None:
    """Make the copy what the code is; a file that differs gets a new time, so that cargo builds it
    again."""
    wanted = {path.relative_to(ROOT) for name in SOURCES for path in _files(ROOT / name)}
    for path in {
        path.relative_to(copy) for name in SOURCES for path in _files(copy / name)
    } - wanted:
        (copy / path).unlink()
    for path in wanted:
        if not (copy / path).exists() or not filecmp.cmp(ROOT / path, copy / path, shallow=False):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, copy / path)
    for name in READ:
        (copy / name).unlink(missing_ok=True)
        (copy / name).symlink_to(ROOT / name)


def _files(place: Path) -> list[Path]:
    within = [place] if place.is_file() else place.rglob("*")
    return [path for path in within if path.is_file() and path.suffix != ".pyc"]


def rust_environment(build: Path) -> dict[str, str]:
    """For `cargo test` of code with a fault.

    The target folder is one of its own: in a shared one, what was built with a fault would pass for
    the whole code.
    """
    return {
        "CARGO_TARGET_DIR": str(build),
        "RUST_BACKTRACE": "0",
        "PROPTEST_MAX_SHRINK_ITERS": "0",
        "PROPTEST_RNG_SEED": str(SEED),
    }


def failures(copy: Path, chosen: str, limit_s: float) -> list[str]:
    """Names of the chosen tests that fail in the copy."""
    is_python = chosen.startswith("tests/")
    if is_python:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen.split()]
        command += [f"--hypothesis-seed={SEED}"]
        own = {"PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    else:
        command = ["cargo", "test", "--locked", "--no-fail-fast", *chosen.split()]
        own = rust_environment(copy.parent / "build")
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
        return [TIME]
    finally:
        # Also when this program is interrupted: what goes on would hold the build folder.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return (read_pytest_failures if is_python else read_failures)(output, process.returncode)


def read_failures(output: str, status: int) -> list[str]:
    """Names of failed tests in the output of `cargo test`, without their modules."""
    if "could not compile" in output:
        return [COMPILER]
    names = re.findall(r"^test (\S+) .*\bFAILED$", output, re.MULTILINE)
    return _failed([name.rpartition("::")[2] for name in names], status)


def read_pytest_failures(output: str, status: int) -> list[str]:
    """Names of failed tests in the output of `pytest`, without their files and parameters, each
    once."""
    names = re.findall(r"^(?:FAILED|ERROR) [^\s:]+(?:::(\w+))*", output, re.MULTILINE)
    return _failed(
        list(dict.fromkeys(name or "a test that cannot be read" for name in names)), status
    )


def _failed(names: list[str], status: int) -> list[str]:
    """Names of failed tests, or what stands for them where a test program ended without any."""
    return names or (["a test program that ended early"] if status != 0 else [])


def told(outcome: str, fault: Fault, noticed: list[str]) -> str:
    """One line about a fault that was tried."""
    more = f" and {len(noticed) - NAMES_MAX} more" if len(noticed) > NAMES_MAX else ""
    return f"{outcome}: {fault.what}" + (
        f": {', '.join(noticed[:NAMES_MAX])}{more}" if noticed else ""
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
