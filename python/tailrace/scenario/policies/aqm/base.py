"""What a mechanism of queue management answers. A mechanism is a module beside this one, and a line in `kinds`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from tailrace.errors import KeyPath
from tailrace.scenario.text.quantities import Part

Found = Iterator[tuple[KeyPath, str, str]]
"""Path below the mechanism, what is wrong, hint."""


@dataclass(frozen=True)
class Writer:
    """How quantities are written."""

    size: Callable[[float], str]
    """Bytes."""
    span: Callable[[float], str]
    """Picoseconds."""


class QueueManagement(Part, ABC):
    """Marks or drops frames before the limit of a queue does."""

    kind: str

    drop_cause: ClassVar[str | None]
    """The cause that its drops are counted as, by the data plane's name; None where it drops nothing."""
    divided: ClassVar[tuple[str, ...]]
    """Its keys that are sizes, which `--live-scale` divides."""
    stretched: ClassVar[tuple[str, ...]] = ()
    """Its keys that are times compared with queueing delays, which `--live-scale` may lengthen."""
    remedy: ClassVar[str | None]
    """How advice against lock-out names it; None where it is no remedy."""
    needs_trap: ClassVar[bool] = False
    """Whether it acts on the flows of an elephant trap."""

    @abstractmethod
    def problems(self) -> Found:
        """Values that cannot work."""

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
        """Keys of queue depths in bytes below which it does nothing, and their values."""

    @staticmethod
    @abstractmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """What it does, from its parameters in a plan; part of a sentence."""


class EarlyDrop(QueueManagement):
    """Drops frames, or with `ecn` marks those that can be marked instead. Each mechanism declares the key itself."""

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
