"""Problems and warnings of MPI jobs."""

from typing import Protocol

from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.workloads.base import Found, Surroundings, too_slow

ALGORITHMS: dict[str, tuple[str, ...]] = {
    "pingpong": (),
    "ring": (),
    "exchange": (),
    "allreduce": ("recursive-doubling", "ring", "rabenseifner"),
    "alltoall": ("linear", "pairwise", "bruck"),
    "bcast": ("linear", "chain", "binary", "binomial", "knomial", "scatter-ring"),
    "barrier": ("linear", "recursive-doubling", "bruck"),
}
"""Algorithms of each pattern besides `auto`."""
ELEMENT = 4
"""Bytes of `MPI_FLOAT`, which is reduced."""
MESSAGE_MAX = 1 << 30
PINGPONG_RANKS = 2


class MpiKeys(Protocol):
    """The values that are checked."""

    @property
    def hosts(self) -> list[str]: ...
    @property
    def ranks(self) -> int | None: ...
    @property
    def rank_hosts(self) -> list[str]: ...
    @property
    def pattern(self) -> str: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def sizes(self) -> list[int] | None: ...
    @property
    def compute(self) -> Distribution: ...
    @property
    def start(self) -> int: ...
    @property
    def reduce_rate(self) -> int: ...
    @property
    def copy_rate(self) -> int | None: ...
    @property
    def local_rate(self) -> int | None: ...


def problems(work: MpiKeys, around: Surroundings) -> Found:
    """Problems of its values; all named hosts exist."""
    if not work.hosts:
        yield ("hosts",), "the list of hosts is empty", "name at least one host"
        return
    if len(set(work.hosts)) < len(work.hosts):
        yield (
            ("hosts",),
            "a host is named twice",
            "name each host once, and write `ranks` for several on a host",
        )
    if len(work.rank_hosts) < 2:
        yield ("hosts",), "a job needs at least two ranks", "name a second host, or write ranks: 2"
    if work.start >= around.duration_ps:
        what = "the workload starts after the end of the trial"
        yield ("start",), what, "lower start or raise experiment.duration"
    yield from too_slow(
        ("compute",), work.compute.smallest, around, "no rank begins an iteration in it"
    )
    yield from _algorithm_problems(work)
    yield from _size_problems(work)
    for key in ("reduce_rate", "copy_rate", "local_rate"):
        if getattr(work, key) == 0:
            yield (key,), f"`{key}` must be greater than zero", "write a rate such as 40Gbit/s"


def _algorithm_problems(work: MpiKeys) -> Found:
    known = ALGORITHMS[work.pattern]
    if work.algorithm != "auto" and work.algorithm not in known:
        has = (
            f"{work.pattern} has {', '.join(known)}"
            if known
            else f"{work.pattern} has no choice of algorithms"
        )
        yield ("algorithm",), f"{has}, and not {work.algorithm}", "omit it, or write auto"


def _size_problems(work: MpiKeys) -> Found:
    if work.sizes is not None and work.pattern == "barrier":
        yield ("sizes",), "a barrier has no sizes", "omit them"
        return
    for index, size in enumerate(work.sizes or ()):
        if size > MESSAGE_MAX:
            yield (
                ("sizes", index),
                f"a message of {size} bytes is longer than 1 GiB",
                "write a shorter one",
            )
        elif work.pattern == "allreduce" and (size < ELEMENT or size % ELEMENT):
            what = f"{size} bytes are no whole number of floats, which an allreduce adds"
            yield ("sizes", index), what, "write a multiple of 4 bytes"
    if work.sizes is not None and len(set(work.sizes)) < len(work.sizes):
        yield ("sizes",), "a size is named twice", "name each size once"


def cautions(work: MpiKeys) -> Found:
    """Warnings; the scenario has no problems."""
    ranks = work.rank_hosts
    if work.pattern == "pingpong" and len(ranks) > PINGPONG_RANKS:
        yield (
            ("ranks",),
            f"a pingpong is between ranks 0 and 1: the other {len(ranks) - 2} do nothing",
            "write ranks: 2",
        )
    if len(set(ranks)) == 1:
        yield (
            ("hosts",),
            f"all ranks are on '{ranks[0]}': nothing crosses the network",
            "name a second host",
        )
