"""fio: the jobs of one initiator as a job file, and what it reports.

Every initiator has a `fio --server`; one client starts all of them. Client and servers talk over
Unix sockets, so that no byte of theirs crosses the network that is measured. fio logs every
request: what counts is decided by the trial's interval, and nothing is averaged by fio.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.programs.command import Command
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import PS_PER_S
from tailrace.programs.needed import Needed
from tailrace.programs.storage import OPS, RANDOM, US_PER_MS, Done, StorageWork

PROGRAM = "fio"
FIO = Needed(PROGRAM, "fio", "--version", "workloads of kind storage")
REPORT = "report.json"
LOG = "requests"
"""Prefix of the logs of requests."""
START_GRACE_S = 60
"""fio's own time limit exceeds the trial's by this; the trial ends it first."""
JOBS_MAX = 64
"""Of an initiator: each is a thread with a log in memory."""
PS_PER_US = 10**6
PERCENT = 100
ERROR = re.compile(r"fio: |error")
"""In lines about an error; those of the jobs have the name of their server before."""
ENGINES = {"local": "libaio", "iscsi": "nbd", "nbd": "nbd"}
"""fio's engine for each protocol: iSCSI is reached through qemu-nbd."""


def job_file(work: StorageWork, target: str, limit_s: int, engine: str | None = None) -> str:
    """The jobs of one initiator. `target` is the file or the URI of its device; `engine` is that of
    the protocol when missing.
    """
    engine = engine or ENGINES[work.protocol]
    settings = {
        "ioengine": engine,
        "uri" if engine == "nbd" else "filename": target,
        "direct": None if engine == "nbd" else "1",
        **_pattern(work),
        "bs": str(work.block_bytes),
        "iodepth": str(work.depth),
        "numjobs": str(work.jobs),
        "thread": "1",
        "size": str(work.part_bytes),
        "offset": str(work.offset_bytes) if work.offset_bytes else None,
        "offset_increment": str(work.part_bytes),
        "norandommap": "1",
        "randrepeat": "1",
        "randseed": str(work.seed % 2**31 + 1),
        "fsync": str(work.flush_every) if work.flush_every else None,
        "thinktime": f"{work.think_ps // PS_PER_US}us" if work.think_ps else None,
        **_rate(work),
        **_end(work, limit_s),
        "write_lat_log": LOG,
        "disable_slat": "1",
        "disable_clat": "1",
        "log_unix_epoch": "1",
        "lat_percentiles": "1",
    }
    lines = [f"{key}={value}" for key, value in settings.items() if value is not None]
    return "\n".join(["[global]", *lines, f"[{work.name}]", ""])


def _pattern(work: StorageWork) -> dict[str, str]:
    """Read share and addresses."""
    percent = round(work.read_share * PERCENT)
    kind = {0: "write", PERCENT: "read"}.get(percent, "rw")
    mixed = {"rwmixread": str(percent)} if kind == "rw" else {}
    name, value = work.access
    if name != RANDOM:
        return {"rw": f"rand{kind}", **mixed, "random_distribution": f"zipf:{value:g}"}
    if value == 0:
        return {"rw": kind, **mixed}
    return {
        "rw": f"rand{kind}",
        **mixed,
        **({"percentage_random": f"{value * PERCENT:.0f}"} if value < 1 else {}),
    }


def rates(work: StorageWork) -> tuple[int, int] | None:
    """Reads and writes per second of each job, as whole numbers; None without a rate."""
    if work.gap_ps is None:
        return None
    per_job = PS_PER_S / work.gap_ps / work.jobs
    return round(per_job * work.read_share), round(per_job * (1 - work.read_share))


def _rate(work: StorageWork) -> dict[str, str]:
    found = rates(work)
    if found is None:
        return {}
    process = "poisson" if work.is_poisson else "linear"
    return {"rate_iops": ",".join(str(max(1, rate)) for rate in found), "rate_process": process}


def _end(work: StorageWork, limit_s: int) -> dict[str, str]:
    """The amount of work, or a time that the trial ends first."""
    if not work.is_finite:
        return {"time_based": "1", "runtime": f"{limit_s + START_GRACE_S}s"}
    return {"number_ios": str(work.requests), "io_size": str(work.requests * work.block_bytes)}


def server(work: StorageWork, host: str, folder: Path, cpus: float | None = None) -> Command:
    """Waits for the client; its socket has the name of the host, in the folder of the workload."""
    argv = [PROGRAM, f"--server=sock:{host}"]
    name = f"fio-{work.name}-{host}"
    return Command(name, argv, host=host, cwd=str(folder), cpus=cpus, priority=work.priority)


def client(work: StorageWork, folder: Path) -> Command:
    """Sends every server its jobs, and starts all of them at once."""
    argv = [PROGRAM, "--output-format=json+", f"--output={REPORT}"]
    for host in work.initiators:
        argv += [f"--client=sock:{host}", job_name(host)]
    return Command(f"fio-{work.name}", argv, cwd=str(folder))


def job_name(host: str) -> str:
    """File with the jobs of an initiator."""
    return f"{host}.fio"


