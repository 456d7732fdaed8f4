"""Active queue management: which frames are marked or dropped before a queue is full."""

from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.text.quantities import Count, Part, Share, Size, Time


class NoAqm(Part):
    """The limit alone (tail drop)."""

    kind: Literal["none"]


class Step(Part):
    """Mark above an instantaneous depth: DCTCP's step (RFC 8257)."""

    kind: Literal["step"]
    threshold: Size
    """Depth above which an ECN-capable frame is marked; the others pass, and only the limit drops them."""


class NotCapable(Part):
    """Thresholds for frames that cannot be marked."""

    minimum: Size
    """Average depth below which nothing is dropped."""
    maximum: Size
    """Average depth from which every frame is marked or dropped; see `gentle`. Equal to `minimum`: a step."""
    probability: Share = 20_000_000
    """Probability just below the maximum; 2% is the classic 1/50."""


class Red(Part):
    """Random early detection (Floyd and Jacobson 1993), weighted where `not_capable` differs (WRED).

    A minimum at the maximum is a step: nothing happens below it, and everything above it is marked or dropped.
    """

    kind: Literal["red"]
    minimum: Size
    """Average depth below which nothing is dropped."""
    maximum: Size
    """Average depth from which every frame is marked or dropped; see `gentle`. Equal to `minimum`: a step."""
    probability: Share = 20_000_000
    """Probability just below the maximum; 2% is the classic 1/50."""
    weight_exponent: Annotated[Count, Field(le=15)] = 9
    """The average's weight is 2 to the minus this; 9 is 0.002, 0 is the instantaneous depth."""
    ecn: bool = False
    """Mark ECN-capable frames instead of dropping them."""
    not_capable: NotCapable | None = None
    """Thresholds for frames that cannot be marked. Left out: the same."""
    gentle: bool = False
    """The probability rises to one from the maximum to twice the maximum, as in ns-3; false: one at the maximum."""


class Afd(Part):
    """Approximate fair drop (Pan et al., CCR 2003) of the flows that the port's elephant trap names."""

    kind: Literal["afd"]
    desired: Size
    """Depth to be kept; Cisco's recommendation is 120 us of the line: 150kB at 10 Gbit/s [K]."""
    ecn: bool = False
    """Mark ECN-capable frames instead of dropping them."""


class Codel(Part):
    """CoDel (RFC 8289)."""

    kind: Literal["codel"]
    target: Time = 5 * 10**9
    """Acceptable standing delay."""
    interval: Time = 100 * 10**9
    """Window of the minimum."""
    ecn: bool = False
    """Mark ECN-capable frames instead of dropping them."""
    ce_threshold: Time = 0
    """Mark every ECN-capable frame that waited longer; 0s for never."""


Aqm = Annotated[NoAqm | Step | Red | Afd | Codel, Field(discriminator="kind")]

ETRAP_PROFILES_PS: dict[str, tuple[int, int]] = {
    "mesh": (20_000_000, 10_000_000),
    "burst": (50_000_000, 25_000_000),
    "ultra-burst": (100_000_000, 50_000_000),
}
"""Age period of the elephant trap and period of AFD by profile (Nexus 9000 QoS guide, `hardware qos afd profile`)."""


class Etrap(Part):
    """Elephant trap of a Nexus 9000: flows of many bytes that keep sending are elephants, which AFD acts on."""

    profile: Literal["mesh", "burst", "ultra-burst"] = "burst"
    """Periods: mesh 20us/10us, burst 50us/25us (the switch's default), ultra-burst 100us/50us."""
    byte_count: Size = 1_048_555
    """A flow of more bytes is an elephant [K]: the NX-OS default."""
    age: Time | None = None
    """Period in which an elephant must send `bandwidth_threshold`, or it is evicted. Left out: the profile's."""
    afd_period: Time | None = None
    """Period of AFD. Left out: the profile's, as on every Nexus; links below 10 Gbit/s need a longer one."""
    bandwidth_threshold: Size = 500
    """See `age` [K]: the NX-OS default."""
    table_entries: Count = 65_536
    """Entries of the flow table, a power of two."""

    def periods_ps(self) -> tuple[int, int]:
        """Age period and AFD period."""
        age_ps, afd_ps = ETRAP_PROFILES_PS[self.profile]
        return (age_ps if self.age is None else self.age), (afd_ps if self.afd_period is None else self.afd_period)
