"""CoDel (RFC 8289)."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tailrace.scenario.policies.aqm.base import EarlyDrop, Found, Writer
from tailrace.scenario.text.quantities import Time


class Codel(EarlyDrop):
    """CoDel (RFC 8289)."""

    kind: Literal["codel"]
    target: Time = 5 * 10**9
    """Acceptable standing delay."""
    interval: Time = 100 * 10**9
    """Interval over which the minimum delay is taken."""
    ecn: bool = False
    """Mark ECN-capable frames instead of dropping them."""
    ce_threshold: Time = 0
    """Mark every ECN-capable frame with a longer queueing delay; 0s for never."""

    drop_cause = "codel"
    divided = ()
    stretched = ("target", "interval", "ce_threshold")
    remedy = "codel"

    def problems(self) -> Found:
        """See `QueueManagement`."""
        if self.interval == 0:
            yield ("interval",), "`interval` must be greater than zero", "100ms is the default"
        if self.target == 0:
            yield ("target",), "`target` must be greater than zero", "5ms is the default"

    def lowered(self) -> Mapping[str, Any]:
        """See `QueueManagement`."""
        return {
            "target_ps": self.target,
            "interval_ps": self.interval,
            "ecn": self.ecn,
            "ce_threshold_ps": self.ce_threshold,
        }

    def marks(self) -> bool:
        """See `QueueManagement`."""
        return super().marks() or self.ce_threshold > 0

    def depths(self) -> Iterator[tuple[str, int]]:
        """See `QueueManagement`."""
        yield from ()

    @staticmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """See `QueueManagement`."""
        verb = "marks" if raw["ecn"] else "drops"
        return (
            f"CoDel {verb} above {write.span(raw['target_ps'])} over "
            f"{write.span(raw['interval_ps'])}"
        )
