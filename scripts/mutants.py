"""Mutants of a change: which errors in the changed lines does no test notice?

cargo-mutants changes lines of crates that differ, cosmic-ray those of Python modules, one at a time
in a copy of the code: in Rust the tests of the crate run, in Python those of the module's layer
that are not slow. A mutant that survives asks for a test, unless it does the same as the code.

    mutants.py                        what is not yet on the branch `main`, or else the last commit; committed or not
    mutants.py --base HEAD            what is not committed, new files too
    mutants.py --tests tests/cli      other Python tests

The exit status is 0, or 2 when the tests fail without any mutant or a tool is missing.
"""  # noqa: E501

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import bootstrap
import checks
import mutate

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / "target" / "mutants"
INDEX = {"GIT_INDEX_FILE": str(STATE / "index")}
"""The environment in which git knows new files."""
CARGO_MUTANTS = "27.1.0"
"""No package index has the program; compiling it takes some minutes, the first time."""
RUST_TOOL = bootstrap.TOOLS / "cargo-mutants" / "bin" / "cargo-mutants"
PYTHON_TOOLS = bootstrap.TOOLS / "mutants"
"""The environment of the lock file's group `mutants`."""
TIMES_AS_LONG = 10
"""A mutant whose tests take this many times as long as those of the code does not end."""
LIMIT_LEAST_S = 60
LIMIT_MOST_S = 24 * 3600


class CannotRunError(Exception):
    """The tests fail without any mutant, or a tool is missing."""


def main(arguments: list[str]) -> int:
    """Mutate the change and print what survived."""
    parser = argparse.ArgumentParser(
        prog="mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", help="a commit: lines that differ from it are mutated")
    parser.add_argument(
        "--minutes", type=float, default=20, help="half of it for Python, the rest for Rust"
    )
    parser.add_argument(
        "--tests", help="arguments of pytest, instead of the tests of each module's layer"
    )
    asked = parser.parse_args(arguments)
    base = asked.base or usual_base()
    until_s = time.monotonic() + 60 * asked.minutes
    files = [Path(line) for line in difference("--name-only", "--diff-filter=d", base).splitlines()]
    python = [
        file for file in files if file.suffix == ".py" and file.parts[0] in ("python", "scripts")
    ]
    crates = sorted(
        {file.parts[1] for file in files if file.suffix == ".rs" and file.parts[2:3] == ("src",)}
    )
    print(
        f"mutants of what differs from {base}: {len(python)} Python modules, crates: "
        f"{' '.join(crates) or 'none'}"
    )
    try:
        with mutate.alone(STATE):
            mutate.refresh(STATE / "copy")
            for number, file in enumerate(python):
                shares = len(python) - number + (len(python) if crates else 0)
                part_s = (until_s - time.monotonic()) / shares
                mutate_python(file, base, asked.tests or tests_of(file), time.monotonic() + part_s)
            if crates:
                mutate_rust(base, until_s)
    except (CannotRunError, bootstrap.SetUpError) as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    return 0


