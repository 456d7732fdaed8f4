"""Closed-loop users of a database."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from tailrace.errors import RunRefusedError
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.programs import LOADS, MYSQL_SERVICES, SERVICES, choices_of, one_of
from tailrace.scenario.text.distribution import Distribution, parse_distribution
from tailrace.scenario.text.quantities import (
    Count,
    Part,
    Rate,
    Size,
    SmallSize,
    Time,
    TimeDistribution,
)
from tailrace.scenario.text.units import TIME, exact_size
from tailrace.scenario.workloads import division
from tailrace.scenario.workloads.base import (
    PS_PER_S,
    ClientServer,
    ClosedLoop,
    Found,
    LeastTime,
    LongFlows,
    Raw,
    Surroundings,
    line_bps,
    scaled_count,
    too_slow,
)
from tailrace.scenario.workloads.facts import Facts
from tailrace.scenario.workloads.ports import MYSQL, POSTGRESQL

TransactionProgram = Annotated[
    str, one_of(LOADS, "transactions"), choices_of(LOADS, "transactions")
]
Database = Annotated[str, one_of(SERVICES, "transactions"), choices_of(SERVICES, "transactions")]
AT_ONCE = parse_distribution("0s", TIME)
BITS_PER_BYTE = 8
FS_BITS_PER_BYTE_SECOND = 8 * 10**15
"""Femtoseconds per second times bits per byte."""
PIECES_MAX = 2**18
"""Pieces of a response, as in the engine (`crates/plan`): all of them can be written at one moment,
which takes tens of milliseconds.
"""
STATEMENTS_MAX = 10_000
"""Statements of a transaction with their repetitions, as in the engine: a plan has each of them."""
TOLERANCE = 0.01
"""Allowed relative increase of a cycle: users of a saturated link have almost no gap."""


class RoundTrip(Part):
    """One statement: a request, the server's work, a response."""

    repeat: Annotated[Count, Field(ge=1, le=1000)] = 1
    """Number of consecutive executions of the statement."""
    request: Size = 200
    """Payload of the request [K]: a short SQL statement with its protocol headers."""
    response: Size
    """Payload of the response."""
    server_time: TimeDistribution = AT_ONCE
    """Service time of a request, independent of the size of the response."""
    server_work: Time = 0
    """Work of a core of the server on a request, before `server_time`; it waits for a free core.
    Default: none."""
    build_rate: Rate | None = None
    """Rate at which the server then builds the whole response before it writes any of it. Default:
    no time."""
    write: SmallSize = 0
    """The server writes the response in pieces of this size, each in separate segments; 0B for one
    write."""
    produce_rate: Rate | None = None
    """Rate at which the server writes the response while earlier bytes are in flight. Default: at
    once."""
    consume_rate: Rate | None = None
    """Rate at which a core of the client processes received bytes. Default: no time."""
    consume_chunk: Size = 65_536
    """Bytes that the client processes at a time, at most; 64KiB [K] is a common size of read
    buffers."""
    unpack_rate: Rate | None = None
    """Rate at which a core of the client processes the whole response after its last byte. Default:
    no time."""

    def lowered(self) -> Raw:
        """The statement in a plan."""
        whole = {"build_fs_per_byte": self.build_rate, "unpack_fs_per_byte": self.unpack_rate}
        used = {key: _fs_per_byte(rate) for key, rate in whole.items() if rate is not None}
        if self.server_work:
            used["server_work_ps"] = self.server_work
        return used | {
            "request_bytes": self.request,
            "response_bytes": self.response,
            "server_time": self.server_time.raw,
            "write_bytes": self.write,
            "produce_fs_per_byte": _fs_per_byte(self.produce_rate),
            "consume_fs_per_byte": _fs_per_byte(self.consume_rate),
            "consume_chunk_bytes": self.consume_chunk,
        }

    @property
    def service_ps(self) -> float:
        """Mean time of the server for a request, with a core for it."""
        return self.server_time.mean + self.server_work


