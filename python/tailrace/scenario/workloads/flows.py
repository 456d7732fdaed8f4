"""Finite TCP flows with independent arrivals."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.quantities import (
    Count,
    HostNames,
    Share,
    SizeDistribution,
    Time,
    TimeDistribution,
)
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    WorkloadKind,
    scaled_count,
    too_late,
)
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.ports import FLOWS

ONE_PPB = 10**9
LOAD_PPB_MAX = 2 * ONE_PPB
"""Upper limit of the load, twice the rate of the links: a higher load would not change the
result."""


class Flows(WorkloadKind):
    """Finite TCP flows with independent arrivals and sizes from a distribution."""

    kind: Literal["flows"]
    sources: HostNames = "all"
    """Hosts from which the source of each flow is drawn."""
    destinations: HostNames = "all"
    """Hosts from which the destination of each flow is drawn, never the source."""
    sizes: SizeDistribution
    """Flow sizes: a distribution or the name of a published one."""
    interarrival: TimeDistribution | None = None
    """Gap between arrivals over all sources together. Alternative to `load`."""
    load: Share | None = None
    """Poisson arrivals with this offered load, as a share of all links of the sources together.

    Alternative to `interarrival`.
    """
    flows: Annotated[Count, Field(ge=1)] | None = None
    """Number of flows. Default: until the end of the trial."""
    start: Time = 0
    """Time before the first gap."""
    first_at_start: bool = False
    """The first flow comes at `start`, and not a gap later."""

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="flows",
            group_noun="workloads",
            protocol="tcp",
            is_open_loop=True,
            is_ever_done=True,
            done_key="transactions",
            latency="flow completion time",
            metrics=frozenset(),
            main_metrics=("latency_p99_ms", "goodput_gbps"),
            sweep_metrics=("latency_p50_ms", "latency_p99_ms", "goodput_gbps"),
            load_metric=("goodput_gbps", "goodput, Gbit/s"),
            growth=None,
            has_slowdown_by_size=True,
            are_datagrams_timed=False,
            is_unasked=True,
            live_load=None,
            live_refusal="no real program generates flows with sizes from a distribution",
        )

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        return Ends(body["sources"], body["destinations"], are_openers_receivers=False)

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return int(body.get("flows", 0))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return None

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        for key in ("sources", "destinations"):
            names = getattr(self, key)
            if names != "all":
                yield from (((key, index), name) for index, name in enumerate(names))

    def path_problems(self, graph: Graph) -> Found:
        destinations = self._receivers(graph)
        only = destinations[0] if len(set(destinations)) == 1 else None
        # One destination of each connected component is enough; checking all pairs of hosts would
        # take quadratic time.
        first_of: dict[int, str] = {}
        for name in destinations:
            first_of.setdefault(graph.islands[name], name)
        for source in self.senders(graph):
            if source == only or not destinations:
                yield (
                    (),
                    f"host '{source}' has no destination but itself",
                    "add another destination",
                )
            lost = next(
                (name for island, name in first_of.items() if island != graph.islands[source]), None
            )
            if lost:
                yield (
                    (),
                    f"no path leads from '{source}' to '{lost}'",
                    "join their switches in network.links",
                )
                return

    def senders(self, graph: Graph) -> list[str]:
        return graph.hosts if self.sources == "all" else self.sources

    def _receivers(self, graph: Graph) -> Sequence[str]:
        return graph.hosts if self.destinations == "all" else self.destinations

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return hosts if self.destinations == "all" else set(self.destinations)

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    def problems(self, around: Surroundings) -> Found:
        if self.sizes.mean < 1:
            yield (
                ("sizes",),
                "`sizes` must be greater than zero",
                "write a size such as 100kB, or web-search",
            )
        if (self.load is None) == (self.interarrival is None):
            yield (
                (),
                "arrivals need either load or interarrival",
                "write load: 50% or interarrival: exponential(100us)",
            )
        if self.load is not None and not 0 < self.load <= LOAD_PPB_MAX:
            yield (
                ("load",),
                f"a load of {self.load / 1e7:g} % is out of range",
                "write more than 0% and at most 200%",
            )
        if self.interarrival is not None and self.interarrival.mean < 1:
            what = "`interarrival` must be greater than zero"
            yield ("interarrival",), what, "write a gap such as exponential(100us)"
        for key in ("sources", "destinations"):
            if not getattr(self, key):
                yield (key,), "the list of hosts is empty", "name hosts, or write all"
        yield from too_late(self.start, around)

    def cautions(self, around: Surroundings) -> Found:
        if self.load is not None and self.load > ONE_PPB:
            what = (
                f"an offered load of {self.load / ONE_PPB:.0%} exceeds the sources' links: queues "
                "grow until the end of the trial, and results depend on its duration"
            )
            yield ("load",), what, "write at most 100%"

    def least_time(self, graph: Graph) -> LeastTime | None:
        if not self.flows:
            return None
        if self.interarrival is not None:
            needed_s = (self.start + self.flows * self.interarrival.mean) / PS_PER_S
        elif self.load:
            needed_s = self.start / PS_PER_S + self.flows * self.sizes.mean * 8 / self._offered_bps(
                graph
            )
        else:
            return None
        return LeastTime(needed_s, "at the pace of its arrivals", "flows")

    def _offered_bps(self, graph: Graph) -> float:
        assert self.load is not None, "checks reject flows without arrivals"
        return sum(graph.rates_bps[host] for host in self.senders(graph)) * self.load / ONE_PPB

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    def usual_port(self) -> int:
        return FLOWS

    def held_ports(self) -> list[tuple[str, str, int]]:
        return []

    def start_ps(self) -> int:
        return self.start

    def is_first_at_start(self) -> bool:
        return self.first_at_start

    def live_choices(self) -> Raw:
        return {}

    def lowered(self, graph: Graph) -> Raw:
        return {
            "sources": self.senders(graph),
            "destinations": self._receivers(graph),
            "sizes": self.sizes.raw,
            "interarrival": self._arrivals(graph),
            "flows": self.flows or 0,
        }

    def _arrivals(self, graph: Graph) -> Raw:
        if self.interarrival is not None:
            return self.interarrival.raw
        return {
            "exponential": {
                "mean": round(self.sizes.mean * 8 * PS_PER_S / self._offered_bps(graph))
            }
        }

    def work(self) -> int:
        return self.flows or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={"flows": scaled_count(self.flows, factor), "start": round(self.start * factor)},
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        slower = None if self.interarrival is None else self.interarrival.scaled(scale.divisor)
        flows = division.divided_count(self.flows, scale.divisor)
        return self.model_copy(update={"flows": flows, "interarrival": slower})

    def closed_loop(self) -> ClosedLoop | None:
        return None
