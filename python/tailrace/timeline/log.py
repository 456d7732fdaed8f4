"""The timeline of a trial as the simulator kept it (`crates/sim/src/timeline/`), from its
tables."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    """One end of a watched connection; the two ends of a connection follow each other, the client's
    first."""

    workload: str
    user: int | None
    """None where it is not known whose connection it is."""
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
    """Name of the time between them."""
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
    has_header: bool = True
    """Where this is false, only the header fields that decide its path are known: no numbers, flags
    or payload."""


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


class SocketSample(NamedTuple):
    """The state of a socket after a change."""

    at_ps: int
    cwnd_bytes: int
    in_flight_bytes: int
    unsent_bytes: int
    timeouts: int
    probes: int
    retransmits: int


class Members(NamedTuple):
    """The frames of one transaction: those of its critical path, and the frames that these caused
    while it lasted."""

    first: int | None
    """The first with payload on the critical path; None where no frame completed the
    transaction."""
    last: int | None
    """The frame with its last bytes."""
    frames: frozenset[int]


class CoreTime(NamedTuple):
    """An interval of a core's work."""

    core: int
    from_ps: int
    to_ps: int
    what: str
    task: int | None
    """Number of the thread on its host; None of soft interrupts and of time that was stolen."""


class Work(NamedTuple):
    """A hypervisor works on a frame."""

    frame: int
    stage: str
    since_ps: int
    """When the frame came there."""
    start_ps: int
    done_ps: int


class CoreWait(NamedTuple):
    """A program waited for a core."""

    since_ps: int
    until_ps: int
    socket: int
    """Number of the socket with the arrived data."""


class PathInterval(NamedTuple):
    """One interval of a critical path."""

    part: str
    from_ps: int
    to_ps: int
    wire: str | None


