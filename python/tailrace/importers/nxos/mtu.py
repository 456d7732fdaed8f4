"""MTU of the switch, of its ports and of its classes."""

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig


def mtu_of(config: NxosConfig, host_mtus: dict[str, int]) -> int | None:
    """The MTU of the default class; adds remarks about every other MTU of the configuration that contradicts it."""
    for interface in config.interfaces:
        for command in (c for c in interface.commands if c.verb == "mtu"):
            config.remarks.add(command.line, command.text, "understood", "MTU of a port: set hosts.NAME.mtu")
            config.mtus.append((command.line, tree.number(command.tree), command.text, interface.name))
    for command in (c for c in config.everywhere if c.verb == "jumbo"):
        config.remarks.add(command.line, command.text, "understood", "the maximum MTU of ports")
        largest = tree.number(command.tree)
        for line, mtu, text, _ in config.mtus:
            if mtu > largest:
                config.remarks.add(line, text, "contradiction", f"line {command.line} allows at most {largest}")
    _classes(config)
    claims = sorted({claim for claim in config.mtus if not _is_other_class(claim[3])})
    stated = next((mtu for _, mtu, _, where in claims if where.startswith("class ")), claims[0][1] if claims else None)
    lines = {mtu: line for line, mtu, _, _ in reversed(claims)}
    for line, mtu, text, _ in claims:
        other = next((m for m in sorted(lines) if m != mtu), None)
        if other is not None:
            config.remarks.add(
                line, text, "contradiction", f"the MTU is {mtu} on this line but {other} on line {lines[other]}"
            )
    for host, mtu in host_mtus.items():
        if stated is not None and mtu > stated:
            words = f"hosts.{host} of the scenario has an MTU of {mtu} bytes, but the switch is configured for {stated}"
            config.remarks.add(lines[stated], f"mtu {stated}", "contradiction", words)
    return stated


def _classes(config: NxosConfig) -> None:
    """Adds remarks about the MTU of each class: in a scenario a host has one MTU for all of its traffic."""
    usual = config.class_mtus.get(0, (None, None))[0]
    for group, (mtu, command) in config.class_mtus.items():
        if group == 0 or mtu == usual:
            words = f"set hosts.NAME.mtu to at most {mtu}B; a switch of a scenario has no MTU"
            config.remarks.add(command.line, command.text, "understood", words)
            continue
        words = (
            f"MTU of qos-group {group} only: set hosts.NAME.mtu to at most {mtu}B for hosts that send priority "
            f"{group}; the switch would drop longer frames, the model forwards them"
        )
        config.remarks.add(command.line, command.text, "understood", words)


def _is_other_class(where: str) -> bool:
    """Lossless classes may have an MTU of their own (FCoE: 2158)."""
    return where.startswith("class ") and not where.endswith(("default", "class-default"))
