"""Facts about every workload of a kind, which results and reports need without the scenario."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LATENCY = "latency_"
"""Prefix of the names of all latency metrics."""
ALWAYS_RECORDED = ("goodput_gbps", "loss_percent", "timeouts")
"""Metrics that every workload may have, whatever its kind."""
LiveLoad = Literal[
    "transactions",
    "tcp-stream",
    "udp-datagrams",
    "raw-frames",
    "request-response",
    "recorded-requests",
    "block-exchange",
    "block-storage",
    "mpi-job",
]
"""Sorts of load that live programs generate."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a kind. There are no defaults: a new kind must state each of them."""

    noun: str
    """Unit of work of the kind, in the plural, such as `transactions`."""
    group_noun: str
    """Name of several workloads of the kind, such as `databases`."""
    protocol: Literal["tcp", "udp"]
    is_open_loop: bool
    """Whether arrivals are independent of earlier ones (open loop): the completion time is then
    that of the last arrival, and does not measure the network.
    """
    is_ever_done: bool
    """Whether a finite workload reports its completion; datagrams do not, since lost ones are not
    retransmitted."""
    done_key: Literal["transactions", "goodput_bytes"]
    """Key of an outcome with the amount of completed work, in the unit of `work`."""
    latency: str | None
    """Name of its latency, such as `flow completion time`; None for a kind without latencies."""
    metrics: frozenset[str]
    """Metrics of its results besides latencies and those of every kind."""
    main_metrics: tuple[str, ...]
    """Metrics by which arms are compared; the first one that all trials have is used."""
    sweep_metrics: tuple[str, ...]
    """Metrics drawn in the report of a sweep; its tables contain all."""
    load_metric: tuple[str, str] | None
    """Metric of the carried load, and its axis label; None where latency is not drawn against
    load."""
    growth: tuple[str, str] | None
    """Key of a plan with the number of those that work at the same time, and the metric of what
    they do together, by which scalability is judged; None for a kind without answers to wait for.
    """
    has_slowdown_by_size: bool
    """Whether completion times are compared by the size of the transfer."""
    are_datagrams_timed: bool
    """Whether each latency is that of a datagram: lost ones are then those that have none."""
    is_unasked: bool
    """Whether its connections carry data that was not asked for on them: there are no requests and
    responses."""
    live_load: LiveLoad | None
    """The sort of load that a live program must generate; None if no program can."""
    live_refusal: str | None
    """The reason, if `live_load` is None."""

    def __post_init__(self) -> None:
        assert (self.live_load is None) == (self.live_refusal is not None), (
            "a refusal states its reason"
        )

    def has_metric(self, metric: str) -> bool:
        """Whether results of a workload of this kind have a metric of the headline."""
        if metric.startswith(LATENCY):
            return self.latency is not None
        return metric in ALWAYS_RECORDED or metric in self.metrics

    @property
    def waits_are_explained(self) -> bool:
        """Whether reports attribute the latency to queues and retransmission timeouts."""
        return self.latency is not None and self.protocol == "tcp"


@dataclass(frozen=True)
class Ends:
    """Hosts of a workload in a plan."""

    openers: Sequence[str]
    """Hosts that open connections, or send datagrams."""
    peers: Sequence[str]
    """Hosts that accept connections, or receive datagrams."""
    are_openers_receivers: bool
    """Whether most bytes go to the openers rather than to the peers."""

    @property
    def receivers(self) -> Sequence[str]:
        """Hosts that receive most bytes."""
        return self.openers if self.are_openers_receivers else self.peers

    @property
    def senders(self) -> Sequence[str]:
        """Hosts that send most bytes."""
        return self.peers if self.are_openers_receivers else self.openers
