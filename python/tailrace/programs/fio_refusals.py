"""Features of a storage workload in the scenario that fio, or the devices of live runs, do not
have."""

from typing import Any

from tailrace.programs import fio
from tailrace.programs.envelope import MEMORY
from tailrace.programs.measured import PS_PER_S
from tailrace.programs.storage import Found, protocol_of

SIZE_MAX_BYTES = 2**30
"""Of the area of a workload: it is written and read back before each trial, in memory or on a
disk."""
PERCENT = 100
PPM_PER_PERCENT = 10**4
RATE_ERROR_MAX = 0.01
"""fio counts a rate in whole requests per second for reads and for writes of each job."""


def refusals(workload: Any) -> Found:
    """Keys below the workload, problem, hint."""
    protocol = protocol_of(workload)
    if protocol not in fio.ENGINES:
        what = (
            f"live runs have no initiator for {protocol}, which is the "
            "kernel's, and not this machine's"
        )
        hint = (
            f"write one of: {', '.join(fio.ENGINES)}; use --exact, whose kernels are its own; "
            "or simulate it"
        )
        yield ("protocol",), what, hint
    if workload.device != MEMORY and protocol == "nbd":
        what = (
            "nbdkit serves its files from the page cache, which no limit on a disk holds to "
            f"'{workload.device}'"
        )
        yield ("device",), what, f"write protocol: iscsi, or device: {MEMORY}"
    if workload.offset + workload.size > SIZE_MAX_BYTES:
        yield (
            ("size",),
            "the area does not end within the 1 GiB that a device of a live run has",
            "write a smaller size, or a lower offset",
        )
    yield from _sessions(workload)
    yield from jobs(workload, "--live")


def jobs(workload: Any, option: str) -> Found:
    """Features that the jobs of fio do not have on any device; `option` is that of the engine."""
    if workload.jobs > fio.JOBS_MAX:
        yield (
            ("jobs",),
            "fio keeps the log of each job in memory",
            f"write at most {fio.JOBS_MAX} jobs",
        )
    if workload.start > 0:
        yield ("start",), "the jobs of fio begin with the trial", "omit it"
    if "constant" not in workload.block.raw:
        yield (
            ("block",),
            "the requests of fio have one size here",
            f"write one value, or omit {option} to simulate it",
        )
    yield from _pauses(workload)


def _sessions(workload: Any) -> Found:
    """Values of sessions that are those of the programs."""
    iscsi, nbd = getattr(workload, "iscsi", None), getattr(workload, "nbd", None)
    if iscsi is not None and iscsi != type(iscsi)():
        yield ("iscsi",), "the session of a live run is what libiscsi and tgt negotiate", "omit it"
    if nbd is not None and nbd.connections != workload.jobs:
        what = "fio opens a connection for each job"
        yield ("nbd", "connections"), what, f"write {workload.jobs}, the number of jobs"


def _pauses(workload: Any) -> Found:
    """Pauses and rates that fio does not have."""
    think = workload.think.raw if workload.think is not None else {"constant": 0}
    if "constant" not in think:
        yield ("think",), "the pauses of fio have one length", "write one value"
    elif think["constant"] and workload.depth > 1:
        what = "a job of fio pauses as a whole, not each of its requests"
        yield ("think",), what, "write depth: 1 and more jobs"
    gaps = workload.gaps
    if gaps is None:
        return
    if "constant" not in gaps.raw and "exponential" not in gaps.raw:
        yield (
            ("arrivals",),
            "fio begins requests evenly or at random (exponential)",
            "write rate, or exponential(...)",
        )
        return
    per_job = PS_PER_S / gaps.mean / workload.jobs
    for share in (workload.read / PERCENT, 1 - workload.read / PERCENT):
        exact = per_job * share
        if exact and abs(round(exact) - exact) > RATE_ERROR_MAX * exact:
            what = (
                "fio paces reads and writes of each job in whole requests per second, and "
                f"{exact:.3g} is not one"
            )
            yield (
                ("rate" if workload.rate else "arrivals",),
                what,
                "choose another rate, or fewer jobs",
            )
            return
