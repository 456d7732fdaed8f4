"""How the work of the lab grows with a scenario, in steps that are the same wherever the tests
run."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from math import log
from types import FrameType
from typing import Any

from tailrace.scenario.network import topology

EXPONENT_MAX = 1.1
"""Work that grows faster than the scenario to this power is refused; half of a quadratic step
shows."""


class Steps:
    """Calls of functions, Python's own among them, and entries of lists of nodes that a search goes
    through."""

    def __init__(self) -> None:
        self.count = 0

    def profile(self, _frame: FrameType, event: str, _argument: object) -> None:
        """For `sys.setprofile`."""
        self.count += event in ("call", "c_call")


class SearchedList(list[Any]):
    """A list that counts what `in` goes through: a list of hosts that is searched for every host is
    quadratic."""

    steps: Steps | None = None

    def __contains__(self, value: object) -> bool:
        if SearchedList.steps is not None:
            SearchedList.steps.count += len(self)
        return super().__contains__(value)


JOINED = topology.Graph.__dict__["joined"].func


class WatchedGraph(topology.Graph):
    """A graph with `SearchedList`s of nodes and neighbours."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, SearchedList(value) if isinstance(value, list) else value)

    @cached_property
    def joined(self) -> dict[str, list[str]]:
        """As of any graph."""
        return {name: SearchedList(ends) for name, ends in JOINED(self).items()}


@contextmanager
def searched_lists() -> Iterator[None]:
    """Networks expand to `WatchedGraph`s."""
    usual = topology.Graph
    setattr(topology, "Graph", WatchedGraph)  # noqa: B010  it is a type, which cannot be assigned to
    try:
        yield
    finally:
        setattr(topology, "Graph", usual)  # noqa: B010  as above


def steps_of(action: Callable[[], object]) -> int:
    """Steps of one action."""
    steps = Steps()
    SearchedList.steps = steps
    sys.setprofile(steps.profile)
    try:
        action()
    finally:
        sys.setprofile(None)
        SearchedList.steps = None
    return steps.count


def exponent(action_of: Callable[[int], Callable[[], object]], size: int) -> float:
    """The power of the size with which the steps of an action grow, told from three sizes, each
    twice the last.

    What does not depend on the size drops out: of `a + b n^e` the differences are as `2^e`. Fewer
    than four more steps for each thing that was added are no growth but what a cache or a table in
    memory happens to do.
    """
    action_of(size)()  # what is made once, such as imports and caches, is made now
    small, middle, large = (steps_of(action_of(size * factor)) for factor in (1, 2, 4))
    first, second = middle - small, large - middle
    return log(second / first) / log(2) if first > 0 and second >= 8 * size else 0.0
