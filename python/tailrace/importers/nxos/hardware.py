"""`hardware qos`, `priority-flow-control` and `flowcontrol`: settings of the whole switch and of
ports."""

from dataclasses import dataclass, field
from typing import Any

from tailrace.importers.nxos import tree
from tailrace.importers.nxos.config import NxosConfig
from tailrace.importers.nxos.network_qos import NetworkQos
from tailrace.importers.nxos.parse import ConfigCommand, Node
from tailrace.importers.remarks import Verdict
from tailrace.importers.section import size, time

WATCHDOG_INTERVAL_MS = 100
"""`priority-flow-control watch-dog interval` [K]."""
WATCHDOG_MULTIPLIER = 1
"""`shutdown-multiplier`: intervals without progress until a storm is declared [K]."""
RESTORE_MULTIPLIER = 10
"""`auto-restore`: intervals without pauses after which a queue works again [K]."""
PS_PER_MS = 10**9

Yaml = dict[str, Any]


@dataclass
class Hardware:
    """Settings of the switch as a whole."""

    dpp: Yaml = field(default_factory=dict)
    etrap: Yaml = field(default_factory=dict)
    commands: dict[str, ConfigCommand] = field(default_factory=dict)
    """The command of each setting, by its name."""

    def used(self, config: NxosConfig, *, has_dpp: bool, has_afd: bool) -> None:
        """Adds a remark for each setting: whether anything uses it."""
        for setting, command in self.commands.items():
            is_dpp = setting.startswith("dpp")
            if has_dpp if is_dpp else has_afd:
                config.remarks.add(
                    command.line, command.text, "understood", "dpp" if is_dpp else "etrap"
                )
            else:
                words = (
                    "no class has dpp set-qos-group" if is_dpp else "no queue has afd queue-desired"
                )
                config.remarks.add(command.line, command.text, "no-effect", words)


def hardware_of(config: NxosConfig) -> Hardware:
    """Every `hardware qos` setting of the configuration; a later line takes precedence."""
    hardware = Hardware()
    for command in (c for c in config.everywhere if c.verb == "hardware"):
        (part,) = tree.parts(
            command.tree,
            "dpp_packets",
            "dpp_age",
            "etrap_age",
            "etrap_bytes",
            "etrap_bandwidth",
            "afd_profile",
        )
        setting = str(part.data)
        value = _value(setting, part)
        if value is None:
            words = "expected a number above zero; times need usec, msec or sec"
            config.remarks.add(command.line, command.text, "not-understood", words)
            continue
        earlier = hardware.commands.get(setting)
        if earlier is not None:
            config.remarks.repeated(earlier.line, earlier.text, command.line, command.text)
        hardware.commands[setting] = command
        (hardware.dpp if setting.startswith("dpp") else hardware.etrap).update(value)
    return hardware


def _value(setting: str, part: Node) -> Yaml | None:
    if setting == "afd_profile":
        return {"profile": (tree.word(part, "PROFILE") or "burst").lower()}
    if setting in ("dpp_age", "etrap_age"):
        (amount,) = tree.parts(part, "amount")
        period_ps = tree.amount(amount, tree.TIME_UNITS_PS, "usec")
        return {"age": time(period_ps)} if period_ps else None
    number = tree.number(part)
    if number == 0:
        return None
    key = {
        "dpp_packets": "max_packets",
        "etrap_bytes": "byte_count",
        "etrap_bandwidth": "bandwidth_threshold",
    }[setting]
    return {key: number if setting == "dpp_packets" else size(number)}


def pausing_of(config: NxosConfig, network: NetworkQos) -> Yaml:
    """`pfc` or `link_pause` of the policy."""
    modes = _modes(config)
    link = _flowcontrol(config)
    watchdog = _watchdog(config, pauses=bool(network.lossless or link))
    if network.lossless:
        if modes == {"off"}:
            words = (
                "classes are lossless, but every port has "
                "priority-flow-control mode off: pfc is omitted"
            )
            config.remarks.add(0, "", "contradiction", words)
            return {}
        if link:
            words = (
                "flowcontrol pauses the whole link, but classes are lossless: a port can have only "
                "one of the two, and pfc is imported"
            )
            config.remarks.add(0, "flowcontrol", "contradiction", words)
        if not modes:
            config.remarks.add(
                0,
                "",
                "assumed",
                "no port has priority-flow-control mode; it is taken as on, the result of "
                "auto-negotiation",
            )
        return {"pfc": _pfc(network) | watchdog}
    if "on" in modes:
        config.remarks.add(
            0,
            "",
            "assumed",
            "priority-flow-control is on, but no network-qos class has pause: no class is lossless",
        )
    return {"link_pause": link | watchdog} if link else {}


def _pfc(network: NetworkQos) -> Yaml:
    pfc: Yaml = {"priorities": sorted(network.lossless)}
    stated = {
        priority: thresholds
        for priority, thresholds in sorted(network.lossless.items())
        if thresholds
    }
    if stated:
        pfc["per_priority"] = stated
    return pfc | ({"sends": False} if network.obeys_only else {})


def _modes(config: NxosConfig) -> set[str]:
    modes = set()
    for interface in config.interfaces:
        for command in (c for c in interface.commands if c.verb == "pfc_mode"):
            modes.add((tree.word(command.tree, "SWITCHED") or "").lower())
            config.remarks.add(command.line, command.text, "understood", f"pfc of {interface.name}")
    if "off" in modes and len(modes) > 1:
        config.remarks.add(
            0,
            "",
            "not-modelled",
            "ports differ in priority-flow-control: one policy with pfc "
            "is imported for all of them",
        )
    return modes


def _flowcontrol(config: NxosConfig) -> Yaml:
    on: dict[str, bool] = {}
    for interface in config.interfaces:
        for command in (c for c in interface.commands if c.verb == "flowcontrol"):
            side = (tree.word(command.tree, "FLOW") or "").lower()
            is_on = (tree.word(command.tree, "SWITCHED") or "").lower() != "off"
            on[side] = on.get(side, False) or is_on
            config.remarks.add(
                command.line, command.text, "understood", f"link_pause of {interface.name}"
            )
    if not any(on.values()):
        return {}
    return {"sends": on.get("send", False), "obeys": on.get("receive", False)}


def _watchdog(config: NxosConfig, *, pauses: bool) -> Yaml:
    settings = {
        "interval": WATCHDOG_INTERVAL_MS,
        "shutdown-multiplier": WATCHDOG_MULTIPLIER,
        "auto-restore": RESTORE_MULTIPLIER,
    }
    is_on = False
    verdict: Verdict = "understood" if pauses else "no-effect"
    words = "watchdog" if pauses else "no effect: no class is lossless, and no port has flowcontrol"
    everywhere = [
        c for interface in config.interfaces for c in interface.commands
    ] + config.everywhere
    for command in (c for c in everywhere if c.verb == "watchdog_on"):
        is_on |= (tree.word(command.tree, "SWITCHED") or "").lower() == "on"
        config.remarks.add(command.line, command.text, verdict, words)
    for command in (c for c in config.everywhere if c.verb == "watchdog_time"):
        settings[(tree.word(command.tree, "WATCHDOG") or "").lower()] = tree.number(command.tree)
        config.remarks.add(command.line, command.text, verdict, words)
    interval_ps = settings["interval"] * PS_PER_MS
    detection, restoration = (
        interval_ps * settings["shutdown-multiplier"],
        interval_ps * settings["auto-restore"],
    )
    return (
        {"watchdog": {"detection": time(detection), "restoration": time(restoration)}}
        if is_on
        else {}
    )
