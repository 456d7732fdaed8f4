"""Converts an EOS configuration to the switch section of a scenario."""

from collections import Counter
from typing import Any

from tailrace.importers.eos import defaults
from tailrace.importers.eos.config import EosConfig, PortSettings
from tailrace.importers.eos.queues import policy_of
from tailrace.importers.eos.reading import CHANNEL, read
from tailrace.importers.port_mtus import PortMtu, write_mtus
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PRIORITIES, Section, neighbour_in, usable_name
from tailrace.importers.vendor import is_certain

SWITCH_NAME, POLICY_NAME = "switch", "eos"
Yaml = dict[str, Any]


def import_eos(text: str, host_mtus: dict[str, int] | None = None) -> tuple[Section, Remarks]:
    """The section, and a remark about every statement. `host_mtus` of a scenario are compared with
    it."""
    config = read(text)
    section = Section(switch_name=usable_name(config.name or "", SWITCH_NAME))
    ports = _ports(config)
    complete = {name: _complete(config, port) for name, port in ports.items()}
    _policies(config, section, ports, complete)
    _classify(config, section, complete)
    _mtu(config, section, ports, host_mtus or {})
    section.port_rates = {name: port.rate_bps for name, port in ports.items() if port.rate_bps}
    _fates(config, ports)
    section.check(config.remarks)
    section.refused = _why_refused(config, text)
    return section, config.remarks


def _why_refused(config: EosConfig, text: str) -> str:
    """Why a text says nothing about the queues of a port; empty where it does."""
    about_queues = config.remarks.count("understood", "not-modelled") - (config.name is not None)
    if about_queues > 0 or is_certain(text, "eos"):
        return ""
    return "expected eos commands; no line is one"


def _ports(config: EosConfig) -> dict[str, PortSettings]:
    """Ports in use, or all if every one is shut down; without any, one with the defaults stands for
    all."""
    ports = {
        name: port
        for name, port in config.ports.items()
        if not name.lower().startswith(CHANNEL.lower())
    }
    used = {name: port for name, port in ports.items() if not port.is_shut} or ports
    if used:
        return used
    config.remarks.add(
        0, "", "assumed", "no port is configured: one with the defaults of EOS stands for all"
    )
    only = next(iter(config.profiles.values()), None) if len(config.profiles) == 1 else None
    return {"": PortSettings("", profile=only.name if only else None)}


def _complete(config: EosConfig, port: PortSettings) -> PortSettings:
    """The settings of a port, of its profile, and of its port channel where it states none
    itself."""
    channel = config.ports.get(port.channel or "")
    together = port
    for settings in (port, channel):
        if settings is None:
            continue
        if settings is not port:
            together = together.over(settings)
        profile = config.profiles.get(settings.profile or "")
        if profile is not None:
            together = together.over(profile)
        elif settings.profile is not None:
            words = f"there is no qos profile '{settings.profile}'"
            config.remarks.add(0, f"service-profile {settings.profile}", "contradiction", words)
    return together


def _policies(
    config: EosConfig,
    section: Section,
    ports: dict[str, PortSettings],
    complete: dict[str, PortSettings],
) -> None:
    """Ports with the same queues share a policy; the most common one becomes that of the switch."""
    kinds: list[tuple[Yaml, list[str]]] = []
    for name, port in complete.items():
        policy = policy_of(config, port)
        alike = next((names for known, names in kinds if known == policy), None)
        if alike is None:
            kinds.append((policy, [name]))
        else:
            alike.append(name)
    kinds.sort(key=lambda kind: -len(kind[1]))
    if any("limit" not in queue for policy, _ in kinds for queue in policy["queues"].values()):
        words = (
            "EOS does not print the limits of its ASIC: queues without one have the default of "
            "a scenario, dynamic(8)"
        )
        config.remarks.add(0, "", "assumed", words)
    for number, (policy, names) in enumerate(kinds):
        profile = usable_name(ports[names[0]].profile or "", POLICY_NAME)
        own = profile if profile not in section.policies else f"{profile}-{number}"
        section.policies[own] = policy
        if number == 0:
            section.switch["policy"] = own
            continue
        for name in names:
            neighbour = neighbour_in(ports[name].description)
            if neighbour is not None and neighbour != section.switch_name:
                section.switch.setdefault("ports", {})[neighbour] = own
                continue
            words = (
                "its description names no neighbour: write "
                f"switches.{section.switch_name}.ports: {{NEIGHBOUR: {own}}}"
            )
            config.remarks.add(
                0, name, "not-modelled", f"'{own}' is the policy of {name}, and {words}"
            )


