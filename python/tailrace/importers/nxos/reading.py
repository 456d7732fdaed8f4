"""Assigns each command to its class-map, policy-map, interface or system section."""

import re
from collections.abc import Callable, Iterable

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import (
    Block,
    ClassMap,
    Commands,
    Foreign,
    NxosConfig,
    PolicyClass,
    PolicyMap,
)
from tailrace.importers.nxos.meanings import meaning_of, section_of
from tailrace.importers.nxos.parse import (
    Comment,
    ConfigCommand,
    Entry,
    Skipped,
    Unread,
    parse,
    read_command,
)
from tailrace.importers.section import rate

PREFIX = "! tailrace "
"""Begins a comment with names that NX-OS cannot express."""
ENTRIES_MAX = 200_000
"""Lines and pieces of lines that are read at most."""
HEADINGS = frozenset(
    (
        "class-map",
        "policy-map",
        "interface",
        "system",
        "vlan",
        "vrf",
        "router",
        "line",
        "vpc",
        "monitor",
    )
)
"""First words of lines that end the section above them, even if the lines themselves are not
supported."""
NO_PORT = re.compile(
    r"(vlan|bdi|tunnel|tu\d|loopback|lo\d|mgmt|nve|null|overlay|inband|sup-eth|fc|vfc|san-port|veth)|.*\.\d+\Z",
    re.IGNORECASE,
)
"""Interfaces that are no port of the switch: of a VLAN, of a tunnel, of the switch itself, and
parts of ports."""


def read(text: str) -> NxosConfig:
    """The configuration in a text. Raises no error for any text; remarks report the problems."""
    config = NxosConfig()
    add_entries(config, parse(text)[:ENTRIES_MAX])
    return config


def add_entries(config: NxosConfig, entries: Iterable[Entry]) -> None:
    """Adds commands to a configuration, starting outside of any map."""
    block: Block | None = None
    for entry in entries:
        config.remarks.advance_to(entry.line, entry.text)
        match entry:
            case Comment():
                _comment(config, entry)
            case Unread():
                block = _unread(config, entry, block)
            case Skipped():
                config.remarks.add(entry.line, entry.text, "no-effect", entry.why)
            case ConfigCommand():
                config.commands.append(entry)
                block = _command(config, entry, block)


def _comment(config: NxosConfig, comment: Comment) -> None:
    if comment.is_cut:
        note = "read as a comment up to the next remark about this line, or to its end"
        config.remarks.add(comment.line, comment.text, "assumed", note)
    words = comment.text.removeprefix(PREFIX).split()
    if comment.text.startswith(PREFIX) and words[:1] == ["name"] and len(words) in (3, 4):
        config.names[words[1] if len(words) == 4 else "", words[-2]] = words[-1]


def _unread(config: NxosConfig, entry: Unread, block: Block | None) -> Block | None:
    """Adds a remark with the meaning of unsupported words; an unsupported heading ends the section
    above it."""
    first = entry.text.split(maxsplit=1)[0].lower()
    if isinstance(block, Foreign) and entry.is_indented:
        config.remarks.add(entry.line, entry.text, "no-effect", block.words)
        return block
    if isinstance(block, Commands) and block.name.startswith("access-list"):
        config.access_lists_unread.append((block.name.partition(" ")[2], entry))
        return block if entry.is_indented or first not in HEADINGS else None
    _remark_unread(config, entry, block)
    if isinstance(block, Commands):
        block.others.append(entry.text.lower())
    if first == "match" and isinstance(block, ClassMap):
        block.unread.append(entry.line)
    if first == "class":
        return block if isinstance(block, PolicyMap) else _policy_of(config, block)
    if not entry.is_indented and (words := section_of(entry.text)):
        return Foreign(words)
    return None if first in HEADINGS else block


def _remark_unread(config: NxosConfig, entry: Unread, block: Block | None) -> None:
    removed = entry.text.partition(" ")[2].strip() if entry.text.lower().startswith("no ") else ""
    if removed and read_command(removed) is not None and not _is_everyday(removed, block):
        _removal(config, entry, removed)
        return
    if (speed := SPEED.match(entry.text)) and _is_interface(block):
        _speed(config, entry, speed[1])
        return
    verdict, words, mtu = meaning_of(entry.text)
    config.remarks.add(entry.line, entry.text, verdict, words)
    if mtu is not None:
        config.mtus.append((entry.line, mtu, entry.text, "everything"))


