"""Run the project's checks one after another, each with a time limit, and print a summary.

`checks.py all` is `make test`, `checks.py lint` is `make lint`; a name runs one check: `checks.py clippy`.
A failed check does not stop the others: one run shows everything that is wrong.

Tests with random cases draw them from one seed, so that the same code has the same verdict everywhere. `checks.py
explore` draws another seed, says it, and runs these tests with it; `SEED=N` in the environment repeats one.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
USUAL_SEED = 1
# After the interrupt, how long a check may take to end before it is killed.
STOP_GRACE_S = 5


@dataclass(frozen=True)
class Check:
    """One command; `limit_s` is several times what it needs on two cores from scratch."""

    name: str
    command: tuple[str, ...]
    limit_s: int


@dataclass(frozen=True)
class Verdict:
    """How a check ended."""

    check: Check
    outcome: str
    elapsed_s: float


def tool(name: str) -> str:
    """A program of the virtual environment."""
    return str(ROOT / ".venv" / "bin" / name)


# Tests on every core; those of one file stay together, because they share what is expensive to make.
WORKERS = ("--numprocesses", "auto", "--dist", "loadfile")
LINTS = (
    Check("rustfmt", ("cargo", "fmt", "--all", "--check"), 60),
    Check("clippy", ("cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"), 600),
    Check("ruff", (tool("ruff"), "check"), 60),
    Check("ruff format", (tool("ruff"), "format", "--check"), 60),
    Check("mypy", (tool("mypy"),), 300),
    Check("import order", (tool("lint-imports"), "--no-cache", "--no-logo"), 60),
)
TESTS = (
    Check("cargo test", ("cargo", "test", "--workspace", "--locked", "--no-fail-fast"), 1800),
    Check("pytest", (tool("python"), "-m", "pytest", "--quiet", *WORKERS), 2400),
    Check("live", (tool("python"), "scripts/live_checks.py"), 1800),
)
# Those with random cases.
SEEDED = TESTS[:2]


def main(arguments: list[str]) -> int:
    """Run the checks that the arguments name and say which failed."""
    checks = select(arguments)
    if not checks:
        names = ", ".join(check.name for check in LINTS + TESTS)
        print(f"usage: checks.py all | lint | explore | one of: {names}", file=sys.stderr)
        return 2
    seed = int(os.environ.get("SEED") or (secrets.randbits(31) if arguments == ["explore"] else USUAL_SEED))
    print(f"seed of random cases: {seed} (SEED={seed} repeats them)")
    verdicts = [run(check, seed) for check in checks]
    return summarise(verdicts)


def select(arguments: list[str]) -> tuple[Check, ...]:
    """The checks behind the words of the command line."""
    if arguments == ["all"]:
        return LINTS + TESTS
    if arguments == ["lint"]:
        return LINTS
    if arguments == ["explore"]:
        return SEEDED
    return tuple(check for check in LINTS + TESTS if check.name == " ".join(arguments))


def run(check: Check, seed: int = USUAL_SEED) -> Verdict:
    """One check, its output passed on; everything it started ends with it."""
    # The seeds of proptest and of Hypothesis.
    environment = os.environ | {"PROPTEST_RNG_SEED": str(seed), "PYTEST_ADDOPTS": f"--hypothesis-seed={seed}"}
    shown = " ".join(word.removeprefix(f"{ROOT}/") for word in check.command)
    print(f"\n=== {check.name}: {shown}", flush=True)
    started = time.monotonic()
    process = subprocess.Popen(
        check.command, cwd=ROOT, env=environment, start_new_session=True, stdin=subprocess.DEVNULL
    )
    try:
        status = process.wait(timeout=check.limit_s)
        outcome = "passed" if status == 0 else f"FAILED (status {status})"
    except subprocess.TimeoutExpired:
        outcome = f"FAILED (over its limit of {check.limit_s} s)"
    finally:
        stop_group(process)
    return Verdict(check, outcome, time.monotonic() - started)


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Stop the check and what it started, first politely."""
    for last_word in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, last_word)
        try:
            process.wait(timeout=STOP_GRACE_S)
        except subprocess.TimeoutExpired:
            continue


def summarise(verdicts: list[Verdict]) -> int:
    """The table at the end; the last line is the verdict."""
    print("\n=== summary")
    for verdict in verdicts:
        print(f"  {verdict.check.name:<14} {verdict.elapsed_s:7.1f} s  {verdict.outcome}")
    passed = sum(verdict.outcome == "passed" for verdict in verdicts)
    total_s = sum(verdict.elapsed_s for verdict in verdicts)
    print(f"checks: {passed} of {len(verdicts)} passed in {total_s:.0f} s", flush=True)
    return 0 if passed == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
