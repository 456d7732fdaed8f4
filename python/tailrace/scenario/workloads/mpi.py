"""Ranks of an MPI job that run a benchmark: point-to-point messages and collectives."""

from collections.abc import Iterator, Mapping, Set
from itertools import islice
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.programs import LOADS, choices_of, one_of
from tailrace.scenario.text.quantities import Count, Rate, Size, Time, TimeDistribution
from tailrace.scenario.workloads import division, mpi_checks
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    WorkloadKind,
    named_problems,
)
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.ports import MPI
from tailrace.scenario.workloads.request_parts import AT_ONCE

Pattern = Literal["pingpong", "ring", "exchange", "allreduce", "alltoall", "bcast", "barrier"]
Algorithm = Literal[
    "auto",
    "recursive-doubling",
    "ring",
    "rabenseifner",
    "linear",
    "pairwise",
    "bruck",
    "chain",
    "binary",
    "binomial",
    "knomial",
    "scatter-ring",
]
MpiProgram = Annotated[str, one_of(LOADS, "mpi-job"), choices_of(LOADS, "mpi-job")]
PS_PER_US = PS_PER_S // 10**6
SIZES = [0, *(1 << power for power in range(23))]
"""Those of the Intel MPI Benchmarks: 0, 1, 2, 4 ... bytes to 4 MiB [K]."""
REDUCED_MIN = 4
"""Bytes of `MPI_FLOAT`, the shortest message of a reduction."""
VOLUME = 40 << 20
"""`overall_vol` of the Intel MPI Benchmarks: 40 MiB for each size [K]."""
EAGER_LIMIT = 65_480
"""The longest message that Open MPI 4.1.4 sends at once over TCP: `btl_tcp_eager_limit` of 64 KiB
less the 56 bytes of the largest header [S: seen with strace].
"""
LISTED_MAX = 1000
"""Ranks that are named in a message at most."""