@dataclass(frozen=True)
class Log:
    """The events in the windows, by wire (`node>neighbour`) and socket."""

    windows_ps: list[tuple[int, int]]
    sockets: list[Socket]
    frames: dict[int, Frame]
    hops: dict[str, list[Hop]]
    """In the order of transmission."""
    drops: dict[str, list[Drop]]
    marks: dict[str, list[Mark]]
    pauses: dict[str, list[Pause]]
    samples: dict[int, list[SocketSample]]
    steps: dict[tuple[str, int], list[PathInterval]]
    """By workload and number of the transaction, from its start to its completion."""
    rates_bps: dict[str, int]
    left_out: int
    """Rows for which the simulator had no room."""
    whole_until_ps: int | None
    """When the first of them would have been; None where there is none."""
    members: dict[tuple[str, int], Members] = field(default_factory=dict)
    """By workload and number of the transaction."""
    cores: dict[str, list[CoreTime]] = field(default_factory=dict)
    """By host or hypervisor with a processor."""
    works: dict[str, list[Work]] = field(default_factory=dict)
    """By hypervisor."""
    core_waits: dict[str, list[CoreWait]] = field(default_factory=dict)
    """By host without a processor."""
    kinds: dict[str, str] = field(default_factory=dict)
    """By workload."""
    connections_left_out: int = 0
    """Connections of the transactions that are not watched."""
    is_live: bool = False
    """Whether it is from a replay of real frames, which has no events inside hosts."""

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

    of_wires = read_wires(tables, wires, workload, causes_of_drops)
    samples: dict[int, list[SocketSample]] = defaultdict(list)
    for socket, *sample in _rows(tables["timeline_looks"], ("socket", *_SOCKET_COLUMNS)):
        samples[socket].append(SocketSample(*sample))
    steps: dict[tuple[str, int], list[PathInterval]] = defaultdict(list)
    transactions = _numbered(workload(number) for number in tables["causes"]["workload"])
    for row, part, from_ps, to_ps, number in _rows(
        tables["timeline_steps"], ("transaction", "part", "from_ps", "to_ps", "wire")
    ):
        steps[transactions[row]].append(
            PathInterval(PARTS[part], from_ps, to_ps, None if number == NONE_32 else wires[number])
        )
    sockets = [
        Socket(names[who], None if user == NONE_32 else user, hosts[host], host, port)
        for who, user, host, port in _rows(
            tables["timeline_sockets"], ("workload", "user", "host", "port")
        )
    ]
    rates = {name: int(plan["links"][number // 2]["rate_bps"]) for number, name in enumerate(wires)}
    left_out = sum(int(tables["timeline_left_out"][key][0]) for key in ("rows", "cores"))
    whole_until_ps = _id(tables["timeline_left_out"]["from_ps"][0])
    frames = {frame.id: frame for frame in _frames(tables["timeline_frames"])}
    return Log(
        windows_ps,
        sockets,
        frames,
        of_wires.hops,
        of_wires.drops,
        of_wires.marks,
        of_wires.pauses,
        dict(samples),
        dict(steps),
        rates,
        left_out,
        whole_until_ps,
        members={transactions[row]: members for row, members in _members(tables).items()},
        kinds={
            name: next(iter(one.get("body") or ()), "")
            for name, one in zip(names, plan["workloads"], strict=True)
        },
        connections_left_out=int(tables["timeline_left_out"]["connections"][0]),
    )


def _numbered(workloads: Iterable[str]) -> list[tuple[str, int]]:
    """Every transaction by its workload and its number there."""
    counted: dict[str, int] = defaultdict(int)
    found = []
    for name in workloads:
        found.append((name, counted[name]))
        counted[name] += 1
    return found


def _members(tables: Mapping[str, Values]) -> dict[int, Members]:
    frames: dict[int, set[int]] = defaultdict(set)
    for row, frame in _rows(tables["timeline_members"], ("transaction", "frame")):
        frames[row].add(frame)
    return {
        row: Members(_id(first), _id(last), frozenset(frames[row]))
        for row, first, last in _rows(
            tables["timeline_transactions"], ("transaction", "first_frame", "last_frame")
        )
    }


class OfWires(NamedTuple):
    """The events at wires, by their names."""

    hops: dict[str, list[Hop]]
    drops: dict[str, list[Drop]]
    marks: dict[str, list[Mark]]
    pauses: dict[str, list[Pause]]


def read_wires(
    tables: Mapping[str, Values],
    wires: Sequence[str],
    workload: Callable[[int], str],
    causes_of_drops: Sequence[str],
) -> OfWires:
    """The tables of wires; `workload` gives the name for a number."""

    def cause(number: int) -> str:
        return INTERFACE if number == NONE_32 else causes_of_drops[number]

    of = ("frame", "workload", "class", "bytes")
    hops: dict[str, list[Hop]] = defaultdict(list)
    for frame, who, class_, size, number, since, start, end, arrival in _rows(
        tables["timeline_hops"], (*of, "wire", "since_ps", "start_ps", "end_ps", "arrival_ps")
    ):
        hops[wires[number]].append(
            Hop(_id(frame), workload(who), class_, size, _id(since), start, end, arrival)
        )
    for at_wire in hops.values():
        at_wire.sort(key=lambda hop: hop.start_ps)
    drops: dict[str, list[Drop]] = defaultdict(list)
    for frame, who, class_, size, number, since, at_ps, why in _rows(
        tables["timeline_drops"], (*of, "wire", "since_ps", "at_ps", "cause")
    ):
        drops[wires[number]].append(
            Drop(_id(frame), workload(who), class_, size, _id(since), at_ps, cause(why))
        )
    marks: dict[str, list[Mark]] = defaultdict(list)
    for frame, who, class_, size, number, at_ps in _rows(
        tables["timeline_marks"], (*of, "wire", "at_ps")
    ):
        marks[wires[number]].append(Mark(_id(frame), workload(who), class_, size, at_ps))
    pauses: dict[str, list[Pause]] = defaultdict(list)
    for number, at_ps, class_, quanta in _rows(
        tables["timeline_pauses"], ("wire", "at_ps", "class", "quanta")
    ):
        pauses[wires[number]].append(Pause(at_ps, class_, quanta))
    return OfWires(dict(hops), dict(drops), dict(marks), dict(pauses))


_SOCKET_COLUMNS = (
    "at_ps",
    "cwnd_bytes",
    "in_flight_bytes",
    "unsent_bytes",
    "timeouts",
    "probes",
    "retransmits",
)
_HEADER = (
    *(
        "seq",
        "ack",
        "window_bytes",
        "flags",
        "ecn",
        "dscp",
        "priority",
        "vlan",
        "tag_bytes",
        "frame_bytes",
    ),
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
        edges = [
            _edges(ack, offset, size) for offset, size in zip(row[-6::2], row[-5::2], strict=True)
        ]
        sack = () if flags & _FLAG_SYN else tuple(edge for edge in edges if edge is not None)
        known = PARTS[part] if part != NONE_32 else None
        way = (number, to ^ 1, handed, _id(delivered), _id(prior), known, _id(repeats))
        yield Frame._make((*way, *header, sack, True))


def _edges(ack: int, offset: int, size: int) -> tuple[int, int] | None:
    """The edges of a block that is stored relative to the acknowledgement, as a signed number of 32
    bits."""
    if size == 0:
        return None
    left = ack + (offset - 2**32 if offset >= 2**31 else offset)
    return left, left + size


def _id(value: int) -> int | None:
    return None if value == NONE_64 else value


def _rows(table: Values, keys: Iterable[str]) -> Iterable[tuple[int, ...]]:
    return zip(*(table[key] for key in keys), strict=True)
