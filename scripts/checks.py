"""Run the project's checks, side by side where they do not need each other, and print what they
cost.

    checks.py test       what must hold before a commit, with reduced counts of random cases
    checks.py test-all   the same with full counts and at full scale, and what only runs before a release
    checks.py lint       the checks that run nothing
    checks.py NAME..     some of them, for instance `checks.py clippy mypy`

A failed check does not stop the others: one run shows everything that is wrong. The output of a
check is printed when it has ended, and stays in `target/checks/NAME.log`. Durations of all builds,
checks, Rust test binaries and Python tests go into `target/checks/durations.jsonl`; the most
expensive are printed.

Tests with random cases draw them from one seed, so that the same code has the same verdict
everywhere; `SEED=N` in the environment takes another.
"""  # noqa: E501

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, NoReturn

from process_groups import stop_groups

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "target" / "checks"
DURATIONS = LOGS / "durations.jsonl"
CHECKED = ROOT / "target" / "checked"
"""Where the package that tests use lies: `scripts/checked.py`."""
USUAL_SEED = 1
INTERRUPTED = 130
"""Exit code, as of a shell."""
ROWS = 40
"""Rows of the table of the most expensive."""


@dataclass(frozen=True)
class Check:
    """One command; `limit_s` is several times what it needs on two busy cores from scratch."""

    name: str
    command: tuple[str, ...]
    limit_s: int
    after: str = ""
    """The name of a check of another row that must have ended."""


@dataclass(frozen=True)
class Verdict:
    """How a check ended; times in seconds, `processor_s` with all processes that it waited for."""

    check: Check
    outcome: str
    elapsed_s: float
    processor_s: float = 0.0


def tool(name: str) -> str:
    """A program of the virtual environment."""
    return str(ROOT / ".venv" / "bin" / name)


def testing() -> dict[str, str]:
    """What checks find in their environment: the package that is built for tests, and where
    durations go."""
    return {
        "TAILRACE_DURATIONS": str(DURATIONS),
        # Until it is built, checks that read sources alone find them.
        "PYTHONPATH": os.pathsep.join([str(CHECKED), str(ROOT / "python")]),
        # Each command that a test starts would compile the whole package where nothing is written
        # beside the sources.
        "PYTHONPYCACHEPREFIX": str(ROOT / "target" / "bytecode"),
    }


def seeds(seed: int) -> dict[str, str]:
    """The environment in which proptest and Hypothesis draw their random cases from one seed."""
    return {"PROPTEST_RNG_SEED": str(seed), "PYTEST_ADDOPTS": f"--hypothesis-seed={seed}"}


def pytest(name: str, limit_s: int, *words: str) -> Check:
    """A check that runs Python tests; its tests append their durations."""
    return Check(name, (tool("python"), "-m", "pytest", "--quiet", *words), limit_s)


def script(name: str, limit_s: int, *words: str) -> Check:
    """A check that is a program of `scripts/`."""
    return Check(name.replace("_", " "), (tool("python"), f"scripts/{name}.py", *words), limit_s)


CARGO = ("--workspace", "--lib", "--bins", "--tests", "--locked")
FORMATS = (
    Check("rustfmt", ("cargo", "fmt", "--all", "--check"), 120),
    Check("ruff", (tool("ruff"), "check"), 120),
    Check("ruff format", (tool("ruff"), "format", "--check"), 120),
    Check("import order", (tool("lint-imports"), "--no-logo"), 240),
    Check("mypy", (tool("mypy"),), 600),
)
# Licences and sources of what is not ours; advisories are reported and gate nothing.
DEPENDENCIES = (
    Check(
        "cargo deny", (tool("cargo-deny"), "--locked", "check", "licenses", "bans", "sources"), 600
    ),
    script("python_licences", 60),
    script("advisories", 60),
)
CLIPPY = Check(
    "clippy", ("cargo", "clippy", *CARGO, "--examples", "--quiet", "--", "-D", "warnings"), 1200
)
BUILD = script("checked", 2400)
BUILD_TESTS = Check("cargo build", ("cargo", "test", *CARGO, "--quiet", "--no-run"), 2400)
RUST = Check("cargo test", ("cargo", "test", *CARGO, "--no-fail-fast"), 2400)
# Tests of one file stay together, because they share what is expensive to make. Two processes for
# each of two cores: some tests wait.
PYTHON = ("--numprocesses", "4", "--dist", "loadfile", "--ignore=tests/exact")
QUICKLY = ("-m", "not slow")
LIVE = script("live_checks", 1800)