def _is_everyday(removed: str, block: Block | None) -> bool:
    """`no description` and the like, which take back nothing that is imported."""
    return removed.split(maxsplit=1)[0].lower() == "description" or isinstance(block, Foreign)


def _speed(config: NxosConfig, entry: Unread, stated: str) -> None:
    """In a scenario, the rate of a port is that of its link, which belongs to the network and not
    to the switch."""
    if not stated.isdecimal():
        words = "the port negotiates its rate: set the rate of its link (network.link.rate)"
        config.remarks.add(entry.line, entry.text, "no-effect", words)
        return
    rate_bps = int(stated) * BPS_PER_SPEED
    config.port_rates[config.interfaces[-1].name.removeprefix("interface ")] = rate_bps
    config.remarks.add(
        entry.line,
        entry.text,
        "understood",
        f"rate of the port: set rate: {rate(rate_bps)} for its link",
    )


def _removal(config: NxosConfig, entry: Unread, removed: str) -> None:
    """`no` before a command removes a setting made above, or states a default."""
    earlier = next(
        (c for c in reversed(config.commands) if c.text.lower().split() == removed.lower().split()),
        None,
    )
    if earlier is None:
        config.remarks.add(
            entry.line, entry.text, "no-effect", "removes a setting that no earlier line makes"
        )
    else:
        words = f"negates line {earlier.line}, which is imported nevertheless: remove both lines"
        config.remarks.add(entry.line, entry.text, "contradiction", words)


def _command(config: NxosConfig, command: ConfigCommand, block: Block | None) -> Block | None:
    opener = OPENERS.get(command.verb)
    if opener is not None:
        return opener(config, command, block)
    if command.verb in EVERYWHERE:
        config.everywhere.append(command)
        return block
    match block:
        case ClassMap() if command.verb == "match" and block.kind != "control-plane":
            block.matches.append(command)
        case PolicyClass() if command.verb in ACTIONS[block.kind]:
            block.actions.append(command)
        case _ if command.verb == "watchdog_on" and not _is_interface(block):
            config.everywhere.append(command)
        case Commands() if command.verb in BELOW.get(block.name.split()[0], ()):
            block.commands.append(command)
        case Foreign():
            config.remarks.add(command.line, command.text, "no-effect", block.words)
        case _ if command.verb == "description":
            config.remarks.add(command.line, command.text, "no-effect", "bookkeeping")
        case (
            PolicyClass(kind="control-plane")
            | ClassMap(kind="control-plane")
            | Commands(name="control-plane")
        ):
            config.remarks.add(
                command.line, command.text, "no-effect", "concerns control-plane traffic only"
            )
        case _ if command.verb in ("random_detect_auto", "random_detect_ecn"):
            verdict, words, _ = meaning_of(command.text)
            config.remarks.add(command.line, command.text, verdict, words)
        case _:
            where = _block_name(block)
            config.remarks.add(command.line, command.text, "not-understood", f"not valid {where}")
    return block


def _is_interface(block: Block | None) -> bool:
    return isinstance(block, Commands) and block.name.startswith("interface")


