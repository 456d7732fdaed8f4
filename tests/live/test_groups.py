"""Control groups: of every kind, none at all, and those of other people."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import machine
from elsewhere import elsewhere, mounted
from machine_picture import cgroups, tree
from tailrace.live.lab import clean
from tailrace.live.lab.lab import Lab
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

LIMIT_S = 200
ONE_ARM = ["--arm", "fifo", "--set", "experiment.solo=false"]


def run_elsewhere(kind: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`tailrace` on a machine with other control groups."""
    return machine.run_program(elsewhere(kind, [*machine.TAILRACE, *words]), LIMIT_S)


def lab_of(folder: Path) -> Lab:
    """A lab without a load."""
    return Lab(
        canonical_json(lower(load_scenario(machine.SCENARIO).arms["fifo"], "fifo", 1)), folder
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "told"), [("read-only", "not usable"), ("version-2", "v2")])
def test_a_run_ends_well_whatever_control_groups_there_are(
    kind: str, told: str, tmp_path: Path
) -> None:
    before = machine.picture()
    facts = json.loads(run_elsewhere(kind, "lab", "doctor", "--json").stdout)["facts"]
    assert told in next(fact["value"] for fact in facts if fact["what"] == "control groups")
    done = run_elsewhere(
        kind, "run", "--live", str(machine.SCENARIO), "--out", str(tmp_path / "run"), *ONE_ARM
    )
    machine.assert_ended(done)
    assert machine.wait_until_gone(str(tmp_path)) == []
    assert machine.picture() == before


def test_a_limit_of_cores_is_refused_where_there_are_no_groups(tmp_path: Path) -> None:
    cores = ["--set", "hosts.defaults.cpu.program_cores=1"]
    done = run_elsewhere(
        "read-only", "run", "--live", str(machine.SCENARIO), "--out", str(tmp_path / "run"), *cores
    )
    assert done.returncode == 2
    assert (
        "cpu.program_cores: limits of CPU time need a control group, which this machine or "
        "user does not have" in done.stderr
    )
    assert not (tmp_path / "run").exists()


@pytest.fixture
def foreign() -> Iterator[list[Path]]:
    """Other people's groups with names like a lab's, each with a process in it."""
    dead = f"tailrace-{2**22 + 1}-17-0123456789abcdef"  # above the largest number of a process, and not our check  # noqa: E501
    groups = [Path(place, name) for place in mounted() for name in ("tailrace-notes", dead)]
    groups = [group for group in groups if os.access(group.parent / "cgroup.procs", os.W_OK)]
    sleepers = []
    for group in groups:
        group.mkdir()
        sleepers.append(subprocess.Popen(["sleep", "60"]))
        try:
            (group / "cgroup.procs").write_text(str(sleepers[-1].pid), encoding="ascii")
        except OSError:
            continue  # a hierarchy without settings, such as cpuset, takes no process; the group is there all the same  # noqa: E501
    yield groups
    for sleeper in sleepers:
        assert sleeper.poll() is None, "a process in somebody else's group was ended"
        sleeper.kill()
        sleeper.wait(10)
    for group in groups:
        group.rmdir()


def test_clean_removes_what_the_dead_left_and_nothing_else(
    foreign: list[Path], tmp_path: Path
) -> None:
    with lab_of(tmp_path / "alive") as alive, lab_of(tmp_path / "lab") as lab:
        assert lab._process is not None
        guardian = tree(lab._process.pid)
        for process in guardian:
            if (
                process.depth == 0
            ):  # guardian and undertaker in one moment: the lab ends, and nobody buries it
                os.kill(process.pid, signal.SIGKILL)
        lab._process.wait(10)
        # What another command removes in this moment is not in our answer.
        assert not {group.name for group in foreign} & set(clean.clean())
        assert not any(Path(path).name == lab.ready["cgroup"] for path in cgroups())
        assert all(group.is_dir() for group in foreign)
        assert any(Path(path).name == alive.ready["cgroup"] for path in cgroups())


def test_the_guardian_replaces_an_undertaker_that_was_killed(tmp_path: Path) -> None:
    with lab_of(tmp_path / "lab") as lab:
        assert lab._process is not None
        guardian = lab._process.pid
        first = undertaker_of(guardian, set())
        os.kill(first, signal.SIGKILL)
        second = undertaker_of(guardian, {first})
        assert second != first
        os.kill(guardian, signal.SIGKILL)
        lab._process.wait(10)
        assert machine.wait_until_gone(str(tmp_path)) == []
        assert not any(Path(path).name == lab.ready["cgroup"] for path in cgroups())


def undertaker_of(guardian: int, but: set[int]) -> int:
    """Number of a guardian's child that is in no process namespace of its own."""
    for _ in range(500):
        found = [
            process.pid
            for process in tree(guardian)[1:]
            if process.depth == 0 and process.pid not in but
        ]
        if found:
            return found[0]
        subprocess.run(["sleep", "0.02"], check=True, timeout=5)
    raise AssertionError("there is no undertaker")
