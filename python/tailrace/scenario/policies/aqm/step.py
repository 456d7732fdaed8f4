"""DCTCP's step (RFC 8257)."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tailrace.scenario.policies.aqm.base import Found, QueueManagement, Writer
from tailrace.scenario.text.quantities import Size


class Step(QueueManagement):
    """Marks above an instantaneous depth: DCTCP's step (RFC 8257)."""

    kind: Literal["step"]
    threshold: Size
    """Depth above which ECN-capable frames are marked; other frames are dropped only at the
    limit."""

    drop_cause = None
    divided = ("threshold",)
    remedy = "step with ECN"

    def problems(self) -> Found:
        """No problems: a threshold of 0 marks every frame that waits."""
        yield from ()

    def lowered(self) -> Mapping[str, Any]:
        """See `QueueManagement`."""
        return {"threshold_bytes": self.threshold}

    def marks(self) -> bool:
        """Always."""
        return True

    def drops_capable(self) -> bool:
        """Never."""
        return False

    def drops_incapable(self) -> bool:
        """Never; only the limit of the queue drops frames."""
        return False

    def depths(self) -> Iterator[tuple[str, int]]:
        """The threshold."""
        yield "threshold", self.threshold

    @staticmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """See `QueueManagement`."""
        return f"marks above {write.size(raw['threshold_bytes'])}"