def _switch_name(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block | None:
    if (earlier := config.switch_name) is not None:
        config.remarks.repeated(earlier.line, earlier.text, command.line, command.text)
    config.switch_name = command
    return None


def _class_map(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block:
    kind, name = tree.map_type(command.tree), tree.name(command.tree)
    matching = (tree.word(command.tree, "MATCHING") or "match-all").lower()
    made = config.class_maps.setdefault((kind, name), ClassMap(kind, name, matching == "match-any"))
    config.remarks.add(command.line, command.text, "understood", f"class '{name}'")
    return made


def _policy_map(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block:
    kind, name = tree.map_type(command.tree), tree.name(command.tree)
    made = config.policy_maps.setdefault((kind, name), PolicyMap(kind, name, command))
    _continues(config, made.command, command)
    return made


def _class_of(config: NxosConfig, command: ConfigCommand, block: Block | None) -> Block | None:
    policy = block if isinstance(block, PolicyMap) else _policy_of(config, block)
    if policy is None:
        config.remarks.add(
            command.line, command.text, "not-understood", "outside of any policy-map"
        )
        return None
    name = tree.name(command.tree)
    found = next((entry for entry in policy.classes if entry.name == name), None)
    if found is None:
        found = PolicyClass(policy.kind, name, command)
        policy.classes.append(found)
    _continues(config, found.command, command)
    return found


def _continues(config: NxosConfig, first: ConfigCommand, command: ConfigCommand) -> None:
    """A map that is opened again continues."""
    if command is not first:
        config.remarks.add(command.line, command.text, "understood", f"continues line {first.line}")


def _policy_of(config: NxosConfig, block: Block | None) -> PolicyMap | None:
    """The policy-map that a class belongs to."""
    if not isinstance(block, PolicyClass):
        return None
    return next(
        (
            policy
            for policy in config.policy_maps.values()
            if any(c is block for c in policy.classes)
        ),
        None,
    )


def _system(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block:
    config.remarks.add(
        command.line, command.text, "understood", "section with the policies of all ports"
    )
    return config.system


def _control_plane(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block:
    config.remarks.add(
        command.line, command.text, "no-effect", "concerns control-plane traffic only"
    )
    return Commands("control-plane")


def _interface(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block:
    name = " ".join(tree.words(command.tree, "NAME"))
    if NO_PORT.match(name):
        words = f"'{name}' is no port of the switch"
        config.remarks.add(command.line, command.text, "no-effect", words)
        return Foreign(words)
    config.interfaces.append(Commands(f"interface {name}"))
    config.remarks.add(command.line, command.text, "no-effect", "section of a port")
    return config.interfaces[-1]


def _access_list(config: NxosConfig, command: ConfigCommand, _: Block | None) -> Block:
    name = tree.name(command.tree)
    config.remarks.add(command.line, command.text, "understood", f"access list '{name}'")
    return config.access_lists.setdefault(name, Commands(f"access-list {name}"))


def _block_name(block: Block | None) -> str:
    match block:
        case None:
            return "outside of a map"
        case ClassMap():
            return f"in class-map '{block.name}'"
        case PolicyMap():
            return f"in policy-map '{block.name}', outside of a class"
        case PolicyClass():
            return f"in a class of a policy-map of type {block.kind}"
        case Commands():
            return f"below '{block.name}'"
        case Foreign():
            return "in a section about other things than queues"


OPENERS: dict[str, Callable[[NxosConfig, ConfigCommand, Block | None], Block | None]] = {
    "switch_name": _switch_name,
    "class_map": _class_map,
    "policy_map": _policy_map,
    "class_of": _class_of,
    "system_qos": _system,
    "interface": _interface,
    "port_profile": _interface,
    "control_plane": _control_plane,
    "access_list": _access_list,
}
SPEED = re.compile(r"speed\s+([1-9]\d{0,6}|auto)\b", re.IGNORECASE)
BPS_PER_SPEED = 1_000_000
"""NX-OS states speeds in Mbit/s (Cisco Nexus 9000 Series NX-OS Interfaces Configuration Guide,
"speed")."""
EVERYWHERE = frozenset(("hardware", "jumbo", "watchdog_time"))
ACTIONS: dict[str, frozenset[str]] = {
    "qos": frozenset(("set", "police")),
    "network-qos": frozenset(("mtu", "pause", "dpp")),
    "queuing": frozenset(
        (
            "bandwidth",
            "priority",
            "shape",
            "queue_limit",
            "random_detect",
            "random_detect_other",
            "random_detect_ecn",
            "random_detect_auto",
            "afd",
            "pause",
        )
    ),
    "control-plane": frozenset(),
}
"""Commands in a class by the type of its policy-map."""
BELOW: dict[str, frozenset[str]] = {
    "system": frozenset(("service_policy",)),
    "interface": frozenset(
        ("service_policy", "mtu", "pfc_mode", "watchdog_on", "flowcontrol", "description")
    ),
    "access-list": frozenset(("permit",)),
}
"""Commands below a heading by its first word."""
