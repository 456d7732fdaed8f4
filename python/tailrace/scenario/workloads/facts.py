"""What is true of every workload of a kind. Results and reports need it without the scenario."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

LATENCY = "latency_"
"""Beginning of the names of all metrics of latency."""
ALWAYS_RECORDED = ("goodput_gbps", "loss_percent", "timeouts")
"""Metrics that every workload may have, whatever its kind."""
LiveLoad = Literal["transactions", "tcp-stream", "udp-datagrams"]
"""Sorts of load that programs of live runs generate."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about a kind. There are no defaults: a new kind states each of them."""

    noun: str
    """What a workload of the kind does, in the plural, such as `transactions`."""
    group_noun: str
    """What several workloads of the kind are called, such as `databases`."""
    protocol: Literal["tcp", "udp"]
    is_open_loop: bool
    """Whether arrivals do not wait for earlier ones: the completion time is then that of the last arrival, and is
    no measure of the network."""
    is_ever_done: bool
    """Whether a workload with a number to do reports its completion; lost datagrams are not sent again."""
    done_key: Literal["transactions", "goodput_bytes"]
    """Key of an outcome that counts what was done, in the unit of `work`."""
    latency: str | None
    """Name of its latency, such as `flow completion time`; None where none is recorded."""
    metrics: frozenset[str]
    """Metrics that its results hold besides latencies and those of every kind."""
    main_metrics: tuple[str, ...]
    """Metrics by which arms are compared, the first one that all trials have."""
    sweep_metrics: tuple[str, ...]
    """Metrics that the report of a sweep draws; its tables hold all."""
    load_metric: tuple[str, str] | None
    """Metric of the carried load, and its name on an axis; None where latency is not drawn against load."""
    has_slowdown_by_size: bool
    """Whether completion times are compared by the size of the transfer."""
    live_load: LiveLoad | None
    """The load that a program of a live run must generate; None where none can."""
    live_refusal: str | None
    """Why no program can, where `live_load` is None."""

    def __post_init__(self) -> None:
        assert (self.live_load is None) == (self.live_refusal is not None), "a refusal states its reason"

    def has_metric(self, metric: str) -> bool:
        """Whether results of a workload of this kind hold a metric of the headline."""
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
    """Hosts to which they do."""
    are_openers_receivers: bool
    """Whether most bytes go to the openers; otherwise they go to the peers."""

    @property
    def receivers(self) -> Sequence[str]:
        """Hosts that most bytes go to."""
        return self.openers if self.are_openers_receivers else self.peers

    @property
    def senders(self) -> Sequence[str]:
        """Hosts that most bytes come from."""
        return self.peers if self.are_openers_receivers else self.openers
