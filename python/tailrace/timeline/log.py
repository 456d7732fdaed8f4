"""The timeline of a trial as the simulator kept it (`crates/sim/src/timeline/`), from its tables."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tailrace.results.causes.causes import OF_SWITCHES, PARTS
from tailrace.results.causes.wires import wire_names

NONE_32 = 2**32 - 1
NONE_64 = 2**64 - 1
"""Stand for no value in the columns of the simulator."""
INTERFACE = "interface"
"""The cause of drops by an interface of a host, whose queue is full."""

Values = Mapping[str, Sequence[int]]
"""A table: values by column."""


class Socket(NamedTuple):
    """One end of a watched connection; the two ends of a connection follow each other, the client's first."""

    workload: str
    user: int
    host: str
    address: int
    """Index of the host in the plan: addresses count from it."""
    port: int

    @property
    def name(self) -> str:
        """`client:32768`."""
        return f"{self.host}:{self.port}"


class Frame(NamedTuple):
    """A frame that a watched socket sent; times in picoseconds."""

    id: int
    sender: int
    """Index of the socket."""
    handed_ps: int
    delivered_ps: int | None
    prior: int | None
    """The frame without which this one would not have been sent then."""
    prior_part: str | None
    """What the time between them is."""
    repeats: int | None
    seq: int
    ack: int
    window_bytes: int
    flags: int
    ecn: int
    dscp: int
    priority: int
    vlan: int
    tag_bytes: int
    frame_bytes: int
    payload_bytes: int
    sack: tuple[tuple[int, int], ...]
    """Left edge and right edge of each block, as stream offsets."""


class Hop(NamedTuple):
    """A frame passed a wire."""

    frame: int | None
    workload: str
    class_: int
    bytes: int
    since_ps: int | None
    """When it came to the node before the wire; None where that was before the window."""
    start_ps: int
    end_ps: int
    arrival_ps: int


class Drop(NamedTuple):
    """A frame was dropped before a wire."""

    frame: int | None
    workload: str
    class_: int
    bytes: int
    since_ps: int | None
    at_ps: int
    cause: str


class Mark(NamedTuple):
    """A frame was marked before a wire."""

    frame: int | None
    workload: str
    class_: int
    bytes: int
    at_ps: int


class Pause(NamedTuple):
    """A pause came to the port before a wire."""

    at_ps: int
    class_: int
    quanta: int


class Look(NamedTuple):
    """How a socket looked after a change."""

    at_ps: int
    cwnd_bytes: int
    in_flight_bytes: int
    unsent_bytes: int
    timeouts: int
    probes: int
    retransmits: int


class Step(NamedTuple):
    """One interval of a critical path."""

    part: str
    from_ps: int
    to_ps: int
    wire: str | None


@dataclass(frozen=True)
class Log:
    """What happened in the windows, by wire (`node>neighbour`) and socket."""

    windows_ps: list[tuple[int, int]]
    sockets: list[Socket]
    frames: dict[int, Frame]
    hops: dict[str, list[Hop]]
    """In the order of transmission."""
    drops: dict[str, list[Drop]]
    marks: dict[str, list[Mark]]
    pauses: dict[str, list[Pause]]
    looks: dict[int, list[Look]]
    steps: dict[tuple[str, int, int], list[Step]]
    """By workload, user and start of the transaction, from its start to its completion."""
    rates_bps: dict[str, int]
    left_out: int
    """Rows for which the simulator had no room."""
    whole_until_ps: int | None
    """When the first of them would have been; None where there is none."""

    @property
    def end_ps(self) -> int:
        """When the last window ends."""
        return max(to for _, to in self.windows_ps)


