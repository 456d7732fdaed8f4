"""What a live run must leave as it was: interfaces, mounts, control groups, processes."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

import forks
from live_checks import LACKS
from machine_picture import cgroups, is_alive
from tailrace.live.measure import ingress
from tailrace.scenario.workloads.ports import EPHEMERAL
from trial_files import read_trial

ROOT = Path(__file__).parents[2]
TAILRACE = [sys.executable, "-c", "from tailrace.cli import main; main()"]
"""The words of the command."""
SCENARIO = Path(__file__).with_name("small.yaml")
OF_TESTS = tuple(f"/run/netns/{kind}-" for kind in ("advised", "observe", "probe"))
"""Namespaces that tests make and remove themselves, of which another run of the tests may have some
now."""
GONE_LIMIT_S = 15.0
RUN_LIMIT_S = 200


@dataclass(frozen=True)
class Machine:
    """A picture of the machine, without what comes and goes by itself."""

    interfaces: frozenset[str]
    mounts: frozenset[str]
    namespaces: frozenset[str]


def picture() -> Machine:
    """The machine now."""
    lines = Path("/proc/net/dev").read_text(encoding="ascii").splitlines()[2:]
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    names = Path("/run/netns").iterdir() if Path("/run/netns").is_dir() else ()
    return Machine(
        frozenset(line.partition(":")[0].strip() for line in lines),
        frozenset(place for line in mounts if not _is_of_tests(place := line.split()[4])),
        frozenset(path.name for path in names if not _is_of_tests(str(path))),
    )


def _is_of_tests(place: str) -> bool:
    return place.startswith(OF_TESTS)


def left_of(words: str) -> list[str]:
    """Processes whose command line or working directory has these words."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            line = (
                (folder / "cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode("utf-8", errors="replace")
            )
            place = str((folder / "cwd").readlink()) if line else ""
        except OSError:
            continue  # it ended meanwhile
        if words in line or words in place:
            found.append(f"{folder.name} {line.strip()}")
    return found


def stale_cgroups() -> list[str]:
    """Control groups of labs whose owner is gone; those of running labs are left out."""
    return sorted(group for group, owner in cgroups().items() if not is_alive(*owner))


BEFORE = frozenset(stale_cgroups())
"""What was left on this machine before."""


def wait_until_gone(words: str) -> list[str]:
    """What is left of a run after a moment to end: nothing, if all is well."""
    deadline = time.monotonic() + GONE_LIMIT_S
    while (
        left := [*left_of(words), *(set(stale_cgroups()) - BEFORE)]
    ) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def tailrace(
    *words: str, limit_s: float = RUN_LIMIT_S, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One command to its end; `environment` comes on top of the test's own."""
    return forks.shared().run(words, limit_s, os.environ | dict(environment or {}))


def run_program(
    argv: Sequence[str], limit_s: float = RUN_LIMIT_S, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One program to its end, with what it wrote."""
    variables = os.environ | dict(environment or {})
    return subprocess.run(
        argv, capture_output=True, text=True, timeout=limit_s, check=False, env=variables
    )


def skip_lacking(what: str) -> NoReturn:
    """Skips a test that this machine cannot run, which is no failure; any other skip of a live test
    is one."""
    pytest.skip(f"{LACKS}{what}")


def run_live(scenario: Path, out: Path, *options: str) -> None:
    """Runs a scenario live; fails with its words when it does not end well."""
    assert_ended(tailrace("run", "--live", str(scenario), "--out", str(out), *options))


def assert_ended(done: subprocess.CompletedProcess[str]) -> None:
    """Fails with the words of a live run unless all trials ended.

    A busy machine may make a trial invalid by its lateness: 3, after a repetition. These tests
    count what happened, which is all there, unless a workload did not finish; where they are about
    times, they want 0.
    """
    told = done.stdout + done.stderr
    is_late = done.returncode == 3 and ": invalid: " in told and "did not finish" not in told
    assert done.returncode == 0 or is_late, done.stdout + done.stderr


def replay(out: Path) -> list[dict[str, Any]]:
    """Lets what entered the switches of a run happen again; fails with its words when a digest is
    another."""
    done = tailrace("lab", "replay", str(out), "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    trials: list[dict[str, Any]] = json.loads(done.stdout)["trials"]
    assert all(trial["live_digest"] == trial["replayed_digest"] for trial in trials)
    return trials


def server_ports(out: Path) -> dict[str, set[int]]:
    """By host, the ports that are not ephemeral to which frames went in a run with ingress logs."""
    found: dict[str, set[int]] = {}
    for log in (out / "live" / "ingress").glob(f"*/{ingress.FILE}"):
        hosts = [
            host["name"]
            for host in json.loads((log.parent / "plan.json").read_text(encoding="utf-8"))["hosts"]
        ]
        for kind, *_, to_host, _, _, destination in ingress._records(log):
            if kind == ingress.FRAME and 0 < destination < EPHEMERAL[0]:
                found.setdefault(hosts[to_host], set()).add(destination)
    return found


def finished_run(scenario: Path, out: Path, limit_s: float, *options: str) -> dict[str, Any]:
    """Runs a scenario live, which leaves the machine as it was. Returns an outcome, of the arm
    `base` where there is one, and versions.
    """
    before = picture()
    assert_ended(
        tailrace("run", "--live", str(scenario), "--out", str(out), *options, limit_s=limit_s)
    )
    assert wait_until_gone(str(out)) == []
    assert picture() == before
    found = sorted((out / "trials").glob("*/1.json"), key=lambda path: path.parent.name != "base")

    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    return read_trial(found[0]) | {"versions": manifest["versions"]}
