"""Features of a workload in the scenario that real ranks of MPI do not have."""

from collections.abc import Sequence
from typing import Any

from tailrace.programs.draws import Draw, UnknownDrawError
from tailrace.programs.mpi import PINGPONG, Found

ITERATIONS_MAX = 2_000_000
"""Of all sizes: a rank keeps 16 bytes for each."""
RANKS_MAX = 32
MEMORY_MAX_BYTES = 2**30
"""Of all messages of a size: the ranks are processes of this machine."""
SIMULATE = "or omit --live to simulate it"


def refusals(workload: Any) -> Found:
    """Keys below the workload, problem, hint."""
    ranks = len(workload.rank_hosts)
    if ranks > RANKS_MAX:
        what = f"the {ranks} ranks of a live run are processes of this machine"
        yield ("ranks",), what, f"write at most {RANKS_MAX}, {SIMULATE}"
    if workload.work() > ITERATIONS_MAX:
        what = f"a live rank keeps the time of each of its {workload.work()} iterations"
        yield (
            ("iterations",),
            what,
            f"write at most {ITERATIONS_MAX} for all sizes together, {SIMULATE}",
        )
    factor = 2 * ranks * (ranks if workload.pattern == "alltoall" else 1)
    largest = max(workload.message_sizes)
    if factor * largest > MEMORY_MAX_BYTES:
        what = f"messages of {largest} bytes take more than the 1 GiB of memory that a live job has"
        yield ("sizes",), what, f"write at most {MEMORY_MAX_BYTES // factor}B, {SIMULATE}"
    try:
        Draw(workload.compute.raw, 0).value_ns(0, 1)
    except UnknownDrawError as error:
        yield (
            ("compute",),
            f"real ranks cannot draw it: {error}",
            f"write another distribution, {SIMULATE}",
        )


def pingpong_refusals(
    workload: Any, program: str, *, least: int = 0, known: Sequence[int] = ()
) -> Found:
    """Those of a program that has the pingpong alone, of sizes from `least`, or of `known` ones."""
    other = f"omit load_generator, {SIMULATE}"
    if workload.pattern != PINGPONG:
        yield ("pattern",), f"{program} has no {workload.pattern}", other
    if workload.compute.raw != {"constant": 0}:
        yield (
            ("compute",),
            f"the ranks of {program} do not compute between messages",
            f"omit it, {SIMULATE}",
        )
    for index, size in enumerate(workload.message_sizes):
        if known and size not in known:
            sizes = " and ".join(f"{each}B" for each in known)
            yield (
                _size_key(workload, index),
                f"{program} measures {sizes}, and not {size}B",
                f"write these, or {other}",
            )
            return
        if size < least:
            what = f"{program} sends no message of {size} bytes"
            yield _size_key(workload, index), what, f"write sizes from {least}B on, or {other}"
            return


def _size_key(workload: Any, index: int) -> tuple[str | int, ...]:
    return ("sizes", index) if workload.sizes is not None else ("sizes",)
