"""Approximate fair drop."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from tailrace.scenario.policies.aqm.base import EarlyDrop, Found, Writer
from tailrace.scenario.text.quantities import Size


class Afd(EarlyDrop):
    """Approximate fair drop (Pan et al., CCR 2003) for the flows that the port's elephant trap
    identifies."""

    kind: Literal["afd"]
    desired: Size
    """Target queue depth; Cisco recommends 120 us at the line rate: 150kB at 10 Gbit/s [K]."""
    ecn: bool = False
    """Mark ECN-capable frames instead of dropping them."""

    drop_cause = "afd"
    divided = ("desired",)
    remedy = "afd"
    needs_trap = True

    def problems(self) -> Found:
        """See `QueueManagement`."""
        if self.desired == 0:
            yield ("desired",), "`desired` must be greater than zero", "150kB suits 10 Gbit/s"

    def lowered(self) -> Mapping[str, Any]:
        """See `QueueManagement`."""
        return {"desired_bytes": self.desired, "ecn": self.ecn}

    def depths(self) -> Iterator[tuple[str, int]]:
        """See `QueueManagement`."""
        yield "desired", self.desired

    @staticmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """See `QueueManagement`."""
        verb = "marks" if raw["ecn"] else "drops"
        return f"AFD {verb} elephants to keep {write.size(raw['desired_bytes'])}"
