"""One run of fio on a drive, with what the kernel counted meanwhile and how busy the processor
was."""

import json
import os
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.files import require_plain
from tailrace.programs.fio import FIO
from tailrace.programs.needed import path_of
from tailrace.tools.drive.counters import Issued, Reading, issued
from tailrace.tools.drive.drive import Drive
from tailrace.tools.drive.load import RAMP_S, Run

POLL_S = 0.1
READINGS_MIN = 2
SETTLE_S = 0.5
"""After the ramp: fio starts its jobs within this."""
END_LIMIT_S = 60.0
"""Requests that are under way at the end are awaited so long; a disk with 32 random ones takes less
than one second."""
WHOLE_LIMIT_S = 24 * 3600.0
SEED_MAX = 2**31
NS_PER_S, US_PER_S = 1e9, 1e6


@dataclass(frozen=True)
class Busy:
    """The processor during a run."""

    job_share: float
    """Time that the busiest job of fio ran, as a share of one core."""
    job_waiting_share: float
    """Time that this job could have run and had no core."""
    machine_share: float
    """Time that the cores which fio may use were busy, with whatever."""


@dataclass(frozen=True)
class Ran:
    """What a run gave."""

    requests_per_s: float
    bytes_per_s: float
    latency_us: float
    """Mean, from submission (fio's `lat`)."""
    p99_us: float
    """99th percentile of the completion latency (fio's `clat`)."""
    busy: Busy
    issued: Issued

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def command(drive: Drive, run: Run, duration_s: float, seed: int) -> list[str]:
    """fio's command line; reads are protected by `--readonly`."""
    pattern = {"sequential": "", "random": "rand"}[run.access] + run.operation
    return [
        FIO.program,
        "--name=drive",
        f"--filename={_filename(drive)}",
        f"--rw={pattern}",
        *([] if run.is_write else ["--readonly"]),
        "--direct=1",
        "--ioengine=libaio",
        f"--bs={run.block_bytes}",
        f"--iodepth={run.depth}",
        f"--numjobs={run.jobs}",
        *(
            ["--offset_increment=" + f"{100 // run.jobs}%"]
            if run.jobs > 1 and run.access == "sequential"
            else []
        ),
        "--thread",
        "--group_reporting",
        "--norandommap",
        "--randrepeat=1",
        f"--randseed={seed % SEED_MAX + 1}",
        "--time_based",
        f"--runtime={round(duration_s * US_PER_S)}us",
        f"--ramp_time={round(RAMP_S * US_PER_S)}us",
        "--output-format=json",
    ]


def require() -> None:
    """Raises `RunRefusedError` where fio is missing."""
    if path_of(FIO) is None:
        raise RunRefusedError(
            f"disk measure needs {FIO.program} (hint: apt-get install {FIO.package})"
        )


