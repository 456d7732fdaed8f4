"""Blocks and messages that the nodes of a cluster database exchange as datagrams."""

from collections.abc import Iterator, Mapping, Set
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.text.distribution import parse_distribution
from tailrace.scenario.text.quantities import Count, SizeDistribution, Time, TimeDistribution
from tailrace.scenario.text.units import SIZE
from tailrace.scenario.vocabulary import BLOCK_METRICS
from tailrace.scenario.workloads import block_checks, division, loops
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
    scaled_count,
)
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.ports import BLOCKS
from tailrace.scenario.workloads.request_parts import AT_ONCE, MILLI, Spike, service

BLOCK = parse_distribution("8192B", SIZE)
"""Oracle's `db_block_size` is 8 KiB by default [S]; a message of several blocks has up to 64
KiB."""
MESSAGE = parse_distribution("200B", SIZE)
"""Estimate for messages of the interconnect [S: byte-way.com 2025, oracle-l 2009]."""
TIMEOUT_PS = PS_PER_S // 2
"""[A]; 0.1 s to 5 s."""
RETRIES = 3
"""[A]; 0 to 10."""
PROFILES: dict[str, tuple[float, float]] = {"awr-example": (0.975, 1.0)}
"""Blocks and messages of a transaction. The example of a database report (byte-way.com 2025): 1.56
blocks received and 0.39 served, 2.28 messages received and 3.67 sent. Nodes that are all alike
receive as many as they serve: 0.975 of each; a message asks for each block; the other 4.00 messages
are one each of the node's own, an answer to it, one of another node, an answer to that [D].
"""
ProfileName = Literal["awr-example"]