def git(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """What a git command prints."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=ROOT,
        env=os.environ | (environment or {}),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def difference(*arguments: str) -> str:
    """What `git diff` prints of the code as it stands, files that git does not know included."""
    add_new_files()
    return git("diff", *arguments, environment=INDEX)


def add_new_files() -> None:
    """Writes an index of this program's own that has them, so that the user's stays as it is."""
    STATE.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / git("rev-parse", "--git-path", "index"), INDEX["GIT_INDEX_FILE"])
    git("add", "--intent-to-add", ".", environment=INDEX)


def usual_base() -> str:
    """Where the branch left `main`; on `main` itself the commit before the last."""
    forked = subprocess.run(
        ["git", "merge-base", "main", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True
    ).stdout.strip()
    return forked if forked and forked != git("rev-parse", "HEAD") else git("rev-parse", "HEAD~1")


# --- Python ---------------------------------------------------------------------------------------


def tests_of(file: Path) -> str:
    """`python/tailrace/a/b.py` is tested in `tests/python/a`, `scripts/c.py` in
    `tests/scripts/test_c.py`."""
    if file.parts[0] == "scripts":
        own = Path("tests", "scripts", f"test_{file.stem}.py")
        return str(own if (ROOT / own).exists() else own.parent)
    place = Path("tests", "python", *file.parts[2:-1])
    while not (ROOT / place).is_dir():
        place = place.parent
    return str(place)


def mutate_python(file: Path, base: str, tests: str, until_s: float) -> None:
    """Try the mutants of the changed lines of one module."""
    if not (PYTHON_TOOLS / "bin" / "cosmic-ray").exists():
        bootstrap.install_locked(bootstrap.find_uv(), PYTHON_TOOLS, "--only-group", "mutants")
    copy = STATE / "copy"
    options = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow"]
    command = [sys.executable, *options, *shlex.split(tests), f"--hypothesis-seed={mutate.SEED}"]
    environment = os.environ | {"PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    began_s = time.monotonic()
    if (
        subprocess.run(
            command, cwd=copy, env=environment, stdout=subprocess.DEVNULL, check=False
        ).returncode
        != 0
    ):
        raise CannotRunError(f"the tests {tests} fail without any mutant")
    settings = {
        "module-path": [str(file)],
        "test-command": shlex.join(command),
        "timeout": max(LIMIT_LEAST_S, TIMES_AS_LONG * (time.monotonic() - began_s)),
        "distributor.name": "local",
        "filters.git-filter.branch": base,
    }
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
    (STATE / "python.toml").write_text("[cosmic-ray]\n" + "".join(lines), encoding="utf-8")
    session = STATE / "python.sqlite"
    session.unlink(missing_ok=True)
    # The filter asks git which lines of the copy differ.
    in_copy = environment | {
        "GIT_DIR": git("rev-parse", "--absolute-git-dir"),
        "GIT_WORK_TREE": str(copy),
        "GIT_OPTIONAL_LOCKS": "0",
        **INDEX,
    }
    for step in (
        ["cosmic-ray", "init", "../python.toml"],
        ["cr-filter-git", "--config", "../python.toml"],
    ):
        subprocess.run(
            [str(PYTHON_TOOLS / "bin" / step[0]), *step[1:], str(session)],
            cwd=copy,
            env=in_copy,
            check=True,
        )
    run = [str(PYTHON_TOOLS / "bin" / "cosmic-ray"), "exec", "../python.toml", str(session)]
    try:
        until(run, until_s, environment)
    finally:
        # A mutant that was interrupted stays in its file.
        mutate.refresh(copy)
    dumped = subprocess.run(
        [run[0], "dump", str(session)], check=True, capture_output=True, text=True
    ).stdout
    print(python_summary(file, tests, dumped), flush=True)


def python_summary(file: Path, tests: str, dumped: str) -> str:
    """The mutants that survived, and how many there were, from what `cosmic-ray dump` prints."""
    rows = [json.loads(line) for line in dumped.splitlines()]
    tried = [
        (job, result)
        for job, result in rows
        if result is None or result["worker_outcome"] != "skipped"
    ]
    survived = [
        (job, result) for job, result in tried if result and result["test_outcome"] == "survived"
    ]
    left = sum(result is None for _, result in tried)
    texts = []
    for job, result in survived:
        changed = [
            line
            for line in result["diff"].splitlines()
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        texts += [
            f"survived: {file}:{job['mutations'][0]['start_pos'][0]}",
            *(f"    {line}" for line in changed),
        ]
    counts = (
        f"{len(tried) - left - len(survived)} noticed, {len(survived)} survived, {left} not tried"
    )
    return "\n".join([*texts, f"{file} with {tests}: {counts}"])


# --- Rust -----------------------------------------------------------------------------------------


def mutate_rust(base: str, until_s: float) -> None:
    """Try the mutants of the changed lines of all crates, each with the tests of its crate."""
    if not RUST_TOOL.exists() or CARGO_MUTANTS not in bootstrap.output_of(
        [str(RUST_TOOL), "mutants", "--version"]
    ):
        print(f"compiling cargo-mutants {CARGO_MUTANTS}, once", flush=True)
        place = RUST_TOOL.parent.parent
        install = [
            "cargo",
            "install",
            "--locked",
            "--quiet",
            "cargo-mutants",
            "--version",
            CARGO_MUTANTS,
        ]
        if subprocess.run([*install, "--root", str(place)], check=False).returncode != 0:
            raise CannotRunError("cargo-mutants could not be compiled")
    (STATE / "rust.diff").write_text(
        difference("--src-prefix=a/", "--dst-prefix=b/", base, "--", "crates") + "\n",
        encoding="utf-8",
    )
    command = [
        str(RUST_TOOL),
        "mutants",
        "--in-diff",
        str(STATE / "rust.diff"),
        "--in-place",
        "--output",
        str(STATE),
    ]
    command += [
        "--timeout-multiplier",
        str(TIMES_AS_LONG),
        "--minimum-test-timeout",
        str(LIMIT_LEAST_S),
    ]
    command += ["--colors", "never", "--no-times", "--cargo-arg=--locked"]
    environment = os.environ | mutate.rust_environment(STATE / "build")
    code = until(command, until_s, environment)
    if code not in (None, *NO_FAILURE):
        raise CannotRunError(
            f"cargo-mutants ended with {code}; the reason is above and in {STATE / 'mutants.out'}"
        )
    if code is None:
        print("crates: the time is over")


NO_FAILURE = (0, 2, 3)
"""Exit codes of cargo-mutants: all noticed, some missed, some without an end."""


def until(command: list[str], until_s: float, environment: dict[str, str]) -> int | None:
    """Run a command in the copy; its exit code, or None when its time was over."""
    with subprocess.Popen(
        command, cwd=STATE / "copy", env=environment, start_new_session=True
    ) as process:
        try:
            return process.wait(timeout=min(max(1.0, until_s - time.monotonic()), LIMIT_MOST_S))
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                end(process.pid)


def end(pid: int) -> None:
    """End a program and the tests that it runs, which are groups of their own."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    for group in [
        pid,
        *(int(child) for task in tasks for child in task.read_text(encoding="utf-8").split()),
    ]:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    checks.program("mutants", lambda: main(sys.argv[1:]))