def lanes(*, whole: bool) -> tuple[tuple[Check, ...], ...]:
    """The checks of `make test`, or the `whole` of `make test-all`, in rows that run side by
    side."""
    chosen = () if whole else QUICKLY
    options = ["--all"] if whole else []
    rust = (BUILD, BUILD_TESTS, CLIPPY, RUST)
    commands = replace(script("check_commands", 300), after=BUILD.name)
    python = (*FORMATS, *DEPENDENCIES, commands, pytest("pytest", 5400, *PYTHON, *chosen))
    packages = replace(
        script("live_checks", 1800, "--install", *options), name="live packages", after=BUILD.name
    )
    kernel = replace(script("exact_checks", 2400, "--kernel"), name="exact kernel")
    kernels = (kernel, packages, replace(script("exact_checks", 3000, *options), after=BUILD.name))
    # Most of what live tests do is waiting.
    live = () if whole else (replace(LIVE, after=packages.name),)
    return rust, python, kernels, live


def alone() -> tuple[Check, ...]:
    """Checks of `make test-all` that measure real time: they run when the others have ended."""
    kills = (("kill_rounds", "--rounds", "10"), ("exact_kill_rounds", "--rounds", "10"))
    return (
        script("live_checks", 3600, "--all"),
        *(script(name, 1800, *words, "--seed", "1") for name, *words in kills),
        Check("bench guard", (tool("python"), "benches/guard.py"), 1800),
    )


def main(arguments: list[str]) -> int:
    """Run the checks that the arguments name and say which failed."""
    rows, last = select(arguments)
    if not rows and not last:
        print(f"{__doc__}\nNames: {', '.join(sorted(named()))}", file=sys.stderr)
        return 2
    seed = wanted_seed()
    print(f"seed of random cases: {seed} (SEED={seed} repeats them)", flush=True)
    whole = {"TAILRACE_TESTS": "all"} if arguments == ["test-all"] else {}
    LOGS.mkdir(parents=True, exist_ok=True)
    if arguments in (["test"], ["test-all"]):
        forget_tests()
    started = time.monotonic()
    verdicts = side_by_side(rows, seed, whole)
    verdicts += [run(check, seed, whole) for check in last]
    write_durations(verdicts)
    print_most_expensive()
    return summarise(verdicts, time.monotonic() - started)


def wanted_seed() -> int:
    """From the environment."""
    text = os.environ.get("SEED") or str(USUAL_SEED)
    if not text.isdecimal():
        sys.exit(f"SEED={text}: this is no whole number (hint: SEED=2)")
    return int(text)


def named() -> dict[str, Check]:
    """All checks, by name: as before a commit where they are part of that."""
    rows = (alone(), *lanes(whole=False))
    return {check.name: check for row in rows for check in row}


def select(arguments: list[str]) -> tuple[Sequence[Sequence[Check]], Sequence[Check]]:
    """What the words of the command line name: rows that run side by side, and what runs after
    them."""
    if arguments in (["test"], ["test-all"]):
        whole = arguments == ["test-all"]
        return lanes(whole=whole), alone() if whole else ()
    if arguments == ["lint"]:
        return ((*FORMATS, *DEPENDENCIES), (CLIPPY,)), ()
    known = named()
    return (
        ((), [known[word] for word in arguments])
        if arguments and set(arguments) <= set(known)
        else ((), ())
    )


