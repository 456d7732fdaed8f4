"""The elephant trap, which identifies the flows on which approximate fair drop acts."""

from typing import Literal

from tailrace.scenario.text.quantities import Count, Part, Size, Time

ETRAP_PROFILES_PS: dict[str, tuple[int, int]] = {
    "mesh": (20_000_000, 10_000_000),
    "burst": (50_000_000, 25_000_000),
    "ultra-burst": (100_000_000, 50_000_000),
}
"""Age period of the elephant trap and period of AFD by profile (Nexus 9000 QoS guide, `hardware qos
afd profile`)."""


class Etrap(Part):
    """Elephant trap of a Nexus 9000: identifies flows that have sent many bytes and keep sending,
    on which AFD acts."""

    profile: Literal["mesh", "burst", "ultra-burst"] = "burst"
    """Periods: mesh 20us/10us, burst 50us/25us (the switch's default), ultra-burst 100us/50us."""
    byte_count: Size = 1_048_555
    """Bytes after which a flow is an elephant [K]: the NX-OS default."""
    age: Time | None = None
    """Period in which an elephant must send `bandwidth_threshold`, or it is evicted. Default: that
    of the profile."""
    afd_period: Time | None = None
    """Period of AFD. Default: that of the profile, as on every Nexus; links below 10 Gbit/s need a
    longer one."""
    bandwidth_threshold: Size = 500
    """Bytes that an elephant must send in each `age` period [K]: the NX-OS default."""
    table_entries: Count = 65_536
    """Entries of the flow table, a power of two."""

    def periods_ps(self) -> tuple[int, int]:
        """Age period and AFD period."""
        age_ps, afd_ps = ETRAP_PROFILES_PS[self.profile]
        return (age_ps if self.age is None else self.age), (
            afd_ps if self.afd_period is None else self.afd_period
        )
