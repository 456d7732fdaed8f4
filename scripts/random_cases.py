"""Repeat the tests with random cases with other cases: full counts, and the long ones that `cargo
test` ignores.

A step is one crate, or one file of Python tests, with one seed; it is begun while there is time,
and not interrupted by its end; a call has at least one. The next call goes on with the next step,
and no seed is used twice. A step that failed is repeated first.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import checks
from tailrace.files import make_folder, read_json, write_json

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / "target" / "nightly"
STEP_LIMIT_S = 3600
FIRST_SEED = 2
"""`make test` has the one before."""
HAS_CASES = re.compile(r"proptest!|TestRunner|PROPTEST_RNG_SEED")
IGNORED = re.compile(r'#\[ignore = "[^"]*: (cargo test [^"]*)"\]')
"""What an ignored test says of how it is run."""


@dataclass(frozen=True)
class Step:
    """Some tests with one seed."""

    command: tuple[str, ...]
    seed: int

    @property
    def environment(self) -> dict[str, str]:
        """The seeds, and the full counts."""
        return checks.seeds(self.seed) | {"TAILRACE_TESTS": "all"}

    @property
    def shown(self) -> str:
        """As one types it."""
        return " ".join(
            [*(f"{name}={value}" for name, value in self.environment.items()), *self.command]
        )


def commands() -> list[tuple[str, ...]]:
    """All tests with random cases, quick ones first."""
    python = [
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if "from hypothesis" in path.read_text()
    ]
    of_python = [
        (".venv/bin/python", "-m", "pytest", "--quiet", str(path.relative_to(ROOT)))
        for path in python
    ]
    return [*of_python, *_of_crates(), *_ignored()]


def _of_crates() -> Iterator[tuple[str, ...]]:
    for crate in sorted((ROOT / "crates").iterdir()):
        if any(
            HAS_CASES.search(path.read_text(encoding="utf-8"))
            for path in sorted(crate.rglob("*.rs"))
        ):
            yield "cargo", "test", "--locked", "--quiet", "-p", f"tailrace-{crate.name}"


def _ignored() -> Iterator[tuple[str, ...]]:
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        for command in IGNORED.findall(path.read_text(encoding="utf-8")):
            yield tuple(command.replace("cargo test", "cargo test --locked").split())


def main() -> int:
    """Runs steps until the time is over. Exit code 1 when any failed."""
    parser = argparse.ArgumentParser(prog="random_cases", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--state", type=Path, default=STATE, metavar="FOLDER")
    options = parser.parse_args()
    make_folder(options.state)
    file = options.state / "random-cases.json"
    held: dict[str, Any] = (
        read_json(file) if file.exists() else {"done": 0, "seconds": 0.0, "failed": []}
    )
    end_s, all_of, steps = time.monotonic() + 60 * options.minutes, commands(), 0
    try:
        for failed in list(held["failed"]):
            if is_passed(Step(tuple(failed["command"]), failed["seed"])):
                held["failed"].remove(failed)
                write_json(file, held)
        while not steps or time.monotonic() < end_s:
            rounds, place = divmod(held["done"], len(all_of))
            step, begun_s = Step(all_of[place], FIRST_SEED + rounds), time.monotonic()
            if not is_passed(step):
                held["failed"].append({"command": step.command, "seed": step.seed})
            held["done"] += 1
            held["seconds"] += time.monotonic() - begun_s
            steps += 1
            write_json(file, held)
    except KeyboardInterrupt:
        print("random cases: interrupted; the next call continues", file=sys.stderr)
    for failed in held["failed"]:
        print(f"a test fails:\n    {Step(tuple(failed['command']), failed['seed']).shown}")
    print(
        f"random cases: {steps} steps of {len(all_of)} for each seed, {held['done']} in all, "
        f"up to seed {FIRST_SEED + held['done'] // len(all_of)}, {len(held['failed'])} findings"
    )
    return 1 if held["failed"] else 0


def is_passed(step: Step) -> bool:
    """Runs one step, and prints what it printed if it failed."""
    print(f"random cases: {step.shown}", flush=True)
    try:
        done = subprocess.run(
            step.command,
            cwd=ROOT,
            env=os.environ | step.environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=STEP_LIMIT_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"over the limit of {STEP_LIMIT_S} s", flush=True)
        return False
    if done.returncode:
        print(f"{done.stdout[-4000:]}{done.stderr[-4000:]}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