def side_by_side(
    rows: Sequence[Sequence[Check]], seed: int, environment: dict[str, str]
) -> list[Verdict]:
    """All rows at the same time, the checks of each one after another."""
    verdicts: list[Verdict] = []
    ended = {check.name: threading.Event() for row in rows for check in row}

    def work(row: Sequence[Check]) -> None:
        for check in row:
            if check.after in ended:
                ended[check.after].wait()
            try:
                verdicts.append(run(check, seed, environment))
            except InterruptedError:
                return
            finally:
                ended[check.name].set()

    threads = [threading.Thread(target=work, args=(row,), daemon=True) for row in rows]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            # An interrupt just before the main thread waits for a lock would be noticed when the
            # lock is free.
            while thread.is_alive():
                thread.join(CHECK_EVERY_S)
    except BaseException:  # an interrupt: what runs ends too, and nothing more begins
        with STARTING:
            STOPPING.set()
        stop_groups(*RUNNING)
        raise
    return verdicts


def run(check: Check, seed: int = USUAL_SEED, environment: dict[str, str] | None = None) -> Verdict:
    """One check; its output is passed on when it has ended, and everything it started ends with it.

    Raises `InterruptedError` when the checks are being stopped.
    """
    own = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    } | testing()
    log = LOGS / f"{check.name.replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with log.open("wb") as output:
        try:
            process = start(check, output, own | seeds(seed) | (environment or {}))
        except FileNotFoundError as error:
            verdict = Verdict(check, f"FAILED ({error})", time.monotonic() - started)
            tell(verdict, log)
            return verdict
        status, processor_s = wait(process, check.limit_s)
    outcome = (
        f"FAILED (over its limit of {check.limit_s} s)"
        if status is None
        else f"FAILED (status {status})"
    )
    verdict = Verdict(
        check, "passed" if status == 0 else outcome, time.monotonic() - started, processor_s
    )
    tell(verdict, log)
    return verdict


