"""What uses the network: OLTP users, bulk streams, finite flows, datagrams."""

from collections.abc import Set
from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.classify import Dscp
from tailrace.scenario.distribution import Distribution, parse_distribution
from tailrace.scenario.programs import LOADS, choices_of, program_of
from tailrace.scenario.quantities import (
    NAME_PATTERN,
    Count,
    HostNames,
    Part,
    Rate,
    Share,
    Size,
    SizeDistribution,
    SmallSize,
    Time,
    TimeDistribution,
)
from tailrace.scenario.spanning_tree import Vlan
from tailrace.scenario.units import TIME

Priority = Annotated[int, Field(ge=0, le=7, strict=True)]
GroupName = Annotated[str, Field(pattern=NAME_PATTERN)]
TransactionProgram = Annotated[str, program_of("transactions"), choices_of("transactions")]
AT_ONCE = parse_distribution("0s", TIME)


class RoundTrip(Part):
    """One statement: a request, the server's work, a response."""

    repeat: Annotated[Count, Field(ge=1, le=1000)] = 1
    """The statement is done this many times in a row."""
    request: Size = 200
    """Payload of the request [K]: a short SQL statement with its protocol headers."""
    response: Size
    """Payload of the response."""
    server_time: TimeDistribution = AT_ONCE
    """The server's work on a request, whatever the size of the response."""
    build_rate: Rate | None = None
    """The server then makes the whole response at this rate before it writes any of it; left out: no time."""
    write: SmallSize = 0
    """The server writes the response in pieces of this size, each its own segments; 0B for one write."""
    produce_rate: Rate | None = None
    """The server hands the response over at this rate, while what it wrote is on its way; left out: at once."""
    consume_rate: Rate | None = None
    """A core of the client works on what has arrived at this rate; left out: no time."""
    consume_chunk: Size = 65_536
    """The client works on at most this much at a time; 64KiB [K] is a common size of read buffers."""
    unpack_rate: Rate | None = None
    """After the last byte a core of the client works on the whole response at this rate; left out: no time."""


class _Workload(Part):
    enabled: bool = True
    """False leaves the workload out, such as in an arm "without the backup": `workloads.backup.enabled: false`."""
    group: GroupName | None = None
    """Results tell the workloads of a group in one row with a total (rates over the longest time, waits pooled)."""
    priority: Priority = 0
    """Priority of the frames, 0 to 7: their class where no `classify` says otherwise; policies map it to a queue."""
    dscp: Dscp = 0
    """Code point of the IP header, 0 to 63 or a name such as ef; only `classify` looks at it."""
    vlan: Vlan | None = None
    """VLAN of the frames, 1 to 4094: `classify` can ask for it, and `network.spanning_tree` gives it a tree."""


class Oltp(_Workload):
    """Closed-loop users of a database: each has one connection and does one transaction after the other."""

    kind: Literal["oltp"]
    client: str
    """Host of the users."""
    server: str
    """Host of the database."""
    users: Annotated[Count, Field(ge=1, le=60_000)]
    """Users, each with its own connection and port."""
    transactions: Count | None = None
    """Transactions of each user. Left out: until the end of the trial, or from calibration."""
    warmup_transactions: Count = 0
    """The first this many transactions of each user are not recorded; they count towards completion."""
    round_trips: Annotated[list[RoundTrip], Field(min_length=1, max_length=1000)]
    """Statements of one transaction, in order."""
    gap: TimeDistribution = AT_ONCE
    """Pause between transactions, a distribution."""
    gap_from: Literal["end", "start"] = "end"
    """The pause counts from the end of the last transaction (think time) or from its intended start (pacing)."""
    start: TimeDistribution | None = None
    """First transaction of each user. Left out: anywhere in one mean gap, so that users do not start in step."""
    load_generator: TransactionProgram = LOADS["transactions"][0]
    """The program that is the users in a live run; the simulator does not look at it."""
    connect: Literal["start", "early"] = "start"
    """Users connect for their first transaction, or early: when the trial begins, as connection pools do."""


class Stream(_Workload):
    """Bulk TCP connections."""

    kind: Literal["stream"]
    source: str
    """Sending host."""
    destination: str
    """Receiving host."""
    connections: Annotated[Count, Field(ge=1, le=60_000)] = 1
    """Parallel connections."""
    size: Size | None = None
    """Bytes of each connection. Left out: until the end of the trial."""
    rate: Rate | None = None
    """The programs offer bytes no faster than this, each connection an equal part; left out: no limit."""
    start: Time = 0
    """Start of the first connection."""
    stagger: Time = 0
    """Time from the start of one connection to the start of the next."""
    pin_forward: list[str] = []
    """Switches on the way out, to pin the path; empty for ECMP."""
    pin_backward: list[str] = []
    """Switches on the way back, to pin the path; empty for ECMP."""


class Flows(_Workload):
    """Finite TCP flows with sizes from a distribution that arrive by themselves."""

    kind: Literal["flows"]
    sources: HostNames = "all"
    """Each flow's source is one of these hosts."""
    destinations: HostNames = "all"
    """Each flow's destination is one of these hosts, never the source."""
    sizes: SizeDistribution
    """Flow sizes: a distribution or the name of a published one."""
    interarrival: TimeDistribution | None = None
    """Gap between arrivals over all sources together. Give this or `load`."""
    load: Share | None = None
    """Poisson arrivals that offer this share of the sources' links together. Give this or `interarrival`."""
    flows: Annotated[Count, Field(ge=1)] | None = None
    """Number of flows. Left out: until the end of the trial."""
    start: Time = 0
    """The first arrival comes after this."""


class Datagrams(_Workload):
    """Datagrams at a rate, whatever the network does."""

    kind: Literal["datagrams"]
    source: str
    """Sending host."""
    destination: str
    """Receiving host."""
    sizes: SizeDistribution
    """Payload of each datagram; a draw that is larger than the MTU allows is cut to that."""
    interarrival: TimeDistribution
    """Gap between datagrams."""
    count: Annotated[Count, Field(ge=1)] | None = None
    """Number of datagrams. Left out: until the end of the trial."""
    start: Time = 0
    """The first datagram."""


Workload = Annotated[Oltp | Stream | Flows | Datagrams, Field(discriminator="kind")]


def bulk_receivers(workload: Oltp | Stream | Flows | Datagrams, hosts: Set[str]) -> Set[str]:
    """The hosts, among all these, to which most of a workload's bytes go."""
    match workload:
        case Oltp():
            return {workload.client}
        case Stream() | Datagrams():
            return {workload.destination}
        case Flows():
            return hosts if workload.destinations == "all" else set(workload.destinations)


def start_of(workload: Oltp) -> Distribution:
    """When the users of a workload start: as it says, or spread over one mean gap."""
    if workload.start is not None:
        return workload.start
    spread = round(workload.gap.mean)
    return Distribution({"uniform": {"low": 0, "high": spread}}, spread / 2, "uniform over one mean gap")
