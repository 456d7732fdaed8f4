"""Random early detection, also weighted."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from tailrace.scenario.policies.aqm.base import EarlyDrop, Found, Writer
from tailrace.scenario.text.quantities import Count, Part, Share, Size

ONE_PPB = 10**9
PPB_PER_PERCENT = 10**7
PPB_PER_MILLE = 10**6
ORDER_HINT = "swap the two values; equal thresholds are a step"


class NotCapable(Part):
    """Thresholds for frames that cannot be marked."""

    minimum: Size
    """Average depth below which nothing is dropped."""
    maximum: Size
    """Average depth from which every frame is marked or dropped; see `gentle`. Equal to `minimum`:
    a step."""
    probability: Share = 20_000_000
    """Probability just below the maximum; 2% is the classic 1/50."""

    def problems(self) -> Found:
        """Problems of its values."""
        if self.minimum > self.maximum:
            yield (), "the minimum is above the maximum", ORDER_HINT
        if self.probability > ONE_PPB:
            yield (
                ("probability",),
                f"{self.probability / PPB_PER_PERCENT:g} % is not a probability",
                "write at most 100%",
            )


class Red(EarlyDrop):
    """Random early detection (Floyd and Jacobson 1993), weighted where `not_capable` differs
    (WRED).

    Equal thresholds are a step: no frame is marked or dropped below them, and every frame is above.
    """

    kind: Literal["red"]
    minimum: Size
    """Average depth below which nothing is dropped."""
    maximum: Size
    """Average depth from which every frame is marked or dropped; see `gentle`. Equal to `minimum`:
    a step."""
    probability: Share = 20_000_000
    """Probability just below the maximum; 2% is the classic 1/50."""
    weight_exponent: Annotated[Count, Field(le=15)] = 9
    """Weight of the average as a negative power of two: 9 is 0.002, 0 is the instantaneous
    depth."""
    ecn: bool = False
    """Mark ECN-capable frames instead of dropping them."""
    not_capable: NotCapable | None = None
    """Thresholds for frames that cannot be marked. Default: the same."""
    gentle: bool = False
    """true: the probability rises to one between the maximum and twice the maximum, as in ns-3;
    false: it is one at the maximum.
    """

    drop_cause = "red"
    divided = ("minimum", "maximum")
    remedy = "red"

    def problems(self) -> Found:
        """See `QueueManagement`."""
        if self.minimum > self.maximum:
            yield (), "the minimum is above the maximum", ORDER_HINT
        if self.maximum == 0:
            what = "`maximum` must be greater than zero"
            yield ("maximum",), what, "write the depth above which every frame is marked or dropped"
        if self.probability > ONE_PPB:
            yield (
                ("probability",),
                f"{self.probability / PPB_PER_PERCENT:g} % is not a probability",
                "write at most 100%",
            )
        if self.not_capable is not None:
            for path, what, hint in self.not_capable.problems():
                yield ("not_capable", *path), what, hint

    def lowered(self) -> Mapping[str, Any]:
        """See `QueueManagement`."""
        raw: dict[str, Any] = {
            "minimum_bytes": self.minimum,
            "maximum_bytes": self.maximum,
            "probability_milli": round(self.probability / PPB_PER_MILLE),
            "weight_exponent": self.weight_exponent,
            "ecn": self.ecn,
        }
        if (other := self.not_capable) is not None:
            raw["not_capable"] = [
                other.minimum,
                other.maximum,
                round(other.probability / PPB_PER_MILLE),
            ]
        if self.gentle:
            raw["gentle"] = True
        return raw

    def depths(self) -> Iterator[tuple[str, int]]:
        """See `QueueManagement`."""
        yield "minimum", self.minimum

    @staticmethod
    def described(raw: Mapping[str, Any], write: Writer) -> str:
        """See `QueueManagement`."""
        verb = "marks" if raw["ecn"] else "drops"
        bounds = f"{write.size(raw['minimum_bytes'])} and {write.size(raw['maximum_bytes'])}"
        beyond = (
            ", rising to all at twice the maximum" if raw.get("gentle") else " and everything above"
        )
        words = f"RED {verb} up to {raw['probability_milli'] / 10:g} % between {bounds}{beyond}"
        if other := raw.get("not_capable"):
            low, high, milli = other
            words += (
                f", drops the rest up to {milli / 10:g} % between {write.size(low)} and "
                f"{write.size(high)}"
            )
        return words
