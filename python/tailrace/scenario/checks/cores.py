"""Checks that the processors of hosts and of hypervisors share: numbers of cores, and costs of the
kernel's work."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from tailrace.errors import KeyPath
from tailrace.scenario.text.quantities import Part

COST_PS_MAX = 10**9
COST_FS_PER_BYTE_MAX = 10**8
"""A single piece of the kernel's work of 1 ms, or 100 ns for a byte, is a typing error."""

Found = Iterator[tuple[KeyPath, str, str]]


def absent_core(core: int, cores: int, owner: str) -> tuple[str, str]:
    """The fault in the number of a core that does not exist, and a valid range."""
    if cores == 1:
        return f"there is no core {core}: {owner} has 1 core", "write 0"
    return (
        f"there is no core {core}: {owner} has {cores} cores",
        f"write a number from 0 to {cores - 1}",
    )


def wrong_cores(at: KeyPath, listed: Sequence[int], cores: int, owner: str) -> Found:
    """Cores of a list that `owner` with this number of cores does not have, and duplicates."""
    seen: set[int] = set()
    for index, core in enumerate(listed):
        if core >= cores:
            yield (*at, index), *absent_core(core, cores, owner)
        if core in seen:
            yield (*at, index), f"core {core} stands here twice", "name each core once"
        seen.add(core)


def excessive_costs(
    at: KeyPath, own: Part, keys: Iterable[str], of_bytes: Sequence[str], hint: Callable[[str], str]
) -> Found:
    """Costs that no piece of the kernel's work has; those `of_bytes` are for each byte."""
    for key in keys:
        most, words = (COST_FS_PER_BYTE_MAX, "100ns") if key in of_bytes else (COST_PS_MAX, "1ms")
        if getattr(own, key) > most:
            yield (
                (*at, key),
                f"`{key}` must be at most {words}, as the cost of a single piece of work",
                hint(key),
            )