def read_log(
    tables: Mapping[str, Values],
    plan: Mapping[str, Any],
    windows_ps: list[tuple[int, int]],
    causes_of_drops: Sequence[str],
) -> Log:
    """The log of a trial of this plan."""
    wires = wire_names(plan)
    names = [str(workload["header"]["name"]) for workload in plan["workloads"]]
    hosts = [str(host["name"]) for host in plan["hosts"]]

    def workload(number: int) -> str:
        return OF_SWITCHES if number == NONE_32 else names[number]

    def wire(number: int) -> str:
        return wires[number]

    def cause(number: int) -> str:
        return INTERFACE if number == NONE_32 else causes_of_drops[number]

    of = ("frame", "workload", "class", "bytes")
    hops: dict[str, list[Hop]] = defaultdict(list)
    for frame, who, class_, size, number, since, start, end, arrival in _rows(
        tables["timeline_hops"], (*of, "wire", "since_ps", "start_ps", "end_ps", "arrival_ps")
    ):
        hops[wire(number)].append(Hop(_id(frame), workload(who), class_, size, _id(since), start, end, arrival))
    for at_wire in hops.values():
        at_wire.sort(key=lambda hop: hop.start_ps)
    drops: dict[str, list[Drop]] = defaultdict(list)
    for frame, who, class_, size, number, since, at_ps, why in _rows(
        tables["timeline_drops"], (*of, "wire", "since_ps", "at_ps", "cause")
    ):
        drops[wire(number)].append(Drop(_id(frame), workload(who), class_, size, _id(since), at_ps, cause(why)))
    marks: dict[str, list[Mark]] = defaultdict(list)
    for frame, who, class_, size, number, at_ps in _rows(tables["timeline_marks"], (*of, "wire", "at_ps")):
        marks[wire(number)].append(Mark(_id(frame), workload(who), class_, size, at_ps))
    pauses: dict[str, list[Pause]] = defaultdict(list)
    for number, at_ps, class_, quanta in _rows(tables["timeline_pauses"], ("wire", "at_ps", "class", "quanta")):
        pauses[wire(number)].append(Pause(at_ps, class_, quanta))
    looks: dict[int, list[Look]] = defaultdict(list)
    for socket, *look in _rows(tables["timeline_looks"], ("socket", *_LOOK)):
        looks[socket].append(Look(*look))
    steps: dict[tuple[str, int, int], list[Step]] = defaultdict(list)
    transactions = list(_rows(tables["causes"], ("workload", "user", "start_ps")))
    for row, part, from_ps, to_ps, number in _rows(
        tables["timeline_steps"], ("transaction", "part", "from_ps", "to_ps", "wire")
    ):
        who, user, start = transactions[row]
        steps[workload(who), user, start].append(
            Step(PARTS[part], from_ps, to_ps, None if number == NONE_32 else wire(number))
        )
    sockets = [
        Socket(names[who], user, hosts[host], host, port)
        for who, user, host, port in _rows(tables["timeline_sockets"], ("workload", "user", "host", "port"))
    ]
    rates = {name: int(plan["links"][number // 2]["rate_bps"]) for number, name in enumerate(wires)}
    left_out = int(tables["timeline_left_out"]["rows"][0])
    whole_until_ps = _id(tables["timeline_left_out"]["from_ps"][0])
    frames = {frame.id: frame for frame in _frames(tables["timeline_frames"])}
    return Log(
        windows_ps,
        sockets,
        frames,
        dict(hops),
        dict(drops),
        dict(marks),
        dict(pauses),
        dict(looks),
        dict(steps),
        rates,
        left_out,
        whole_until_ps,
    )


_LOOK = ("at_ps", "cwnd_bytes", "in_flight_bytes", "unsent_bytes", "timeouts", "probes", "retransmits")
_HEADER = (
    *("seq", "ack", "window_bytes", "flags", "ecn", "dscp", "priority", "vlan", "tag_bytes", "frame_bytes"),
    "payload_bytes",
)
_BLOCKS = ("sack0", "sack1", "sack2")
_FLAG_SYN = 1
"""`tailrace_wire::Flags::SYN`, whose blocks carry options and no acknowledgement."""


def _frames(table: Values) -> Iterable[Frame]:
    ways = ("id", "to_socket", "handed_ps", "delivered_ps", "prior", "prior_part", "repeats")
    blocks = tuple(f"{block}_{of}" for block in _BLOCKS for of in ("offset", "bytes"))
    for row in _rows(table, (*ways, *_HEADER, *blocks)):
        number, to, handed, delivered, prior, part, repeats = row[:7]
        header = row[7 : 7 + len(_HEADER)]
        ack, flags = header[1], header[3]
        edges = [_edges(ack, offset, size) for offset, size in zip(row[-6::2], row[-5::2], strict=True)]
        sack = () if flags & _FLAG_SYN else tuple(edge for edge in edges if edge is not None)
        known = PARTS[part] if part != NONE_32 else None
        way = (number, to ^ 1, handed, _id(delivered), _id(prior), known, _id(repeats))
        yield Frame._make((*way, *header, sack))


def _edges(ack: int, offset: int, size: int) -> tuple[int, int] | None:
    """The edges of a block that is stored relative to the acknowledgement, as a signed number of 32 bits."""
    if size == 0:
        return None
    left = ack + (offset - 2**32 if offset >= 2**31 else offset)
    return left, left + size


def _id(value: int) -> int | None:
    return None if value == NONE_64 else value


def _rows(table: Values, keys: Iterable[str]) -> Iterable[tuple[int, ...]]:
    return zip(*(table[key] for key in keys), strict=True)
