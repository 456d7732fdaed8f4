"""What a configuration says about queueing: maps, interfaces and the commands below them."""

from dataclasses import dataclass, field

from tailrace.importers.nxos.parse import ConfigCommand
from tailrace.importers.remarks import Remarks


@dataclass
class ClassMap:
    """What makes a frame a member of a class."""

    kind: str
    name: str
    is_any: bool
    matches: list[ConfigCommand] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    """Lines of conditions that are not read."""


@dataclass
class PolicyClass:
    """What a policy does with a class."""

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
    """Everything that a configuration says about queueing."""

    remarks: Remarks = field(default_factory=Remarks)
    switch_name: ConfigCommand | None = None
    class_maps: dict[tuple[str, str], ClassMap] = field(default_factory=dict)
    policy_maps: dict[tuple[str, str], PolicyMap] = field(default_factory=dict)
    system: Commands = field(default_factory=lambda: Commands("system qos"))
    interfaces: list[Commands] = field(default_factory=list)
    access_lists: dict[str, Commands] = field(default_factory=dict)
    everywhere: list[ConfigCommand] = field(default_factory=list)
    """`hardware qos`, `system jumbomtu`, `priority-flow-control watch-dog`: they stand anywhere."""
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names of queues by policy and class, from comments."""
    commands: list[ConfigCommand] = field(default_factory=list)
    """Every command, in order."""
    class_mtus: dict[int, tuple[int, ConfigCommand]] = field(default_factory=dict)
    """MTU by qos-group, of the network-qos policy in force."""
    port_rates: dict[str, int] = field(default_factory=dict)
    """Bits per second of the ports that state a speed."""
    mtus: list[tuple[int, int, str, str]] = field(default_factory=list)
    """Line, bytes, text and whom it is for: to find lines that contradict each other."""