def _classify(config: EosConfig, section: Section, complete: dict[str, PortSettings]) -> None:
    """The classification of most ports; a switch of a scenario has one."""
    kinds = Counter(
        (_trust(port), port.cos or defaults.COS, port.classifier) for port in complete.values()
    )
    (trust, cos, classifier), _ = kinds.most_common(1)[0]
    if len(kinds) > 1:
        words = (
            "ports differ in classification; a switch has one in a scenario: that of most "
            f"ports (trust {trust})"
        )
        is_default = all(
            port.trust is None and port.classifier is None for port in complete.values()
        )
        config.remarks.add(0, "", "assumed" if is_default else "not-modelled", words)
    rules: list[Yaml] = []
    otherwise: int | None = None
    for name, traffic_class in config.policy_maps.get(classifier or "", []):
        if name == "class-default":
            otherwise = traffic_class
        elif name in config.class_maps:
            rules += [
                {**condition, "class": traffic_class}
                for condition in config.class_maps[name].conditions
            ]
        else:
            words = f"there is no class-map '{name}'"
            config.remarks.add(0, f"class {name}", "contradiction", words)
    if classifier is not None and classifier not in config.policy_maps:
        config.remarks.add(
            0,
            f"service-policy {classifier}",
            "contradiction",
            "there is no such policy-map of type qos",
        )
    if otherwise is not None:
        rules.append({"pcp": list(PRIORITIES), "class": otherwise})
    elif trust == "none":
        rules.append({"pcp": list(PRIORITIES), "class": config.cos_map[cos]})
    else:
        key, mapped = ("dscp", config.dscp_map) if trust == "dscp" else ("pcp", config.cos_map)
        for traffic_class in PRIORITIES:
            values = [value for value, own in sorted(mapped.items()) if own == traffic_class]
            rules += [{key: values, "class": traffic_class}] if values else []
    section.switch["classify"] = rules


def _trust(port: PortSettings) -> str:
    """The trust of a port: by default code points if it is routed, otherwise priorities
    (`defaults`)."""
    return port.trust or ("dscp" if port.is_routed else "cos")


def _mtu(
    config: EosConfig, section: Section, ports: dict[str, PortSettings], host_mtus: dict[str, int]
) -> None:
    """MTUs of ports, if one states any; a switched port without one says nothing about routed
    frames."""
    if not any(port.mtu for port in ports.values()):
        return
    stated = {name: port for name, port in ports.items() if port.mtu or port.is_routed}
    defaults.note(
        config.remarks, *(["mtu"] if any(port.mtu is None for port in stated.values()) else [])
    )
    found = [
        PortMtu(name, port.mtu or defaults.MTU, neighbour_in(port.description), port.mtu_line)
        for name, port in stated.items()
    ]
    write_mtus(section, found, host_mtus, config.remarks)


def _fates(config: EosConfig, ports: dict[str, PortSettings]) -> None:
    """Adds a remark about every statement of a port or profile: used, or unused because nothing
    applies it."""
    channels = {port.channel for port in ports.values()}
    used = {name for name in config.ports if name in ports or name in channels}
    applied = {config.ports[name].profile for name in used} | {
        port.profile for port in ports.values()
    }
    for name, settings in config.ports.items():
        words = None if name in used else "the port is shut down or has no members"
        _remark(config, settings.said, words)
    for name, profile in config.profiles.items():
        _remark(
            config, profile.said, None if name in applied else f"no port has service-profile {name}"
        )
    for name, memory in config.memory.items():
        _remark(
            config,
            memory.said,
            None if name == config.memory_applied else f"profile '{name}' is not applied",
        )
    named = {one for classes in config.policy_maps.values() for one, _ in classes}
    for name, class_map in config.class_maps.items():
        _remark(config, class_map.said, None if name in named else f"no policy uses class '{name}'")


def _remark(config: EosConfig, said: list[tuple[tuple[int, str], str]], unused: str | None) -> None:
    for (line, text), words in said:
        config.remarks.add(
            line, text, "understood" if unused is None else "no-effect", unused or words
        )