class Mpi(WorkloadKind):
    """Ranks of an MPI job that run a benchmark as the Intel MPI Benchmarks do, over TCP as Open MPI
    4.1 does."""

    kind: Literal["mpi"]
    hosts: Annotated[list[str], Field(max_length=127)]
    """Hosts of the ranks."""
    ranks: Annotated[Count, Field(ge=2, le=127)] | None = None
    """Number of ranks. Default: one for each host."""
    map_by: Literal["node", "slot"] = "node"
    """Placement of ranks as of Open MPI's `--map-by`: `node` puts consecutive ranks on different
    hosts, `slot` fills one host after the other.
    """
    pattern: Pattern = "pingpong"
    """What the ranks do: two send a message there and back (`pingpong`), each sends to the next
    (`ring`, IMB Sendrecv), each sends to both neighbours (`exchange`), or a collective of all.
    """
    algorithm: Algorithm = "auto"
    """How a collective is done; `auto` chooses by ranks and size as Open MPI 4.1.4 does."""
    sizes: Annotated[list[Size], Field(min_length=1, max_length=64)] | None = None
    """Sizes of messages, in order. Default: 0, 1, 2, 4 ... bytes to 4 MiB; a barrier has none."""
    iterations: Annotated[Count, Field(ge=1, le=1_000_000)] = 1000
    """Iterations of each size that count, fewer where `volume` is reached before."""
    volume: Size = VOLUME
    """Largest sum of an iteration's size over the iterations of a size (`overall_vol` of IMB).
    Default: 40 MiB."""
    warm_up_iterations: Annotated[Count, Field(le=100_000)] = 4
    """Iterations of each size before those that count [A]; 0 to 100. The first of all opens
    connections."""
    compute: TimeDistribution = AT_ONCE
    """Time for which a rank computes before each iteration; it does not count. Default: none."""
    start: Time = 0
    """Time before the first call."""
    eager_limit: Size = EAGER_LIMIT
    """Largest message that is sent at once; a longer one is announced, asked for and then sent.
    Default: 65480B."""
    send_overhead: Time = PS_PER_US
    """Time of a rank for each thing that it hands to a connection: a message, an announcement, its
    data [A]; 0 to 10us.
    """
    receive_overhead: Time = PS_PER_US
    """Time of a rank for each thing that it takes from a connection [A]; 0 to 10us."""
    copy_rate: Rate | None = None
    """Rate at which the receiver copies messages that were sent at once. Default: copies take no
    time."""
    reduce_rate: Rate = 32 * 10**9
    """Rate at which a rank combines what has come with what it has [A]; 8 to 100Gbit/s. Default:
    32Gbit/s."""
    local_latency: Time = PS_PER_US // 2
    """Time of a message between ranks of one host, through its memory [A]; 0.2 to 2us."""
    local_rate: Rate | None = 40 * 10**9
    """Rate of its bytes [A]; 20 to 100Gbit/s. Default: 40Gbit/s."""

    load_generator: MpiProgram = LOADS["mpi-job"][0]
    """Program of the ranks in live runs; the simulator ignores it. The default has all patterns,
    the others have the pingpong alone.
    """

    # --- facts ------------------------------------------------------------------------------------

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="iterations",
            group_noun="jobs",
            protocol="tcp",
            is_open_loop=False,
            is_ever_done=True,
            done_key="transactions",
            latency="time of an iteration",
            metrics=frozenset({"completion_s", "rate_per_s", "connections_opened"}),
            # A percentile of all iterations is that of no size where a job has several, which is
            # the default.
            main_metrics=("completion_s", "rate_per_s", "latency_p50_ms"),
            sweep_metrics=("latency_p50_ms", "latency_p99_ms", "rate_per_s"),
            load_metric=None,
            growth=None,
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=True,
            live_load="mpi-job",
            live_refusal=None,
        )

    def exact_refusal(self) -> str | None:
        return "ranks of MPI are simulated only: the traffic program has no library of MPI"

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        hosts = list(dict.fromkeys(body["ranks"]))
        return Ends(hosts, hosts, are_openers_receivers=False)

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        timed = 1 if body["pattern"] == "pingpong" else len(body["ranks"])
        return int(sum(body["iterations"])) * timed

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return 2 if body["pattern"] == "pingpong" else 1

    # --- hosts ------------------------------------------------------------------------------------

    @property
    def rank_hosts(self) -> list[str]:
        """The host of each rank."""
        count = len(self.hosts) if self.ranks is None else self.ranks
        if self.map_by == "node":
            return [self.hosts[rank % len(self.hosts)] for rank in range(count)]
        of_each = -(-count // len(self.hosts))
        return list(islice((host for host in self.hosts for _ in range(of_each)), count))

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        yield from ((("hosts", index), name) for index, name in enumerate(self.hosts))

    def path_problems(self, graph: Graph) -> Found:
        first, *others = dict.fromkeys(self.hosts) or [""]
        for other in others:
            if found := list(named_problems(first, other, graph)):
                yield from ((("hosts",), what, hint) for _, what, hint in found)
                return

    def senders(self, graph: Graph) -> list[str]:
        return list(dict.fromkeys(self.hosts))

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return set(self.hosts)

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    # --- checks -----------------------------------------------------------------------------------

    @property
    def message_sizes(self) -> list[int]:
        """Sizes in order, of a barrier a single one without bytes."""
        if self.pattern == "barrier":
            return [0]
        if self.sizes is not None:
            return self.sizes
        return [size for size in SIZES if self.pattern != "allreduce" or size >= REDUCED_MIN]

    def iterations_of(self, size: int) -> int:
        """Iterations of a size that count."""
        return min(self.iterations, max(1, self.volume // size)) if size else self.iterations

    def problems(self, around: Surroundings) -> Found:
        yield from mpi_checks.problems(self, around)

    def cautions(self, around: Surroundings) -> Found:
        yield from mpi_checks.cautions(self)

    def least_time(self, graph: Graph) -> LeastTime | None:
        hosts = set(self.rank_hosts)
        if self.pattern != "pingpong" or len(hosts) < 2:
            return None
        own_bps = min(graph.rates_bps[host] for host in self.rank_hosts[:2])
        there_and_back = sum(2 * size * self.iterations_of(size) for size in self.message_sizes)
        return LeastTime(
            self.start / PS_PER_S + there_and_back * 8 / own_bps, "at the line rate", "iterations"
        )

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    def usual_port(self) -> int:
        return MPI

    def held_ports(self) -> list[tuple[str, str, int]]:
        """At most a connection with each rank of another host, which either end opens."""
        ranks = self.rank_hosts
        return [
            (host, "ranks", ranks.count(host) * (len(ranks) - ranks.count(host)))
            for host in dict.fromkeys(ranks)
        ]

    # --- plan -------------------------------------------------------------------------------------

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        # Only where the scenario names it: the hash of other plans does not change.
        return (
            {"load_generator": self.load_generator}
            if "load_generator" in self.model_fields_set
            else {}
        )

    def lowered(self, graph: Graph) -> Raw:
        sizes = self.message_sizes
        return {
            "pattern": self.pattern,
            "ranks": self.rank_hosts,
            "sizes_bytes": sizes,
            "iterations": [self.iterations_of(size) for size in sizes],
            "warm_up_iterations": self.warm_up_iterations,
            "compute": self.compute.raw,
            "algorithm": None if self.algorithm == "auto" else self.algorithm,
            "eager_limit_bytes": self.eager_limit,
            "send_overhead_ps": self.send_overhead,
            "receive_overhead_ps": self.receive_overhead,
            "copy_bps": self.copy_rate or 0,
            "combine_bps": self.reduce_rate,
            "local_latency_ps": self.local_latency,
            "local_bps": self.local_rate or 0,
        }

    # --- experiments ------------------------------------------------------------------------------

    def work(self) -> int:
        return sum(self.iterations_of(size) for size in self.message_sizes)

    def scaled(self, factor: float) -> Self:
        """A shorter trial has fewer iterations of each size."""
        return self.model_copy(
            update={
                "iterations": max(1, round(self.iterations * factor)),
                "volume": max(1, round(self.volume * factor)),
                "start": round(self.start * factor),
            },
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        return self

    def closed_loop(self) -> ClosedLoop | None:
        return None