class Oltp(ClientServer):
    """Closed-loop users of a database: each has one connection and runs one transaction after
    another."""

    kind: Literal["oltp"]
    client: str
    """Host of the users."""
    server: str
    """Host of the database."""
    users: Annotated[Count, Field(ge=1, le=60_000)]
    """Users, each with its own connection and port."""
    transactions: Count | None = None
    """Transactions of each user. Default: until the end of the trial, or from calibration."""
    warmup_transactions: Count = 0
    """Number of first transactions of each user that are not recorded; they count towards
    completion."""
    round_trips: Annotated[list[RoundTrip], Field(min_length=1, max_length=1000)]
    """Statements of one transaction, in order."""
    gap: TimeDistribution = AT_ONCE
    """Pause between transactions, a distribution."""
    gap_from: Literal["end", "start"] = "end"
    """The gap starts at the end of the last transaction (think time) or at its intended start
    (pacing)."""
    start: TimeDistribution | None = None
    """Start of the first transaction of each user. Default: uniform over one mean gap, to
    desynchronise the users."""
    load_generator: TransactionProgram = LOADS["transactions"][0]
    """The client program in a live run, and in an exact run where it is named; the simulator
    ignores it."""
    database: Database = SERVICES["transactions"][0]
    """The database that the client program uses in a live run, and in an exact run where it is
    named; the simulator ignores it.
    """
    connect: Literal["start", "early"] = "start"
    """Time at which users connect: at their first transaction, or early, at the start of the trial,
    as connection pools do.
    """

    @classmethod
    def facts(cls) -> Facts:
        return Facts(
            noun="transactions",
            group_noun="databases",
            protocol="tcp",
            is_open_loop=False,
            is_ever_done=True,
            done_key="transactions",
            latency="transaction latency",
            metrics=frozenset({"completion_s", "rate_per_s"}),
            main_metrics=("completion_s", "rate_per_s", "latency_p99_ms", "goodput_gbps"),
            sweep_metrics=("rate_per_s", "latency_p50_ms", "latency_p99_ms"),
            load_metric=("rate_per_s", "transactions per second"),
            growth=("users", "rate_per_s"),
            has_slowdown_by_size=False,
            are_datagrams_timed=False,
            is_unasked=False,
            live_load="transactions",
            live_refusal=None,
        )

    @classmethod
    def work_in(cls, body: Mapping[str, Any]) -> int:
        return int(body.get("transactions", 0) * body.get("users", 1))

    @classmethod
    def crossings_in(cls, body: Mapping[str, Any]) -> int | None:
        return max(1, len(body.get("round_trips") or []))

    def problems(self, around: Surroundings) -> Found:
        if self.transactions == 0:
            yield (
                ("transactions",),
                "`transactions` must be greater than zero",
                "omit it to run until the end of the trial",
            )
        if self.transactions and self.warmup_transactions >= self.transactions:
            what = f"all {self.transactions} transactions belong to the warm-up"
            yield ("warmup_transactions",), what, "write fewer than `transactions`"
        statements = sum(trip.repeat for trip in self.round_trips)
        if statements > STATEMENTS_MAX:
            what = f"a transaction of {statements} statements has more than {STATEMENTS_MAX}"
            yield ("round_trips",), what, "lower `repeat`, or write several transactions"
        for index, trip in enumerate(self.round_trips):
            pieces = -(-trip.response // trip.write) if trip.write else 1
            if pieces > PIECES_MAX:
                what = (
                    f"{exact_size(trip.write)} cuts a response of {exact_size(trip.response)} "
                    f"into {pieces} pieces"
                )
                least = -(-trip.response // PIECES_MAX)
                yield (
                    ("round_trips", index, "write"),
                    f"{what}, more than {PIECES_MAX}",
                    f"write at least {least}B",
                )
            for key in ("request", "response", "consume_chunk"):
                if getattr(trip, key) == 0:
                    yield (
                        ("round_trips", index, key),
                        f"`{key}` must be greater than zero",
                        "write at least 1B",
                    )
            yield from too_slow(
                ("round_trips", index, "server_time"), trip.server_time.smallest, around
            )
            yield from too_slow(("round_trips", index, "server_work"), trip.server_work, around)
            for key in ("build_rate", "produce_rate", "consume_rate", "unpack_rate"):
                if getattr(trip, key) == 0:
                    yield (
                        ("round_trips", index, key),
                        f"`{key}` must be greater than zero",
                        "omit it for no limit",
                    )

    def cautions(self, around: Surroundings) -> Found:
        yield from ()

    def least_time(self, graph: Graph) -> LeastTime | None:
        if not self.transactions:
            return None
        rate_bps = line_bps(graph, self.server, self.client)
        bits = self.users * self.transactions * self.response_bytes * BITS_PER_BYTE
        pace_s = (self.transactions - 1) * self._cycle_s(rate_bps)  # no pause follows the last one
        bounds = [(pace_s, "at its users' own pace"), (bits / rate_bps, "at the line rate")]
        return LeastTime(*max(bounds), "transactions")

    def _cycle_s(self, rate_bps: int) -> float:
        """One transaction after the other: the round trips alone on the line, and the gap."""
        busy_ps = sum(
            trip.repeat * (trip.service_ps + trip.response * BITS_PER_BYTE / rate_bps * PS_PER_S)
            for trip in self.round_trips
        )
        gap_ps = self.gap.mean
        return (max(gap_ps, busy_ps) if self.gap_from == "start" else gap_ps + busy_ps) / PS_PER_S

    def bulk_to(self) -> tuple[str, int] | None:
        if not self.transactions:
            return None
        return self.client, self.users * self.transactions * self.response_bytes

    def long_flows(self) -> LongFlows | None:
        return None

    @property
    def response_bytes(self) -> int:
        """Per transaction."""
        return sum(trip.repeat * trip.response for trip in self.round_trips)

    def usual_port(self) -> int:
        return MYSQL if self.database in MYSQL_SERVICES else POSTGRESQL

    def service_name(self) -> str:
        return "mysql" if self.database in MYSQL_SERVICES else SERVICES["transactions"][0]

    def held_ports(self) -> list[tuple[str, str, int]]:
        return [(self.client, "users", self.users)]

    def start_ps(self) -> int:
        return 0

    def live_choices(self) -> Raw:
        chosen = {"load_generator": self.load_generator, "database": self.database}
        # Only where the scenario names them: that is where exact runs have real programs.
        return {key: name for key, name in chosen.items() if key in self.model_fields_set}

    def lowered(self, graph: Graph) -> Raw:
        # A key with a default stands in a plan only where it is used: the hash of other plans does
        # not change.
        early = {"connects_early": True} if self.connect == "early" else {}
        return {
            "client": self.client,
            "server": self.server,
            "users": self.users,
            "transactions": self.transactions or 0,
            "warmup_transactions": self.warmup_transactions,
            "round_trips": [
                trip.lowered() for trip in self.round_trips for _ in range(trip.repeat)
            ],
            "gap": self.gap.raw,
            "gap_from": self.gap_from,
            "start": self.first_transaction().raw,
            **early,
        }

    def work(self) -> int:
        return self.transactions or 0

    def scaled(self, factor: float) -> Self:
        warmup = int(self.warmup_transactions * factor)
        update = {
            "transactions": scaled_count(self.transactions, factor),
            "warmup_transactions": warmup,
        }
        return self.model_copy(update=update)

    def divided(self, name: str, rates_bps: Mapping[str, int], scale: division.Divisor) -> Self:
        """Fewer users that offer the same share of the link, each with its original cycle.

        If the number of users is not a multiple of the divisor, the remaining users have a longer
        cycle and fewer transactions.
        """
        rate_bps = min(rates_bps[self.client], rates_bps[self.server])
        users = max(1, round(self.users / scale.of_sizes))
        longer = users * scale.divisor / self.users
        answer_ps = self.response_bytes * BITS_PER_BYTE * PS_PER_S / rate_bps
        work_ps = sum(trip.service_ps * trip.repeat for trip in self.round_trips)
        wanted_ps = division.cycle_ps(self.users, self.gap.mean + work_ps, answer_ps) * longer
        gap_ps = division.pause_ps(users, wanted_ps, answer_ps * scale.divisor) - work_ps
        if gap_ps < -TOLERANCE * wanted_ps:
            raise RunRefusedError(
                f"--live-scale {scale.divisor}: workload '{name}' would need a negative gap: "
                f"{users} of its users"
                " cannot request their share of a link of "
                f"{rate_bps / scale.divisor / 1e6:g} Mbit/s"
                " (hint: a smaller number)"
            )
        gap = division.with_mean(self.gap, max(0.0, gap_ps), scale.stretch)
        transactions = division.divided_count(self.transactions, longer)
        return self.model_copy(update={"users": users, "gap": gap, "transactions": transactions})

    def closed_loop(self) -> ClosedLoop | None:
        return self

    def first_transaction(self) -> Distribution:
        """Start of its users: as stated, or spread over one mean gap."""
        if self.start is not None:
            return self.start
        spread = round(self.gap.mean)
        return Distribution(
            {"uniform": {"low": 0, "high": spread}}, spread / 2, "uniform over one mean gap"
        )

    def cycle_guess_ps(self) -> float:
        """A bound from below on the time of one transaction: gap and server time."""
        return self.gap.mean + sum(trip.service_ps * trip.repeat for trip in self.round_trips)

    def with_transactions(self, count: int, gap: Distribution) -> Self:
        """A copy with another number of transactions of each user, and another gap."""
        return self.model_copy(update={"transactions": count, "gap": gap})

    def probe(self, count: int) -> Self:
        """A copy with this number of transactions, all of which are recorded."""
        return self.model_copy(update={"transactions": count, "warmup_transactions": 0})


def _fs_per_byte(rate_bps: int | None) -> int:
    return 0 if rate_bps is None else round(FS_BITS_PER_BYTE_SECOND / rate_bps)