def report(work: StorageWork, folder: Path) -> dict[str, Any]:
    """fio's own report: JSON after lines of text. Raises `ProgramError` where it is not whole."""
    try:
        text = (folder / REPORT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        raise ProgramError(f"fio-{work.name}: it ended without its report") from None
    begin = 0 if text.startswith("{") else text.find("\n{") + 1
    try:
        found = json.loads(text[begin:])
    except ValueError:
        lines = [line.strip() for line in text.splitlines() if line.strip()][-3:]
        raise ProgramError(
            f"fio-{work.name}: its report is not whole: {' | '.join(lines)}"
        ) from None
    if not isinstance(found, dict) or "client_stats" not in found:
        raise ProgramError(f"fio-{work.name}: its report has no results of servers")
    return found


def complaint(work: StorageWork, folder: Path) -> str:
    """A clause about the first error that fio has written before its report."""
    try:
        text = (folder / REPORT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    lines = [line.strip() for line in text.partition("\n{")[0].splitlines()]
    found = [line for line in lines if ERROR.search(line)]
    return f"fio-{work.name}: fio failed: {found[0] if found else 'it wrote no reason'}"


def by_initiator(work: StorageWork, report: Mapping[str, Any]) -> str:
    """A line for each initiator with requests per second, bandwidth and latency, the slowest one
    first."""
    lines = []
    for host in work.initiators:
        own = [
            row
            for row in report["client_stats"]
            if row["jobname"] == work.name and _host_of(row) == host
        ]
        rate = sum(row[op]["iops"] for row in own for op in OPS.values())
        parts = [f"{host}: {rate:.0f} requests/s"]
        for op in OPS.values():
            count = sum(row[op]["total_ios"] for row in own)
            if count:
                mbps = sum(row[op]["bw_bytes"] for row in own) / 10**6
                mean_ms = (
                    sum(row[op]["lat_ns"]["mean"] * row[op]["total_ios"] for row in own)
                    / count
                    / 10**6
                )
                parts.append(f"{op} {mbps:.1f} MB/s, mean {mean_ms:.3f} ms")
        lines.append((rate, "; ".join(parts)))
    return "".join(f"{line}\n" for _, line in sorted(lines))


def _host_of(row: Mapping[str, Any]) -> str:
    """The socket of a server has the name of its host."""
    return Path(str(row["hostname"])).name


def require_sound(work: StorageWork, report: Mapping[str, Any], whole: Sequence[Done]) -> None:
    """Raises `ProgramError` for errors that fio has counted, for missing jobs, and for requests
    that are not logged."""
    rows = [row for row in report["client_stats"] if row["jobname"] == work.name]
    for number, host in enumerate(work.initiators):
        own = [row for row in rows if _host_of(row) == host]
        if errors := [row["error"] for row in own if row["error"]]:
            raise ProgramError(f"fio-{work.name}: the jobs on {host} ended with error {errors[0]}")
        if len(own) != work.jobs:
            raise ProgramError(
                f"fio-{work.name}: {len(own)} of {work.jobs} jobs on {host} have results"
            )
        counted = sum(row[name]["total_ios"] for row in own for name in OPS.values())
        logged = sum(one.initiator == number for one in whole)
        if counted != logged:
            raise ProgramError(
                f"fio-{work.name}: {host} did {counted} requests, and its logs have {logged}"
            )


def requests(work: StorageWork, folder: Path) -> list[Done]:
    """Every request of every job."""
    return [
        one
        for number, host in enumerate(work.initiators)
        for job in range(work.jobs)
        for one in _log(folder / f"{LOG}_lat.{job + 1}.log.{host}", number, job)
    ]


def requests_of(work: StorageWork, folder: Path, initiator: int) -> list[Done]:
    """Every request of the jobs of one initiator, whose fio ran in the folder without a client."""
    return [
        one
        for job in range(work.jobs)
        for one in _log(folder / f"{LOG}_lat.{job + 1}.log", initiator, job)
    ]


def require_sound_jobs(work: StorageWork, folder: Path, host: str, own: Sequence[Done]) -> None:
    """As `require_sound`, for an fio without a client."""
    try:
        text = (folder / REPORT).read_text(encoding="utf-8", errors="replace")
        jobs = json.loads(text[max(0, text.find("{")) :])["jobs"]
    except (OSError, ValueError, KeyError):
        raise ProgramError(f"fio-{work.name}: the fio of {host} ended without its report") from None
    if errors := [row["error"] for row in jobs if row["error"]]:
        raise ProgramError(f"fio-{work.name}: the jobs on {host} ended with error {errors[0]}")
    counted = sum(row[name]["total_ios"] for row in jobs for name in OPS.values())
    if len(jobs) != work.jobs or counted != len(own):
        what = (
            f"{len(jobs)} of {work.jobs} jobs did {counted} requests, and the logs have {len(own)}"
        )
        raise ProgramError(f"fio-{work.name}: on {host}, {what}")


def _log(path: Path, initiator: int, job: int) -> Iterator[Done]:
    """Time in milliseconds, latency in nanoseconds, direction, size, offset, priority."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return  # a job without a request; the report has their number
    for line in lines:
        words = line.split(",")
        try:
            ended_ms, latency_ns, op, size_bytes = (int(word) for word in words[:4])
        except ValueError:
            raise ProgramError(
                f"{path.name}: a line of the log is not whole: {line.strip()}"
            ) from None
        if op in OPS:
            yield Done(initiator, job, ended_ms * US_PER_MS, latency_ns, op, size_bytes)
