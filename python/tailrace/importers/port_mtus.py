"""The MTU of a switch and of its ports, from those of its ports: that of most ports, and the others
by neighbour."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tailrace.errors import few
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import PORTS_NAMED_MAX, Section
from tailrace.scenario.policies.switch import MTU_BYTES_MAX, MTU_BYTES_MIN


@dataclass(frozen=True)
class PortMtu:
    """The MTU of a port in use."""

    port: str
    mtu_bytes: int
    neighbour: str | None
    """The node at the other end, if the configuration names it."""
    line: int = 0
    """Of the statement; 0 for a default."""


def write_mtus(
    section: Section, ports: list[PortMtu], host_mtus: Mapping[str, int], remarks: Remarks
) -> None:
    """Sets the MTU of the switch and of ports that differ from it; `host_mtus` of a scenario are
    compared with them."""
    most = Counter(one.mtu_bytes for one in ports).most_common(1)[0][0]
    section.mtu_bytes = most
    _compare(ports, host_mtus, remarks)
    if MTU_BYTES_MIN <= most <= MTU_BYTES_MAX:
        section.switch["mtu"] = f"{most}B"
    else:
        words = f"MTUs are {MTU_BYTES_MIN} to {MTU_BYTES_MAX} bytes: frames of any length pass"
        remarks.add(_line(ports, most), f"mtu {most}", "not-modelled", words)
    other = [one for one in ports if one.mtu_bytes != most]
    for mtu in sorted({one.mtu_bytes for one in other}):
        _own(section, [one for one in other if one.mtu_bytes == mtu], mtu, remarks)


def _own(section: Section, ports: list[PortMtu], mtu: int, remarks: Remarks) -> None:
    """Ports with an MTU that is not that of the switch."""
    if not MTU_BYTES_MIN <= mtu <= MTU_BYTES_MAX:
        words = (
            f"MTUs are {MTU_BYTES_MIN} to {MTU_BYTES_MAX} bytes: that of {_named(ports)} is omitted"
        )
        remarks.add(ports[0].line, f"mtu {mtu}", "not-modelled", words)
        return
    unnamed = [one for one in ports if one.neighbour in (None, section.switch_name)]
    for one in (one for one in ports if one not in unnamed):
        assert one.neighbour is not None, "the others have none"
        earlier = section.switch.setdefault("port_mtu", {}).setdefault(one.neighbour, f"{mtu}B")
        if earlier != f"{mtu}B":
            words = f"another port towards '{one.neighbour}' has {earlier}, which is used"
            remarks.add(one.line, f"{one.port} mtu {mtu}", "not-modelled", words)
    if unnamed:
        words = (
            f"the MTU of {_named(unnamed)} is {mtu} bytes, and no neighbour is named: write "
            f"switches.{section.switch_name}.port_mtu: {{NEIGHBOUR: {mtu}B}}"
        )
        remarks.add(unnamed[0].line, unnamed[0].port, "not-modelled", words)


def _compare(ports: list[PortMtu], host_mtus: Mapping[str, int], remarks: Remarks) -> None:
    least = min(ports, key=lambda one: one.mtu_bytes)
    for host, mtu in host_mtus.items():
        if mtu > least.mtu_bytes:
            words = (
                f"hosts.{host} of the scenario has an MTU of {mtu} bytes, but the port is "
                f"configured for {least.mtu_bytes}"
            )
            remarks.add(least.line, f"{least.port} mtu {least.mtu_bytes}", "contradiction", words)


def _named(ports: list[PortMtu]) -> str:
    return few([one.port for one in ports], PORTS_NAMED_MAX)


def _line(ports: list[PortMtu], mtu: int) -> int:
    return next(one.line for one in ports if one.mtu_bytes == mtu)
