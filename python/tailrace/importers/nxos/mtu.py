"""MTU of the switch, of its ports and of its classes."""

from collections import Counter

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import Commands, NxosConfig
from tailrace.importers.nxos.neighbour import neighbour_of
from tailrace.importers.section import Section
from tailrace.scenario.policies.switch import MTU_BYTES_MAX, MTU_BYTES_MIN

MTU_DEFAULT = 1500
"""Of a port without `mtu` (Cisco Nexus 9000 Series NX-OS Interfaces Configuration Guide)."""


def read_mtus(config: NxosConfig, host_mtus: dict[str, int], section: Section) -> None:
    """Sets the MTUs of the switch and of its ports; adds remarks about contradicting ones."""
    of_ports = _ports(config, section.switch_name)
    stated, is_clear = _stated(config, host_mtus)
    if not config.class_mtus and of_ports and (without := _without(config)):
        stated, is_clear = _most(config, of_ports, without), True
    section.mtu_bytes = stated
    if stated is not None and is_clear and MTU_BYTES_MIN <= stated <= MTU_BYTES_MAX:
        section.switch["mtu"] = f"{stated}B"
    other = {towards: mtu for towards, mtu in of_ports.items() if mtu != stated}
    if other:
        section.switch["port_mtu"] = {towards: f"{mtu}B" for towards, mtu in other.items()}


def _without(config: NxosConfig) -> list[Commands]:
    """Ports in use without an MTU, where others state one."""
    return [
        interface
        for interface in config.interfaces
        if (interface.others or interface.commands)
        and "shutdown" not in interface.others
        and all(command.verb != "mtu" for command in interface.commands)
    ]


def _most(config: NxosConfig, of_ports: dict[str, int], without: list[Commands]) -> int:
    """The MTU of most ports; those without one have the default."""
    named = {interface.name: neighbour_of(config, interface) for interface in without}
    of_ports |= {neighbour: MTU_DEFAULT for neighbour in named.values() if neighbour is not None}
    stated = [mtu for _, mtu, _, where in config.mtus if where.startswith(("interface ", OWN_PORT))]
    counts = Counter([MTU_DEFAULT] * len(without) + stated)
    most = counts.most_common(1)[0][0]
    more = f" and {len(without) - 1} more" if len(without) > 1 else ""
    words = f"{without[0].name}{more} without mtu: {MTU_DEFAULT} bytes, the default"
    config.remarks.add(0, "", "assumed", words)
    return most


def _ports(config: NxosConfig, switch: str) -> dict[str, int]:
    """The MTUs of ports whose description names a neighbour. Those of other ports are claims about
    the switch."""
    found = {}
    for interface in config.interfaces:
        for command in (c for c in interface.commands if c.verb == "mtu"):
            mtu, neighbour = tree.number(command.tree), neighbour_of(config, interface)
            if neighbour is not None and MTU_BYTES_MIN <= mtu <= MTU_BYTES_MAX:
                found[neighbour] = mtu
                words = (
                    f"switches.{switch}.port_mtu: {{{neighbour}: {mtu}B}}, where it is not "
                    "that of all ports"
                )
            else:
                words = (
                    "the MTU of a port whose description names no neighbour: write "
                    f"switches.{switch}.port_mtu: "
                    f"{{NEIGHBOUR: {mtu}B}}, where it is not that of all ports"
                )
            config.remarks.add(command.line, command.text, "understood", words)
            config.mtus.append((command.line, mtu, command.text, _scope(interface, neighbour)))
    return found


def _scope(interface: Commands, neighbour: str | None) -> str:
    return interface.name if neighbour is None else f"{OWN_PORT}{interface.name}"


OWN_PORT = "port of a neighbour: "
"""Begins the scope of an MTU that a port of a scenario can have by itself."""


def _stated(config: NxosConfig, host_mtus: dict[str, int]) -> tuple[int | None, bool]:
    """The MTU of the default class, or of the first port, and whether no other contradicts it."""
    for command in (c for c in config.everywhere if c.verb == "jumbo"):
        config.remarks.add(command.line, command.text, "understood", "the maximum MTU of ports")
        largest = tree.number(command.tree)
        for line, mtu, text, _ in config.mtus:
            if mtu > largest:
                config.remarks.add(
                    line, text, "contradiction", f"line {command.line} allows at most {largest}"
                )
    _classes(config)
    claims = sorted({claim for claim in config.mtus if not _is_other_class(claim[3])})
    stated = next(
        (mtu for _, mtu, _, where in claims if where.startswith("class ")),
        claims[0][1] if claims else None,
    )
    lines = {mtu: line for line, mtu, _, _ in reversed(claims)}
    shared = [claim for claim in claims if not claim[3].startswith(OWN_PORT)]
    differing = sorted({mtu for _, mtu, _, _ in shared})
    for line, mtu, text, _ in shared:
        other = next((m for m in differing if m != mtu), None)
        if other is not None:
            config.remarks.add(
                line,
                text,
                "contradiction",
                f"the MTU is {mtu} on this line but {other} on line {lines[other]}",
            )
    for host, mtu in host_mtus.items():
        if stated is not None and mtu > stated:
            words = (
                f"hosts.{host} of the scenario has an MTU of {mtu} bytes, but the switch is "
                f"configured for {stated}"
            )
            config.remarks.add(lines[stated], f"mtu {stated}", "contradiction", words)
    return stated, len(differing) <= 1


def _classes(config: NxosConfig) -> None:
    """Adds remarks about the MTU of each class: in a scenario a host has one MTU for all of its
    traffic."""
    usual = config.class_mtus.get(0, (None, None))[0]
    for group, (mtu, command) in config.class_mtus.items():
        if group == 0 or mtu == usual:
            words = (
                f"switches.NAME.mtu: {mtu}B, where no line contradicts it; set hosts.NAME.mtu "
                "to at most that"
            )
            config.remarks.add(command.line, command.text, "understood", words)
            continue
        words = (
            f"MTU of qos-group {group} only: set hosts.NAME.mtu to at most {mtu}B for hosts that "
            f"send priority {group}; the switch would drop longer frames, the model forwards them"
        )
        config.remarks.add(command.line, command.text, "understood", words)


def _is_other_class(where: str) -> bool:
    """Lossless classes may have an MTU of their own (FCoE: 2158)."""
    return where.startswith("class ") and not where.endswith(("default", "class-default"))