class Blocks(WorkloadKind):
    """Blocks and messages that the nodes of a cluster database exchange as datagrams, such as over
    the interconnect of Oracle RAC.
    """

    kind: Literal["blocks"]
    preset: ProfileName | None = None
    """Blocks and messages of a transaction as in a published profile; keys of the workload override
    it."""
    nodes: Annotated[list[str], Field(max_length=64)]
    """Hosts of the nodes; each asks all others for blocks."""
    clients: list[str] | None = None
    """Nodes with users: users are spread over them in turn, and so are arrivals. Default: all
    nodes."""
    users: Annotated[Count, Field(ge=1, le=60_000)] | None = None
    """Closed-loop users of all nodes together: each waits for its transaction. Alternative to
    `arrivals`."""
    gap: TimeDistribution | None = None
    """Pause of a user between a transaction and the next (think time). Default: none."""
    arrivals: TimeDistribution | None = None
    """Gap between arrivals of transactions, which do not wait for others. Alternative to
    `users`."""
    spikes: Annotated[list[Spike], Field(max_length=100)] = []
    """Times with more arrivals."""
    transactions: Annotated[Count, Field(ge=1)] | None = None
    """Number of transactions: of each user, or of all arrivals. Default: until the end of the
    trial."""
    start: Time = 0
    """Time before the first transaction; users then start at a random time within one mean gap."""
    blocks: Annotated[float, Field(ge=0, le=1000)] | None = None
    """Blocks that a transaction asks other nodes for, on average: each asks for this or the next
    whole number, and draws the node of each block. Default: that of the preset, or 1.
    """
    messages: Annotated[float, Field(ge=0, le=1000)] | None = None
    """Messages that a transaction sends besides, after its blocks; each is answered by a message.
    Default: that of the preset, or 0.
    """
    parallel: bool = False
    """All blocks of a transaction are asked for at once, and all messages are sent at once; false
    sends each after the answer to the one before.
    """
    block: SizeDistribution = BLOCK
    """Payload of the datagram that carries a block, at most 65507 bytes. Default: 8192B."""
    message: SizeDistribution = MESSAGE
    """Payload of a message, of one that asks for a block, and of an answer. Default: 200B."""
    server_time: TimeDistribution = AT_ONCE
    """Time that a node takes to send a block, without a processor."""
    server_work: TimeDistribution = AT_ONCE
    """Time that a core of the node works on it."""
    concurrency: Annotated[Count, Field(ge=1, le=100_000)] | None = None
    """Blocks that each node sends at the same time (its LMS processes); further ones wait, first
    come first served. Default: without limit.
    """
    message_time: TimeDistribution = AT_ONCE
    """Time that a node takes to answer a message, without a processor."""
    message_work: TimeDistribution = AT_ONCE
    """Time that a core of the node works on it."""
    timeout: Time = TIMEOUT_PS
    """Time after which a block or an answer counts as lost and is asked for again [A]. Default:
    500ms."""
    retries: Annotated[Count, Field(ge=0, le=100)] = RETRIES
    """Number of times that it is asked for again before its transaction fails [A]."""

    # --- facts ------------------------------------------------------------------------------------

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="transactions",
            group_noun="clusters",
            protocol="udp",
            is_open_loop=True,
            is_ever_done=True,
            done_key="transactions",
            latency="transaction latency",
            metrics=frozenset(
                {"completion_s", "rate_per_s", "failed_percent", "lost_queries", *BLOCK_METRICS}
            ),
            main_metrics=("latency_p99_ms", "rate_per_s", "goodput_gbps"),
            sweep_metrics=("rate_per_s", "latency_p50_ms", "latency_p99_ms", "failed_percent"),
            load_metric=("rate_per_s", "transactions per second"),
            growth=("users", "rate_per_s"),
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=False,
            live_load="block-exchange",
            live_refusal=None,
        )

    @classmethod
    def ends_in(cls, body: Mapping[str, Any]) -> Ends:
        return Ends(body["clients"], body["nodes"], are_openers_receivers=True)

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return int(body.get("transactions", 0) * (body.get("users", 0) or 1))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        """Its blocks and messages, one after the other or all at once."""
        sums = [int(body.get("blocks_milli", 0)), int(body.get("messages_milli", 0))]
        if body.get("is_parallel"):
            return sum(milli > 0 for milli in sums)
        return sum(-(-milli // MILLI) for milli in sums)

    @classmethod
    def is_answered_in(cls, body: Mapping[str, Any]) -> bool:
        return True

    # --- hosts ------------------------------------------------------------------------------------

    @property
    def client_hosts(self) -> list[str]:
        """Nodes with users."""
        return self.nodes if self.clients is None else self.clients

    def named_ends(self) -> Iterator[tuple[KeyPath, str]]:
        yield from ((("nodes", index), name) for index, name in enumerate(self.nodes))
        yield from ((("clients", index), name) for index, name in enumerate(self.clients or ()))

    def path_problems(self, graph: Graph) -> Found:
        if len(set(self.nodes)) < len(self.nodes):
            return  # a problem of its values
        for client in dict.fromkeys(self.client_hosts):
            for node in self.nodes:
                if node != client and (found := list(named_problems(client, node, graph))):
                    yield from ((("nodes",), what, hint) for _, what, hint in found)
                    return

    def senders(self, graph: Graph) -> list[str]:
        return list(dict.fromkeys(self.nodes))

    def bulk_receivers(self, hosts: Set[str]) -> Set[str]:
        return set(self.client_hosts)

    def pinned_keys(self) -> tuple[str, ...]:
        return ()

    # --- checks -----------------------------------------------------------------------------------

    @property
    def profile(self) -> tuple[float, float]:
        """Blocks and messages of a transaction."""
        blocks, messages = PROFILES[self.preset] if self.preset else (1.0, 0.0)
        return (
            blocks if self.blocks is None else self.blocks,
            messages if self.messages is None else self.messages,
        )

    def problems(self, around: Surroundings) -> Found:
        yield from block_checks.problems(self, around)

    def cautions(self, around: Surroundings) -> Found:
        yield from block_checks.cautions(self)

    def least_time(self, graph: Graph) -> LeastTime | None:
        return loops.least_time(
            self, self.transactions, self.gap.mean if self.gap else 0.0, "transactions"
        )

    def bulk_to(self) -> tuple[str, int] | None:
        return None

    def long_flows(self) -> LongFlows | None:
        return None

    def usual_port(self) -> int:
        return BLOCKS

    def held_ports(self) -> list[tuple[str, str, int]]:
        """A socket for blocks and one for messages with each other node: of each user, or of all
        arrivals."""
        opened = 2 * (len(self.nodes) - 1)
        if self.users is None:
            return [(host, "nodes", opened) for host in self.client_hosts]
        return [(host, "users", held) for host, held in loops.shares(self, opened)]

    # --- plan -------------------------------------------------------------------------------------

    def start_ps(self) -> int:
        return self.start

    def live_choices(self) -> Raw:
        return {}

    def lowered(self, graph: Graph) -> Raw:
        blocks, messages = self.profile
        return {
            "nodes": self.nodes,
            "clients": self.client_hosts,
            "users": self.users or 0,
            "gap": (self.gap or AT_ONCE).raw,
            "arrivals": None if self.arrivals is None else self.arrivals.raw,
            "spikes": [spike.lowered() for spike in self.spikes],
            "transactions": self.transactions or 0,
            "blocks_milli": round(blocks * MILLI),
            "messages_milli": round(messages * MILLI),
            "is_parallel": self.parallel,
            "block": self.block.raw,
            "message": self.message.raw,
            "block_service": service(self.server_time.raw, self.server_work.raw, self.concurrency),
            "message_service": service(self.message_time.raw, self.message_work.raw, None),
            "timeout_ps": self.timeout,
            "retries": self.retries,
        }

    # --- experiments ------------------------------------------------------------------------------

    def work(self) -> int:
        return self.transactions or 0

    def scaled(self, factor: float) -> Self:
        return self.model_copy(
            update={
                "transactions": scaled_count(self.transactions, factor),
                "start": round(self.start * factor),
                "spikes": [spike.scaled(factor) for spike in self.spikes],
            },
        )

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        return self.model_copy(
            update=loops.divided(self, self.transactions, "transactions", name, scale)
        )

    def closed_loop(self) -> ClosedLoop | None:
        return None
