"""The queueing part of a configuration: ports and QoS profiles with their transmit queues, maps,
classes."""

from dataclasses import dataclass, field, fields
from typing import Any

from tailrace.importers.eos.defaults import COS_MAP, DSCP_MAP, QUEUE_MAP
from tailrace.importers.eos.platforms import Cell
from tailrace.importers.remarks import Remarks

Yaml = dict[str, Any]
Said = tuple[int, str]
"""Line and text of a statement."""


@dataclass
class TxQueue:
    """Stated settings of a transmit queue; None for settings that are not stated."""

    bandwidth_percent: int | None = None
    is_strict: bool | None = None
    shape_min_bps: int | None = None
    shape_max_bps: int | None = None
    marking: Yaml | None = None
    """Thresholds of `random-detect ecn`."""
    dropping: Yaml | None = None
    """Thresholds of `random-detect drop`."""

    def over(self, other: "TxQueue") -> "TxQueue":
        """These settings, and those of the other where these state none."""
        mine = {one.name: getattr(self, one.name) for one in fields(self)}
        return TxQueue(
            **{
                name: getattr(other, name) if value is None else value
                for name, value in mine.items()
            }
        )


@dataclass
class PortSettings:
    """An interface or a QoS profile."""

    name: str
    queues: dict[int, TxQueue] = field(default_factory=dict)
    trust: str | None = None
    """`cos`, `dscp` or `none`."""
    cos: int | None = None
    is_pausing: bool | None = None
    no_drop: dict[int, bool] = field(default_factory=dict)
    """Priorities with a stated value: whether they are lossless."""
    profile: str | None = None
    classifier: str | None = None
    """Name of a policy-map of type qos."""
    channel: str | None = None
    description: str = ""
    mtu: int | None = None
    mtu_line: int = 0
    rate_bps: int | None = None
    is_routed: bool = False
    is_shut: bool = False
    said: list[tuple[Said, str]] = field(default_factory=list)
    """Statements about queues, and the setting of each."""

    def over(self, other: "PortSettings") -> "PortSettings":
        """These settings, and those of the other where these state none."""
        queues = {
            n: self.queues.get(n, TxQueue()).over(other.queues.get(n, TxQueue())) for n in range(8)
        }
        return PortSettings(
            self.name,
            {n: queue for n, queue in queues.items() if queue != TxQueue()},
            self.trust or other.trust,
            other.cos if self.cos is None else self.cos,
            other.is_pausing if self.is_pausing is None else self.is_pausing,
            other.no_drop | self.no_drop,
            classifier=self.classifier or other.classifier,
            is_routed=self.is_routed or other.is_routed,
        )


@dataclass
class MemoryProfile:
    """`platform trident mmu queue profile`: limits of queues and of lossless groups."""

    limits: dict[int, str] = field(default_factory=dict)
    reserved: dict[int, int] = field(default_factory=dict)
    xoff: str | None = None
    xoffs: dict[int, str] = field(default_factory=dict)
    """By priority group."""
    said: list[tuple[Said, str]] = field(default_factory=list)


@dataclass
class ClassMap:
    """Conditions of a class: any of them."""

    conditions: list[Yaml] = field(default_factory=list)
    said: list[tuple[Said, str]] = field(default_factory=list)


@dataclass
class EosConfig:
    """The queueing part of a configuration."""

    remarks: Remarks = field(default_factory=Remarks)
    name: str | None = None
    cell: Cell | None = None
    """Of the model in the header; None for models of unknown ASICs."""
    cos_map: dict[int, int] = field(default_factory=lambda: dict(COS_MAP))
    dscp_map: dict[int, int] = field(default_factory=lambda: dict(DSCP_MAP))
    queue_map: dict[int, int] = field(default_factory=lambda: dict(QUEUE_MAP))
    profiles: dict[str, PortSettings] = field(default_factory=dict)
    ports: dict[str, PortSettings] = field(default_factory=dict)
    memory: dict[str, MemoryProfile] = field(default_factory=dict)
    memory_applied: str | None = None
    class_maps: dict[str, ClassMap] = field(default_factory=dict)
    policy_maps: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    """Class and traffic class, in order."""
    allows_unmarked: bool = False
    """`qos random-detect ecn allow non-ect`: frames that cannot be marked pass."""
    is_pausing_off: bool = False
    """`priority-flow-control all off`."""
    watchdog_s: dict[str, float] = field(default_factory=dict)
