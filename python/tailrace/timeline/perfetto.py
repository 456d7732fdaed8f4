"""Writer of Perfetto traces: `TracePacket` with `TrackDescriptor` and `TrackEvent`.

Numbers of fields and values are those of Perfetto's published schema
(`protos/perfetto/trace/perfetto_trace.proto`, v59.1). Times are written in nanoseconds, the unit of
the format; arguments have them in picoseconds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tailrace.timeline.proto import fixed64, message, number, text

# Trace, TracePacket.
_PACKET = 1
_TIMESTAMP = 8
_SEQUENCE_ID = 10
_TRACK_EVENT = 11
_TRACK_DESCRIPTOR = 60
# TrackDescriptor.
_UUID = 1
_NAME = 2
_PROCESS = 3
_PARENT_UUID = 5
_COUNTER = 8
_CHILD_ORDERING = 11
_SIBLING_ORDER_RANK = 12
_ORDERING_EXPLICIT = 3
# ProcessDescriptor.
_PID = 1
_PROCESS_NAME = 6
# CounterDescriptor.
_UNIT = 3
UNIT_BYTES = 3
# TrackEvent.
_DEBUG_ANNOTATIONS = 4
_TYPE = 9
_TRACK_UUID = 11
_CATEGORIES = 22
_EVENT_NAME = 23
_COUNTER_VALUE = 30
_FLOW_IDS = 47
_SLICE_BEGIN = 1
_SLICE_END = 2
_INSTANT = 3
_COUNTER_EVENT = 4
# DebugAnnotation.
_INT_VALUE = 4
_STRING_VALUE = 6
_ANNOTATION_NAME = 10

_SEQUENCE = 1
"""All packets belong to one sequence: they have one writer."""
PS_PER_NS = 1000

Args = Mapping[str, int | str]
"""Arguments of a slice or an instant, by name."""


@dataclass
class Writer:
    """A trace that grows: tracks are described as they are made, events are sorted when it is
    written.

    Slices of one track must be made in order and nest; an event that ends at a time is written
    before those that begin then on the same track.
    """

    _descriptors: list[bytes] = field(default_factory=list)
    _events: list[tuple[int, int, bytes]] = field(default_factory=list)
    _pids: int = 0
    _ranks: dict[int, int] = field(default_factory=dict)

    def group(self, name: str) -> int:
        """A group of tracks at the top, shown like a process. Returns its identifier."""
        self._pids += 1
        process = number(_PID, self._pids) + text(_PROCESS_NAME, name)
        # Only `process` names it: a name of its own would make a further track.
        return self._describe(
            message(_PROCESS, process) + number(_CHILD_ORDERING, _ORDERING_EXPLICIT)
        )

    def track(self, parent: int, name: str) -> int:
        """A track of slices and instants below a group or a track. Tracks of one name and parent
        are shown as one."""
        return self._describe(text(_NAME, name) + self._below(parent))

    def counter(self, parent: int, name: str, unit: int = UNIT_BYTES) -> int:
        """A track of a number over time."""
        return self._describe(
            text(_NAME, name) + message(_COUNTER, number(_UNIT, unit)) + self._below(parent)
        )

    def begin(
        self, track: int, at_ps: int, name: str, args: Args | None = None, flows: Iterable[int] = ()
    ) -> None:
        """A slice begins."""
        self._event(track, at_ps, _SLICE_BEGIN, name, args, flows)

    def end(self, track: int, at_ps: int) -> None:
        """The innermost slice of the track ends."""
        self._event(track, at_ps, _SLICE_END)

    def slice(
        self,
        track: int,
        from_to_ps: tuple[int, int],
        name: str,
        args: Args | None = None,
        flows: Iterable[int] = (),
    ) -> None:
        """A slice without others in it."""
        self.begin(track, from_to_ps[0], name, args, flows)
        self.end(track, from_to_ps[1])

    def instant(
        self, track: int, at_ps: int, name: str, args: Args | None = None, flows: Iterable[int] = ()
    ) -> None:
        """Something happens at one moment. Flows connect it with others of the same number, in the
        order of time."""
        self._event(track, at_ps, _INSTANT, name, args, flows)

    def count(self, counter: int, at_ps: int, value: int) -> None:
        """A counter has this value from now on."""
        event = (
            number(_TYPE, _COUNTER_EVENT)
            + number(_TRACK_UUID, counter)
            + number(_COUNTER_VALUE, value)
        )
        self._add(at_ps, event)

    def trace(self) -> bytes:
        """The whole trace."""
        self._events.sort(key=lambda event: event[:2])
        return b"".join([*self._descriptors, *(packet for _, _, packet in self._events)])

    def _describe(self, content: bytes) -> int:
        uuid = len(self._descriptors) + 1
        descriptor = message(_TRACK_DESCRIPTOR, number(_UUID, uuid) + content)
        self._descriptors.append(message(_PACKET, number(_SEQUENCE_ID, _SEQUENCE) + descriptor))
        return uuid

    def _below(self, parent: int) -> bytes:
        rank = self._ranks[parent] = self._ranks.get(parent, 0) + 1
        return number(_PARENT_UUID, parent) + number(_SIBLING_ORDER_RANK, rank) + _EXPLICIT_ORDER

    def _event(
        self,
        track: int,
        at_ps: int,
        kind: int,
        name: str = "",
        args: Args | None = None,
        flows: Iterable[int] = (),
    ) -> None:
        parts = [number(_TYPE, kind), number(_TRACK_UUID, track)]
        if name:
            parts.append(_named(name))
        parts += [_annotation(key, value) for key, value in (args or {}).items()]
        parts += [fixed64(_FLOW_IDS, flow) for flow in flows]
        self._add(at_ps, b"".join(parts))

    def _add(self, at_ps: int, event: bytes) -> None:
        at_ns = at_ps // PS_PER_NS
        packet = (
            number(_TIMESTAMP, at_ns)
            + number(_SEQUENCE_ID, _SEQUENCE)
            + message(_TRACK_EVENT, event)
        )
        self._events.append((at_ns, len(self._events), message(_PACKET, packet)))


_EXPLICIT_ORDER = number(_CHILD_ORDERING, _ORDERING_EXPLICIT)


@lru_cache(maxsize=4096)
def _named(name: str) -> bytes:
    return text(_EVENT_NAME, name) + text(_CATEGORIES, "tailrace")


def _annotation(key: str, value: int | str) -> bytes:
    own = text(_STRING_VALUE, value) if isinstance(value, str) else number(_INT_VALUE, value)
    return message(_DEBUG_ANNOTATIONS, text(_ANNOTATION_NAME, key) + own)


def lanes(spans: Sequence[tuple[int, int]]) -> list[int]:
    """For each span, in the order of their begins, the number of the first track on which it
    overlaps no other."""
    ends: list[int] = []
    found = []
    for begin, end in spans:
        lane = next((number for number, last in enumerate(ends) if last <= begin), len(ends))
        if lane == len(ends):
            ends.append(end)
        ends[lane] = end
        found.append(lane)
    return found
