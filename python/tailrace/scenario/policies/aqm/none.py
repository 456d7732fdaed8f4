"""No queue management."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tailrace.scenario.policies.aqm.base import Found, QueueManagement, Writer


class NoAqm(QueueManagement):
    """The limit alone (tail drop)."""

    kind: Literal["none"]

    drop_cause = None
    divided = ()
    remedy = None

    def problems(self) -> Found:
        """None."""
        yield from ()

    def lowered(self) -> Mapping[str, Any]:
        """No parameters: a plan has only its name."""
        return {}

    def marks(self) -> bool:
        """Never."""
        return False

    def drops_capable(self) -> bool:
        """Never; only the limit of the queue drops frames."""
        return False

    def drops_incapable(self) -> bool:
        """Never; only the limit of the queue drops frames."""
        return False

    def depths(self) -> Iterator[tuple[str, int]]:
        """None."""
        yield from ()

    @staticmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """Nothing to describe."""
        return ""
