"""The queueing part of a configuration: maps, interfaces and the commands below them."""

from dataclasses import dataclass, field

from tailrace.importers.nxos.parse import ConfigCommand, Unread
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

    @property
    def is_empty(self) -> bool:
        """Whether it states no condition, as a switch prints a class of its own."""
        return not self.matches and not self.unread


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
    others: list[str] = field(default_factory=list)
    """Lines below it that the grammar does not cover."""


@dataclass
class Foreign:
    """A section that concerns no queue of a port, with why."""

    words: str


Block = ClassMap | PolicyMap | PolicyClass | Commands | Foreign


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
    access_lists_unread: list[tuple[str, Unread]] = field(default_factory=list)
    """Lines of access lists that are not supported, with the name of the list."""
    everywhere: list[ConfigCommand] = field(default_factory=list)
    """`hardware qos`, `system jumbomtu`, `priority-flow-control watch-dog`: commands outside of any
    section."""
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
