"""Problems of the traffic classes of an interface (802.1Qaz)."""

from collections.abc import Iterator, Mapping

from tailrace.errors import KeyPath
from tailrace.scenario.checks.sharing import Sharing
from tailrace.scenario.network.host import NicClass

Found = Iterator[tuple[KeyPath, str, str]]


def check(at: KeyPath, classes: Mapping[str, NicClass]) -> Found:
    """A priority in two classes, and shares that cannot be."""
    sharing = Sharing("class", classes)
    yield from sharing.problems(at)
    owners: dict[int, str] = {}
    for name, each in classes.items():
        here: KeyPath = (*at, name)
        yield from sharing.problems_of(name, here)
        for priority in each.priorities:
            if (owner := owners.setdefault(priority, name)) != name:
                what = f"priority {priority} is in class '{owner}' already"
                yield (*here, "priorities"), what, "list each priority once"