def carry_out(drive: Drive, run: Run, duration_s: float, seed: int) -> Ran:
    """Runs it. Raises `RunRefusedError` with fio's complaint where it fails."""
    words = command(drive, run, duration_s, seed)
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            window = _watch(process, drive, duration_s)
            out, err = process.communicate(timeout=END_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise RunRefusedError(
                f"{drive.device}: requests were still under way {END_LIMIT_S:g} s after the run"
            ) from None
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise RunRefusedError(
            f"fio: {_complaint(err.decode(errors='replace'), process.returncode)}"
        )
    return result_of(out.decode(errors="replace"), run, window)


@dataclass(frozen=True)
class Window:
    """Readings of the same moments: the first after the ramp, the last before the end."""

    seconds: float
    first: Reading
    last: Reading
    busy: Busy


def _watch(process: "subprocess.Popen[bytes]", drive: Drive, duration_s: float) -> Window:
    """Reads counters until the run has ended; what counts is the time between ramp and end."""
    began_s = time.monotonic()
    begins_s, ends_s = began_s + RAMP_S + SETTLE_S, began_s + RAMP_S + duration_s
    moments: list[tuple[float, Reading, dict[str, tuple[int, int]], tuple[int, int]]] = []
    # On a busy machine a poll may take as long as the run: two readings are needed, if the second
    # is late.
    while process.poll() is None and (time.monotonic() < ends_s or len(moments) < READINGS_MIN):
        if time.monotonic() >= begins_s:
            tasks = _tasks(process.pid)
            moments.append(
                (time.monotonic(), Reading.of(drive.counters), tasks, _cores(process.pid))
            )
        time.sleep(POLL_S)
    if len(moments) < READINGS_MIN:
        if process.poll() is None:
            process.terminate()
        _, err = process.communicate(timeout=END_LIMIT_S)
        raise RunRefusedError(
            f"fio: {_complaint(err.decode(errors='replace'), process.returncode)}"
        )
    (start_s, first, tasks, cores), (end_s, last, tasks_last, cores_last) = moments[0], moments[-1]
    seconds = end_s - start_s
    shares = [
        (
            (ran - tasks[task][0]) / NS_PER_S / seconds,
            (waited - tasks[task][1]) / NS_PER_S / seconds,
        )
        for task, (ran, waited) in tasks_last.items()
        if task in tasks
    ]
    job, waiting = max(shares, key=sum, default=(0.0, 0.0))
    whole = cores_last[1] - cores[1]
    machine = 1 - (cores_last[0] - cores[0]) / whole if whole else 0.0
    return Window(seconds, first, last, Busy(min(1.0, job), min(1.0, waiting), machine))


def _tasks(process: int) -> dict[str, tuple[int, int]]:
    """Nanoseconds that each thread ran, and waited for a core
    (Documentation/scheduler/sched-stats.rst)."""
    found = {}
    for path in Path(f"/proc/{process}/task").glob("*/schedstat"):
        try:
            ran, waited, _ = path.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            continue
        found[path.parent.name] = (int(ran), int(waited))
    return found


def _cores(process: int) -> tuple[int, int]:
    """Idle and all ticks of the cores that a process may use (proc_pid_stat(5), `/proc/stat`)."""
    try:
        allowed = os.sched_getaffinity(process)
    except ProcessLookupError:
        allowed = os.sched_getaffinity(0)
    idle = whole = 0
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        name, *words = line.split()
        if name.startswith("cpu") and name[3:].isdecimal() and int(name[3:]) in allowed:
            ticks = [int(word) for word in words[:8]]
            idle += ticks[3] + ticks[4]
            whole += sum(ticks)
    return idle, whole


def result_of(told: str, run: Run, window: Window) -> Ran:
    """What fio tells as JSON, with the counters of the same time."""
    try:
        [job] = json.loads(told[told.index("{") :])["jobs"]
        if job["error"]:
            raise RunRefusedError(
                f"fio: error {job['error']} ({os.strerror(job['error'])}) in {run.title}"
            )
        side = job[run.operation]
        percentiles = side["clat_ns"].get("percentile") or {}
        found = (
            float(side["iops"]),
            float(side["bw_bytes"]),
            float(side["lat_ns"]["mean"]) / 1e3,
            float(percentiles.get("99.000000", 0.0)) / 1e3,
        )
    except (ValueError, KeyError, TypeError):
        raise RunRefusedError(
            "fio: its answer is not understood (hint: fio 3.16 or later)"
        ) from None
    if not found[0]:
        raise RunRefusedError(
            f"{run.title}: no request was complete within the run (hint: a longer --duration)"
        )
    counted = issued(window.first, window.last, window.seconds, is_write=run.is_write)
    return Ran(*found, busy=window.busy, issued=counted)


def precondition(drive: Drive) -> None:
    """Writes the whole drive once, sequentially; raises `RunRefusedError` with fio's words where
    that fails."""
    words = [
        FIO.program,
        "--name=precondition",
        f"--filename={_filename(drive)}",
        *("--rw=write", "--direct=1", "--ioengine=libaio", "--bs=1M", "--iodepth=8"),
    ]
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WHOLE_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RunRefusedError("--precondition: the drive was not written within a day") from None
    if done.returncode:
        raise RunRefusedError(f"--precondition: fio: {_complaint(done.stderr, done.returncode)}")


def _filename(drive: Drive) -> str:
    """The device as fio reads it: a colon divides names. Raises `RunRefusedError` for what fio
    would evaluate."""
    place = str(drive.device.absolute())
    require_plain(
        "the drive", Path(place.replace(":", "")), "name it as `lsblk` does, such as /dev/sda"
    )
    return place.replace(":", "\\:")


def _complaint(text: str, status: int | None) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else f"it ended with status {status}"
