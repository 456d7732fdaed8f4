"""The interface of a queue-management mechanism. A mechanism is a module in this package, and a
line in `kinds`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tailrace.errors import KeyPath
from tailrace.scenario.text.quantities import Part

Found = Iterator[tuple[KeyPath, str, str]]
"""Path below the mechanism, the fault, and a hint."""


@dataclass(frozen=True)
class Writer:
    """Formats of quantities."""

    size: Callable[[float], str]
    """Bytes."""
    span: Callable[[float], str]
    """Picoseconds."""


class QueueManagement(Part, ABC):
    """Marks or drops frames before a queue reaches its limit."""

    kind: str

    drop_cause: ClassVar[str | None]
    """The cause of its drops, by the data plane's name; None for a mechanism that drops no
    frames."""
    divided: ClassVar[tuple[str, ...]]
    """Its keys that are sizes, which `--live-scale` divides."""
    stretched: ClassVar[tuple[str, ...]] = ()
    """Its keys that are times compared with queueing delays, which `--live-scale` may lengthen."""
    remedy: ClassVar[str | None]
    """Its name in advice against lock-out; None where it is no remedy."""
    needs_trap: ClassVar[bool] = False
    """Whether it acts on the flows of an elephant trap."""

    @abstractmethod
    def problems(self) -> Found:
        """Problems of its values."""

    @abstractmethod
    def lowered(self) -> Mapping[str, Any]:
        """Its parameters in a plan, under the name of the kind."""

    @abstractmethod
    def marks(self) -> bool:
        """Whether it sets congestion marks."""

    @abstractmethod
    def drops_capable(self) -> bool:
        """Whether it drops frames that could be marked."""

    @abstractmethod
    def drops_incapable(self) -> bool:
        """Whether it drops frames that cannot be marked."""

    @abstractmethod
    def depths(self) -> Iterator[tuple[str, int]]:
        """Keys and values of the queue depths, in bytes, below which it has no effect."""

    @staticmethod
    @abstractmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """Its effect as part of a sentence, from its parameters in a plan."""


class EarlyDrop(QueueManagement):
    """Drops frames, or with `ecn` marks ECN-capable frames instead. Each mechanism declares the key
    itself."""

    if TYPE_CHECKING:
        ecn: bool

    def marks(self) -> bool:
        """See `QueueManagement`."""
        return self.ecn

    def drops_capable(self) -> bool:
        """Unless it marks them."""
        return not self.ecn

    def drops_incapable(self) -> bool:
        """Always."""
        return True
