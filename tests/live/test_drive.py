"""`measure drive` with fio on loop devices: each limit by a set-up that causes it, and writes only
to a claimed drive.

A busy machine limits whatever is measured. Where cores are short, the verdict is the processor:
then the other evidence of the run is judged as if they were not.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import machine
from loop_device import loop_device, queue
from tailrace.tools.drive.drive import drive_of
from tailrace.tools.drive.io_limit import io_limits
from tailrace.tools.drive.load import Run
from tailrace.tools.drive.load_run import Busy, Ran, carry_out
from tailrace.tools.drive.verdict import BUSY_SHARE, MACHINE_SHARE, Evidence, Limit, verdict

MIB = 2**20
IDLE = Busy(0.0, 0.0, 0.0)
ATTEMPTS = 3


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """A loop device of 64 MiB."""
    with loop_device(tmp_path, 64 * MIB) as device:
        yield device


def evidence(device: str, run: Run, *, deeper: Run | None = None) -> Evidence:
    """What a run gave, and a deeper one."""
    drive = drive_of(Path(device))
    ran = carry_out(drive, run, 2.0, 1)
    more = (deeper, carry_out(drive, deeper, 2.0, 2)) if deeper else None
    return Evidence(
        run, ran, ran.requests_per_s, more, None, io_limits(drive.number), 128, "max_sectors_kb"
    )


def idle(found: Evidence) -> Evidence:
    """As if the cores had had nothing else to do."""
    return replace(found, ran=replace(found.ran, busy=IDLE))


def is_short_of_cores(ran: Ran) -> bool:
    """Whether the verdict may be the processor."""
    busy = ran.busy
    return (
        busy.job_share + busy.job_waiting_share >= BUSY_SHARE or busy.machine_share >= MACHINE_SHARE
    )


def test_a_lowered_limit_of_the_queue_splits_every_request(loop: str) -> None:
    (queue(loop) / "max_sectors_kb").write_text("64", encoding="ascii")
    for _ in range(ATTEMPTS):
        found = evidence(loop, Run("read", "sequential", MIB, 8))
        if (
            found.ran.issued.mean_bytes
        ):  # a busy machine may let the load begin when its two seconds are over
            break
    assert found.ran.issued.mean_bytes == pytest.approx(64 * 1024, rel=0.02)
    assert verdict(idle(found)).limit is Limit.SPLIT
    if not is_short_of_cores(found.ran):
        assert verdict(found).limit is Limit.SPLIT


@pytest.mark.slow
def test_one_request_at_a_time_is_limited_by_its_number(loop: str) -> None:
    single = Run("read", "random", 4096, 1)
    for _ in range(ATTEMPTS):
        found = evidence(loop, single, deeper=replace(single, depth=32))
        told = verdict(idle(found))
        # Little's law holds of the run itself: one request is under way.
        assert found.ran.requests_per_s * found.ran.latency_us / 1e6 == pytest.approx(1, rel=0.25)
        if told.limit is Limit.QUEUE:
            return
    pytest.fail(f"32 requests at a time gave no more than one: {told}")


@pytest.mark.slow
def test_a_core_that_another_program_has_is_the_limit(loop: str) -> None:
    core = min(os.sched_getaffinity(0))
    before = os.sched_getaffinity(0)
    spin = [sys.executable, "-c", "while True: pass"]
    os.sched_setaffinity(0, {core})
    try:
        with subprocess.Popen(spin) as busy:
            try:
                found = evidence(loop, Run("read", "random", 4096, 32))
            finally:
                busy.kill()
    finally:
        os.sched_setaffinity(0, before)
    assert found.ran.busy.machine_share > MACHINE_SHARE
    assert verdict(found).limit is Limit.PROCESSOR


@contextmanager
def limited_group(device: str, bytes_per_s: int) -> Iterator[Path]:
    """A control group that may read so much from a drive; its file `cgroup.procs`."""
    number = drive_of(Path(device)).number
    old, new = Path("/sys/fs/cgroup/blkio"), Path("/sys/fs/cgroup")
    folder = (old if old.is_dir() else new) / f"tailrace-test-drive-{os.getpid()}"
    if not old.is_dir():
        (new / "cgroup.subtree_control").write_text("+io", encoding="ascii")
    folder.mkdir()
    try:
        if old.is_dir():
            (folder / "blkio.throttle.read_bps_device").write_text(
                f"{number} {bytes_per_s}", encoding="ascii"
            )
        else:
            (folder / "io.max").write_text(f"{number} rbps={bytes_per_s}", encoding="ascii")
        yield folder / "cgroup.procs"
    finally:
        folder.rmdir()


def measure(device: str, out: Path, *words: str) -> dict[str, Any]:
    """The result of the command."""
    line = [
        *machine.TAILRACE,
        "measure",
        "drive",
        device,
        "--duration",
        "2s",
        "--repeats",
        "1",
        "--out",
        str(out),
        *words,
    ]
    done = subprocess.run(line, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads((out / "result.json").read_text(encoding="utf-8")))


@pytest.mark.slow
def test_a_limit_of_a_control_group_is_named_with_its_file(loop: str, tmp_path: Path) -> None:
    line = [
        *machine.TAILRACE,
        "measure",
        "drive",
        loop,
        "--duration",
        "3s",
        "--repeats",
        "1",
        "--out",
        str(tmp_path / "run"),
    ]
    with limited_group(loop, 5_000_000) as group:
        # A shell enters the group and becomes the command, so that this process stays where it is.
        words = ["sh", "-c", f'echo $$ > {group} && exec "$@"', "sh", *line]
        done = subprocess.run(words, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "run" / "result.json").read_text(encoding="utf-8"))
    sequential = told["runs"][0]
    assert sequential["mean"] == pytest.approx(5e6, rel=0.15)
    assert sequential["verdict"]["limit"] == Limit.GROUP
    assert group.parent.name in sequential["verdict"]["why"]


@pytest.mark.slow
def test_without_the_name_nothing_is_written(loop: str, tmp_path: Path) -> None:
    before = Path(loop).read_bytes()
    told = measure(loop, tmp_path / "run", "--spec", "samsung-850-evo-1tb")
    assert Path(loop).read_bytes() == before
    assert [one["operation"] for one in told["runs"]] == ["read"] * 3
    assert "does not tell its model" in " ".join(told["remarks"])
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.slow
def test_with_the_name_the_drive_is_preconditioned_and_written(loop: str, tmp_path: Path) -> None:
    before = Path(loop).read_bytes()
    told = measure(loop, tmp_path / "run", "--destroy-data", Path(loop).name, "--precondition")
    after = Path(loop).read_bytes()
    assert all(after[at : at + MIB] != before[at : at + MIB] for at in range(0, len(after), MIB)), (
        "every part"
    )
    assert [one["operation"] for one in told["runs"]] == ["read", "read", "write", "write"]
    assert told["precondition"].startswith("Pre-conditioned")
    assert all(one["mean"] > 0 for one in told["runs"])


@pytest.mark.slow
def test_what_is_destroyed_is_named_before(loop: str, tmp_path: Path) -> None:
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], capture_output=True, timeout=30, check=True)
    line = [
        *machine.TAILRACE,
        "measure",
        "drive",
        loop,
        "--duration",
        "2s",
        "--repeats",
        "1",
        "--out",
        str(tmp_path / "r"),
    ]
    done = subprocess.run(
        [*line, "--destroy-data", Path(loop).name],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    named = f"warning: --destroy-data: this is destroyed: {Path(loop).name}: ext4"
    assert named in done.stderr
    assert done.stderr.index(named) < done.stderr.index("measuring ")
