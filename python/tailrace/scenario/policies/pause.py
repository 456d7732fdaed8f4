"""Pause frames: per priority (802.1Qbb, PFC) or for the whole link (802.3x), and the buffer for
lossless operation."""

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from tailrace.scenario.policies.limit import Limit, QueueLimit
from tailrace.scenario.text.quantities import Count, Part, Rate, Size, Time, refuse
from tailrace.scenario.text.units import LENGTH, SIZE, TIME, Dimension, QuantityError, parse

PRIORITIES = 8
XOFF_DEFAULT = Limit(unit="alpha-milli", amount=125)
"""A lossless group pauses above an eighth of the free buffer (HPCC simulator, SONiC dynamic_th
-3)."""

PriorityNo = Annotated[int, Field(ge=0, le=7, strict=True)]
Priorities = Annotated[list[PriorityNo], Field(min_length=1, max_length=PRIORITIES)]
Quanta = Annotated[Count, Field(ge=1, le=65_535)]


def _auto_reader(dimension: Dimension) -> Callable[[object], int | str]:
    def read(value: object) -> int | str:
        if value == "auto":
            return "auto"
        try:
            return parse(value, dimension)
        except QuantityError as error:
            raise refuse(error.what, f"{error.hint}, or auto") from None

    return read


def _auto_schema(dimension: Dimension) -> WithJsonSchema:
    return WithJsonSchema(
        {"anyOf": [{"const": "auto"}, {"type": "string", "pattern": dimension.pattern}]}
    )


def _length(value: object) -> int:
    try:
        return parse(value, LENGTH)
    except QuantityError as error:
        raise refuse(error.what, error.hint) from None


AutoSize = Annotated[int | Literal["auto"], BeforeValidator(_auto_reader(SIZE)), _auto_schema(SIZE)]
AutoTime = Annotated[int | Literal["auto"], BeforeValidator(_auto_reader(TIME)), _auto_schema(TIME)]
Length = Annotated[
    int,
    BeforeValidator(_length),
    WithJsonSchema({"type": "string", "pattern": LENGTH.pattern, "examples": ["100m"]}),
]
"""Millimetres."""


class Watchdog(Part):
    """Ends pause storms (SONiC PFC_WD, NX-OS priority-flow-control watch-dog)."""

    detection: Time = 200 * 10**9
    """Time for which a non-empty queue must be paused to be in a storm; its frames are then
    dropped. SONiC: 200ms."""
    restoration: Time = 400 * 10**9
    """Time without a pause after which the queue is restored [K]: SONiC examples use 200ms to
    400ms."""


class GroupThresholds(Part):
    """Thresholds at which a lossless group pauses its sender; omitted keys are taken from the
    port's `pfc`."""

    headroom: AutoSize | None = None
    """Buffer for frames that arrive after a pause was sent."""
    xoff: QueueLimit | None = None
    """Depth above which pauses are sent."""
    xon_offset: Size | None = None
    """Distance below `xoff` at which transmission resumes."""
    reserved: Size | None = None
    """Guaranteed bytes of the group."""


class _Pausing(Part):
    headroom: AutoSize = "auto"
    """Buffer for frames that arrive after a pause was sent. auto: from rate, cable, MTU and the
    peer's response."""
    cable: Length | None = None
    """Length of the cable, for `auto`; the link's delay is used if it is longer. Default: from the
    link's delay."""
    xoff: QueueLimit = XOFF_DEFAULT
    """Depth above which pauses are sent: a size, or dynamic(alpha) of the free buffer."""
    xon_offset: Size = 18_432
    """Distance below `xoff` at which transmission resumes; 18 KiB is the pipeline latency in
    SONiC's computation for Spectrum.
    """
    reserved: Size = 0
    """Guaranteed bytes of the group."""
    quanta: Quanta = 65_535
    """Length of the pauses that are sent, in units of 512 bit times; pauses are renewed before they
    expire."""
    response: AutoTime = "auto"
    """From the arrival of a pause to its effect here. auto: the limit of 802.3 annex 31B for the
    link's rate."""
    sends: bool = True
    """Sends pauses."""
    obeys: bool = True
    """Obeys pauses."""
    watchdog: Watchdog | None = None
    """Ends pause storms. Default: none."""


class Pfc(_Pausing):
    """Priority flow control (802.1Qbb): the named priorities are lossless; their senders are paused
    instead of dropping frames.
    """

    priorities: Priorities
    """The lossless priorities, each a separate group."""
    per_priority: dict[Annotated[int, Field(ge=0, le=7)], GroupThresholds] = {}
    """Thresholds of individual priorities that differ."""
    lossy: QueueLimit | None = None
    """Buffer that all other priorities together may use at this port. Default: all of it."""

    def thresholds(self, priority: int) -> GroupThresholds:
        """The thresholds of one lossless priority, complete."""
        own = self.per_priority.get(priority, GroupThresholds())
        usual = {name: getattr(self, name) for name in GroupThresholds.model_fields}
        stated = {
            name: value
            for name in GroupThresholds.model_fields
            if (value := getattr(own, name)) is not None
        }
        return GroupThresholds.model_construct(**usual | stated)


class LinkPause(_Pausing):
    """Pause of the whole link (802.3x): all frames that arrive at this port are lossless."""


class Police(Part):
    """A policer for frames that arrive at this port: frames that exceed the rate are dropped."""

    priorities: Priorities = list(range(PRIORITIES))
    """Classes to which it applies. Default: all."""
    rate: Rate
    """Committed rate, of frames without wire overhead."""
    burst: Size = 100_000
    """Committed burst [K]: tens of full frames."""
    per_flow: bool = False
    """One bucket for each flow instead of one for all (a cloud's rate limit for a single flow)."""
