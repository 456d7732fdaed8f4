"""The queueing part of a configuration: maps, interfaces and the commands below them."""

from dataclasses import dataclass, field

from tailrace.importers.nxos.parse import ConfigCommand
from tailrace.importers.remarks import Remarks


@dataclass
class ClassMap:
    """The conditions under which a frame belongs to a class."""

    kind: str
    name: str
    is_any: bool
    matches: list[ConfigCommand] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    """Lines of conditions that are not supported."""


@dataclass
class PolicyClass:
    """The actions of a policy for a class."""

    kind: str
    name: str
    command: ConfigCommand
    actions: list[ConfigCommand] = field(default_factory=list)


@dataclass
class PolicyMap:
    """A policy: classes in order."""

    kind: str
    name: str
    command: ConfigCommand
    classes: list[PolicyClass] = field(default_factory=list)


@dataclass
class Commands:
    """`system qos`, an interface or an access list with the commands below it."""

    name: str
    commands: list[ConfigCommand] = field(default_factory=list)


Place = ClassMap | PolicyMap | PolicyClass | Commands


@dataclass
class NxosConfig:
    """The queueing part of a configuration."""

    remarks: Remarks = field(default_factory=Remarks)
    switch_name: ConfigCommand | None = None
    class_maps: dict[tuple[str, str], ClassMap] = field(default_factory=dict)
    policy_maps: dict[tuple[str, str], PolicyMap] = field(default_factory=dict)
    system: Commands = field(default_factory=lambda: Commands("system qos"))
    interfaces: list[Commands] = field(default_factory=list)
    access_lists: dict[str, Commands] = field(default_factory=dict)
    everywhere: list[ConfigCommand] = field(default_factory=list)
    """`hardware qos`, `system jumbomtu`, `priority-flow-control watch-dog`: commands outside of any section."""
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names of queues by policy and class, from comments."""
    commands: list[ConfigCommand] = field(default_factory=list)
    """Every command, in order."""
    class_mtus: dict[int, tuple[int, ConfigCommand]] = field(default_factory=dict)
    """MTU by qos-group, of the network-qos policy in force."""
    port_rates: dict[str, int] = field(default_factory=dict)
    """Rate of ports with a `speed` command, in bit/s."""
    mtus: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Line, bytes, text and scope of each MTU, to find lines that contradict each other."""
