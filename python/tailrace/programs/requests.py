"""Requests of real programs: the tasks of users, features that such programs do not have, and
measurements."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from tailrace.errors import KeyPath
from tailrace.outcome.types import RequestCounts
from tailrace.programs.draws import Draw, UnknownDrawError
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.programs.transactions import measured as measured_transactions
from tailrace.programs.work import Transaction, Work
from tailrace.scenario.text.tails import mean_of
from tailrace.scenario.workloads.requests import Requests

Found = Iterator[tuple[KeyPath, str, str]]
"""Key, problem and hint."""
KIND = "requests"


@dataclass(frozen=True)
class RequestWork(Work):
    """The tasks of one workload's users: transactions of one request each."""

    @classmethod
    def of(cls, raw: Mapping[str, Any], seed: int) -> "RequestWork":
        """From the workload of a plan."""
        start_ps = int(raw.get("start_ps") or 0)
        # Users start at a random time within one mean gap, unless they are to start at once.
        spread_ps = 0 if raw.get("is_first_at_start") else round(mean_of(raw["gap"]))
        start = {"uniform": {"low": start_ps, "high": start_ps + spread_ps}}
        same = {"transactions": raw["requests"], "warmup_transactions": 0, "start": start}
        return cls(
            {**raw, **same, "round_trips": [{"response_bytes": raw["response"]["constant"]}]},
            seed,
            {},
        )

    @property
    def client(self) -> str:
        """Host of the users."""
        return str(self.raw["clients"][0])

    @property
    def server(self) -> str:
        """Host that they use."""
        return str(self.raw["servers"][0])

    @property
    def users(self) -> int:
        """Number of users; of arrivals, of the connections or sockets that they share."""
        return int(self.raw["users"]) or int(self.raw["connections"] or 1)

    @property
    def arrival_gap_ps(self) -> int | None:
        """Between two requests that come by themselves; None for users."""
        arrivals = self.raw.get("arrivals")
        return None if arrivals is None else int(arrivals["constant"])

    @property
    def total(self) -> int:
        """Requests of all users, or all arrivals; 0 for as many as there is time for."""
        return self.count * (self.users if self.arrival_gap_ps is None else 1)

    @property
    def request_bytes(self) -> int:
        """Payload of a request."""
        return int(self.raw["request"]["constant"])

    @property
    def response_bytes(self) -> int:
        """Payload of a response."""
        return self.responses[0]

    @property
    def is_kept(self) -> bool:
        """Whether connections are kept between requests."""
        return bool(self.raw["is_kept"])

    @property
    def depth(self) -> int:
        """Requests of a user that are on their way."""
        return int(self.raw["pipeline"])

    @property
    def is_udp(self) -> bool:
        """Whether requests are datagrams."""
        return bool(self.raw["is_udp"])


def refusals(
    program: str,
    workload: Requests,
    *,
    pipelines: bool = False,
    opens: bool = False,
    paces: bool = False,
) -> Found:
    """Features that no program of requests has. Some have pipelines, some open a connection for
    each request, some send at a rate that does not depend on the server."""
    if workload.arrivals is not None and not paces:
        yield (
            ("arrivals",),
            f"the users of {program} wait for each response",
            "write users, or omit --live to simulate it",
        )
    for key in ("clients", "servers"):
        if len(getattr(workload, key) or []) > 1:
            what = f"{program} has one {key[:-1]}"
            yield (key,), what, f"write {key[:-1]}: name; several workloads may share a host"
    if workload.connection == "new" and not opens:
        yield ("connection",), f"{program} keeps its connections", "write connection: kept"
    if not workload.is_udp and workload.depth > 1 and not pipelines:
        yield (
            ("pipeline",),
            f"the users of {program} send one request at a time",
            "write pipeline: 1 and more users",
        )
    for key, size in zip(("request", "response"), workload.sizes, strict=True):
        if size is not None and "constant" not in size.raw:
            yield (key,), f"{program} has {key}s of one size", "write one value"
    if not workload.is_udp and workload.timeout is not None:
        yield (
            ("timeout",),
            f"{program} does not give up a request over tcp",
            "omit it, or omit --live to simulate it",
        )
    if workload.calls:
        yield (
            ("calls",),
            f"the server of {program} asks no further servers",
            "omit it, or omit --live to simulate it",
        )
    if workload.replicas:
        yield (
            ("replicas",),
            f"the server of {program} has no replicas",
            "omit it, or omit --live to simulate it",
        )


def users_refusals(workload: Requests, most: int, what: str) -> Found:
    """More users than a program has."""
    if workload.users is not None and workload.users > most:
        yield ("users",), what, f"write at most {most} users"


def constant_sizes(workload: Requests) -> tuple[int, int] | None:
    """Bytes of each request and of each response; None where they are not known or not constant."""
    request, response = workload.sizes
    if (
        request is None
        or response is None
        or {"constant"} != request.raw.keys() | response.raw.keys()
    ):
        return None
    return int(request.mean), int(response.mean)


def pause_refusals(program: str, workload: Requests) -> Found:
    """Pauses that a script cannot draw."""
    try:
        if workload.gap is not None:
            Draw(workload.gap.raw, 0)
    except UnknownDrawError as error:
        yield ("gap",), f"{program} cannot draw it: {error}", "use a smaller shape"


def no_pauses(program: str, workload: Requests) -> Found:
    """Pauses, for a program without any."""
    if workload.gap is not None and workload.gap.mean > 0:
        yield (
            ("gap",),
            f"the users of {program} do not pause",
            "omit it, or choose load_generator: wrk",
        )
    if workload.start > 0:
        yield ("start",), f"{program} begins with the trial", "omit it"


def measured(
    work: RequestWork, whole: Sequence[Transaction], lag_us: float | None, at: MeasuredInterval
) -> Measured:
    """The measurements of an interval, from all requests that were logged with user and time."""
    one = measured_transactions(work, whole, lag_us, at)
    begun = one.outcome.transactions + one.outcome.cut_off.count
    counts = tallies(
        begun, one.outcome.transactions, connections=work.users if work.is_kept else begun
    )
    return replace(one, outcome=structs.replace(one.outcome, kind=KIND, request_counts=counts))


def tallies(
    begun: int, answered: int, *, connections: int, failed: int = 0, lost_queries: int = 0
) -> RequestCounts:
    """The `request_counts` object of an outcome."""
    return RequestCounts(
        begun=begun,
        answered=answered,
        failed=failed,
        connections=connections,
        failed_connections=0,
        lost_queries=lost_queries,
        failed_calls=0,
        timed_out=0,
    )
