"""Where the time of the transactions of one trial went."""

from tailrace.results.summary.base import Part


class Band(Part, frozen=True, kw_only=True):
    """Means over transactions whose latency is above the band before and at most at this
    percentile."""

    name: str
    count: int
    latency_ps: float
    parts: dict[str, float]
    """Picoseconds by part; together the mean latency."""
    windowed_ps: float
    receive_windowed_ps: float
    """Of `windowed_ps`, where it was the window of the receiver."""
    queues: dict[str, float]
    behind: dict[str, float]
    interfaces: dict[str, float]
    """Of `interface_queue`, by host."""
    interfaces_behind: dict[str, float]
    pauses: dict[str, float]
    """Of `paused`, by port and class."""
    losses: float
    """Dropped frames of the critical path, per transaction."""
    dropped: dict[str, float]
    """The same by port and dropping component, such as `before leaf>web (policed)`."""


class Slowest(Part, frozen=True, kw_only=True):
    """One of the slowest transactions."""

    latency_ps: int
    start_ps: int
    user: int
    sentence: str


class LostDatagrams(Part, frozen=True, kw_only=True):
    """Datagrams of one workload that were lost at one port, and therefore have no explanation."""

    port: str
    """The wire before which they were lost, as `node>neighbour`; drops of the neighbour are losses
    at the wire's end."""
    by: str
    """The dropping component: the cause of a switch, or a part of a host."""
    datagrams: int


class Explained(Part, frozen=True, kw_only=True):
    """One workload of an explained trial."""

    trial: int
    until_s: float | None
    """End of the explained interval, where only the beginning of the trial was explained."""
    transactions: int
    """0 where no transaction was complete; there are no bands then, and only losses are listed."""
    bands: list[Band]
    slowest: list[Slowest]
    """From the longest latency."""
    lost: list[LostDatagrams]
    """Datagrams that were lost and are not explained, in descending order of their number by port.
    """
    is_live: bool
    """Measured by the fabric of a live trial; the others are simulated."""

    @property
    def where(self) -> str:
        """`trial 1`, or `the first 0.4 s of trial 1`."""
        return (
            f"trial {self.trial}"
            if self.until_s is None
            else f"the first {self.until_s:.3g} s of trial {self.trial}"
        )
