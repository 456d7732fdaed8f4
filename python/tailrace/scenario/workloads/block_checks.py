"""Problems and warnings of blocks."""

from collections.abc import Sequence
from typing import Protocol

from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.workloads import loops
from tailrace.scenario.workloads.base import Found, Surroundings, too_slow
from tailrace.scenario.workloads.datagrams import no_datagram, too_large
from tailrace.scenario.workloads.loops import Loop
from tailrace.scenario.workloads.request_checks import NUMBER_BYTES, timeout_problems

MILLI = 1000


class BlockKeys(Loop, Protocol):
    """The values that are checked."""

    @property
    def nodes(self) -> list[str]: ...
    @property
    def clients(self) -> list[str] | None: ...
    @property
    def profile(self) -> tuple[float, float]: ...
    @property
    def block(self) -> Distribution: ...
    @property
    def message(self) -> Distribution: ...
    @property
    def server_time(self) -> Distribution: ...
    @property
    def server_work(self) -> Distribution: ...
    @property
    def message_time(self) -> Distribution: ...
    @property
    def message_work(self) -> Distribution: ...
    @property
    def concurrency(self) -> int | None: ...
    @property
    def timeout(self) -> int: ...
    @property
    def retries(self) -> int: ...


def problems(work: BlockKeys, around: Surroundings) -> Found:
    """Problems of its values; all named hosts exist."""
    if len(work.nodes) < 2:
        yield ("nodes",), "blocks need at least two nodes", "write nodes: [first, second]"
        return
    yield from _twice(work.nodes, "nodes")
    yield from _twice(work.clients or (), "clients")
    if work.clients is not None and not work.clients:
        yield (
            ("clients",),
            "the list of hosts is empty",
            "name at least one node, or omit it for all",
        )
    for index, name in enumerate(work.clients or ()):
        if name not in work.nodes:
            yield ("clients", index), f"'{name}' is not one of the nodes", "name it in `nodes` too"
    yield from loops.problems(work, around, "blocks", 2 * (len(work.nodes) - 1))
    yield from _demand_problems(work)
    yield from _size_problems(work)
    for key in ("server_time", "server_work", "message_time", "message_work"):
        yield from too_slow((key,), getattr(work, key).smallest, around)
    yield from timeout_problems(work.timeout, "500ms")


def _twice(names: Sequence[str], key: str) -> Found:
    if len(set(names)) < len(names):
        yield (key,), "a host is named twice", "name each host once"


def _demand_problems(work: BlockKeys) -> Found:
    for key, demand in zip(("blocks", "messages"), work.profile, strict=True):
        if _is_finer(demand):
            yield (key,), f"{demand} is finer than a thousandth", "write at most three decimals"
    if not any(work.profile):
        yield (
            (),
            "a transaction neither asks for blocks nor sends messages",
            "write blocks: 1, or messages: 1",
        )


def _is_finer(demand: float) -> bool:
    """Whether it is no whole number of thousandths, beyond the rounding of a binary fraction."""
    return abs(demand * MILLI - round(demand * MILLI)) > 1e-6 * max(1.0, demand * MILLI)


def _size_problems(work: BlockKeys) -> Found:
    for key, size in (("block", work.block), ("message", work.message)):
        if size.mean < 1:
            yield (key,), f"`{key}` must be greater than zero", "write a size such as 200B"
        elif size.largest < NUMBER_BYTES:
            what = f"a datagram of {size.largest:.0f} bytes has no room for the number of its query"
            yield (key,), what, f"write at least {NUMBER_BYTES}B"
        elif too_large(size):
            yield (key,), *no_datagram(size)


def cautions(work: BlockKeys) -> Found:
    """Warnings; the scenario has no problems."""
    slowest_ps = max(
        work.server_time.mean + work.server_work.mean if work.profile[0] else 0.0,
        work.message_time.mean + work.message_work.mean if work.profile[1] else 0.0,
    )
    if slowest_ps >= work.timeout:
        what = "a node takes longer than `timeout` on average: most transactions fail"
        yield ("timeout",), what, "write a longer timeout, or a shorter server_time"
    if work.arrivals is None or work.concurrency is None:
        return
    mean_ps = (work.server_time.mean + work.server_work.mean) * work.profile[0]
    load = mean_ps / work.arrivals.mean / (work.concurrency * len(work.nodes))
    if load > 1:
        what = (
            f"arrivals ask for {load:.3g} times the blocks that {work.concurrency} processes "
            "of each node send"
        )
        yield (
            ("concurrency",),
            f"{what}: the queue grows until the end",
            "write more, or fewer arrivals",
        )