def start(
    check: Check, output: IO[bytes], environment: dict[str, str]
) -> "subprocess.Popen[bytes]":
    """The process of a check, which is the head of a group; raises `InterruptedError` when no more
    are to begin."""
    with STARTING:
        if STOPPING.is_set():
            raise InterruptedError
        process = subprocess.Popen(
            check.command,
            cwd=ROOT,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        RUNNING.add(process.pid)
    return process


def wait(process: "subprocess.Popen[bytes]", limit_s: float) -> tuple[int | None, float]:
    """The status of a process, none where it was ended after its limit, and its processor time in
    seconds."""
    over = threading.Event()

    def end() -> None:
        over.set()
        stop_groups(process.pid)

    timer = threading.Timer(limit_s, end)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:  # an interrupt has ended it
        raise InterruptedError from None
    except BaseException:  # an interrupt: what the check started ends too
        stop_groups(process.pid)
        raise
    finally:
        timer.cancel()
        RUNNING.discard(process.pid)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if over.is_set() else process.returncode, usage.ru_utime + usage.ru_stime


CHECK_EVERY_S = 0.2
RUNNING: set[int] = set()
"""Checks that run, by the number of their process, which is that of their group."""
STOPPING, STARTING = threading.Event(), threading.Lock()
"""Whether an interrupt is ending the checks; no check begins between that and the end of those that
run."""


PRINTING = threading.Lock()


def tell(verdict: Verdict, log: Path) -> None:
    """What a check printed."""
    shown = " ".join(word.removeprefix(f"{ROOT}/") for word in verdict.check.command)
    with PRINTING:
        print(f"\n=== {verdict.check.name}: {shown}: {verdict.outcome}", flush=True)
        sys.stdout.write(log.read_text(encoding="utf-8", errors="replace"))
        sys.stdout.flush()


# --- durations ------------------------------------------------------------------------------------


def forget_tests() -> None:
    """A new file of durations, in which the last builds stay: the others are all about to run."""
    rows = [row for row in read_durations() if row["kind"] == "build"]
    DURATIONS.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_durations(verdicts: Sequence[Verdict]) -> None:
    """Append those of the checks, and of the test binaries that `cargo test` ran."""
    rows: list[dict[str, object]] = [
        {
            "kind": "check",
            "name": verdict.check.name,
            "seconds": round(verdict.elapsed_s, 1),
            "processor_s": round(verdict.processor_s, 1),
        }
        for verdict in verdicts
    ]
    log = LOGS / "cargo-test.log"
    if any(verdict.check == RUST for verdict in verdicts):
        rows += rust_durations(log.read_text(encoding="utf-8", errors="replace"))
    append_durations(*rows)


def append_durations(*rows: dict[str, object]) -> None:
    """Add rows to the file."""
    DURATIONS.parent.mkdir(parents=True, exist_ok=True)
    with DURATIONS.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def rust_durations(log: str) -> list[dict[str, object]]:
    """Test binaries in the output of `cargo test`, each with its time by the clock."""
    found, running = [], ""
    for line in log.splitlines():
        if match := re.match(r"\s*Running (?:unittests )?(\S+) \((\S+)\)", line):
            running = f"{Path(match[2]).name.rpartition('-')[0]} ({match[1]})"
        elif match := re.match(r"test result: .*finished in ([\d.]+)s", line):
            found.append({"kind": "rust", "name": running, "seconds": float(match[1])})
    return found


def read_durations() -> list[dict[str, object]]:
    """The last row of everything in the file; those of Python tests come from their plugin and have
    no kind."""
    if not DURATIONS.exists():
        return []
    lines = DURATIONS.read_text(encoding="utf-8").splitlines()
    rows = ({"kind": "python"} | json.loads(line) for line in lines)
    return list({(row["kind"], row["name"]): row for row in rows}.values())


def cost(row: dict[str, object]) -> float:
    """Processor time, or time by the clock where that is all there is; in seconds."""
    return float(str(row.get("processor_s", row["seconds"])))


def print_most_expensive() -> None:
    """The table of the most expensive; cases of one test are one row."""
    totals: dict[tuple[str, str], tuple[float, float, int]] = {}
    for row in read_durations():
        key = (str(row["kind"]), str(row["name"]).partition("[")[0])
        clock, work, count = totals.get(key, (0.0, 0.0, 0))
        totals[key] = (clock + float(str(row["seconds"])), work + cost(row), count + 1)
    print(f"\n=== the {ROWS} most expensive (all: {DURATIONS.relative_to(ROOT)})")
    print(f"  {'clock':>8} {'processor':>9}  kind    name")
    by_cost = sorted(totals.items(), key=lambda item: -item[1][1])
    for (kind, name), (clock, work, count) in by_cost[:ROWS]:
        cases = f" ({count} cases)" if count > 1 else ""
        print(f"  {clock:6.1f} s {work:7.1f} s  {kind:<7} {name}{cases}")


def summarise(verdicts: list[Verdict], elapsed_s: float) -> int:
    """The table at the end; the last line is the verdict."""
    print("\n=== summary")
    for verdict in verdicts:
        print(
            f"  {verdict.check.name:<17} {verdict.elapsed_s:7.1f} s {verdict.processor_s:7.1f} "
            f"s  {verdict.outcome}"
        )
    passed = sum(verdict.outcome == "passed" for verdict in verdicts)
    print(f"checks: {passed} of {len(verdicts)} passed in {elapsed_s:.0f} s", flush=True)
    return 0 if passed == len(verdicts) else 1


def program(name: str, work: Callable[[], int]) -> NoReturn:
    """Ends this process with an exit code; an interrupt and a polite end are told in one line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(work())
    except KeyboardInterrupt:
        print(f"{name}: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    program("checks", lambda: main(sys.argv[1:]))
