"""`policy-map type network-qos`, `hardware qos` and the commands of ports, from a policy."""

from collections.abc import Iterator, Mapping
from math import gcd

from tailrace.importers.nxos.units import time_words
from tailrace.scenario.policies.etrap import ETRAP_PROFILES_PS
from tailrace.scenario.policies.pause import GroupThresholds, LinkPause, Pfc
from tailrace.scenario.policies.switch import Policy, Switch

MTU_BYTES_DEFAULT = 1500
"""MTU of a class that states none (Cisco-NX-OS-device.yang, SetMTU.value)."""
PS_PER_MS = 10**9
PORT = "interface Ethernet1/{}"
EVERY_PORT = PORT.format(1)
"""The commands of a port are written below one interface; the other ports have the same."""


def network_lines(policy: Policy, groups: dict[str, int], mtu_bytes: int | None) -> list[str]:
    """Classes with `dpp`, `pause` and `mtu`; the default one includes unnamed classes."""
    classes: dict[int, list[str]] = {}
    if policy.dpp is not None:
        for priority in sorted(set(policy.dpp.priorities)):
            classes.setdefault(priority, []).append(
                f"    dpp set-qos-group {groups[policy.dpp.express]}"
            )
    if policy.pfc is not None:
        for priority in sorted(set(policy.pfc.priorities)):
            classes.setdefault(priority, []).extend(_pause(priority, policy.pfc))
    if mtu_bytes is not None:
        classes.setdefault(0, [])
        for actions in classes.values():
            actions.append(f"    mtu {mtu_bytes}")
    return [line for priority, actions in classes.items() for line in (_class(priority), *actions)]


def _class(priority: int) -> str:
    return f"  class type network-qos c-8q-nq{priority if priority else '-default'}"


def _pause(priority: int, pfc: Pfc) -> Iterator[str]:
    yield f"    pause pfc-cos {priority}" + ("" if pfc.sends else " receive")
    thresholds = _thresholds(pfc.thresholds(priority))
    if thresholds is not None:
        buffer, xoff, xon = thresholds
        yield f"    pause buffer-size {buffer} pause-threshold {xoff} resume-threshold {xon}"


def _thresholds(own: GroupThresholds) -> tuple[int, int, int] | None:
    """Buffer, XOFF and XON in bytes, where all are stated in bytes."""
    if own.xoff is None or own.xoff.unit != "bytes" or own.xon_offset is None:
        return None
    if not isinstance(own.headroom, int):
        return None
    xoff = own.xoff.amount
    return (xoff + own.headroom, xoff, xoff - own.xon_offset) if own.xon_offset <= xoff else None


def hardware_lines(policy: Policy) -> Iterator[str]:
    """Settings of the whole switch."""
    if policy.dpp is not None:
        yield f"hardware qos dynamic-packet-prioritization max-num-pkts {policy.dpp.max_packets}"
        yield f"hardware qos dynamic-packet-prioritization age-period {time_words(policy.dpp.age)}"
    etrap = policy.trap
    if etrap is not None:
        assert etrap.profile in ETRAP_PROFILES_PS, "profile names are those of the vendor"
        yield f"hardware qos afd profile {etrap.profile}"
        yield f"hardware qos etrap byte-count {etrap.byte_count} bytes"
        yield f"hardware qos etrap bandwidth-threshold {etrap.bandwidth_threshold} bytes"
        if etrap.age is not None:
            yield f"hardware qos etrap age-period {time_words(etrap.age)}"
    if policy.pausing is not None and policy.pausing.watchdog is not None:
        watchdog = policy.pausing.watchdog
        detection, restoration = (
            max(1, round(t / PS_PER_MS)) for t in (watchdog.detection, watchdog.restoration)
        )
        interval = gcd(detection, restoration)
        yield f"priority-flow-control watch-dog interval {interval}"
        yield f"priority-flow-control watch-dog shutdown-multiplier {detection // interval}"
        yield f"priority-flow-control watch-dog auto-restore {restoration // interval}"


def interface_lines(policy: Policy) -> Iterator[str]:
    """Settings of a port."""
    pausing = policy.pausing
    if pausing is None:
        return
    yield EVERY_PORT
    if isinstance(pausing, LinkPause):
        yield f"  flowcontrol send {'on' if pausing.sends else 'off'}"
        yield f"  flowcontrol receive {'on' if pausing.obeys else 'off'}"
    else:
        yield "  priority-flow-control mode on"
    if pausing.watchdog is not None:
        yield "  priority-flow-control watch-dog-interval on"


def port_lines(switch: Switch, others: Mapping[str, Policy]) -> Iterator[str]:
    """Ports with a queuing policy or an MTU of their own; the description of each names its
    neighbour."""
    own = {neighbour: policy for neighbour, policy in switch.ports.items() if policy in others}
    for number, neighbour in enumerate(dict.fromkeys((*own, *switch.port_mtu)), 2):
        yield PORT.format(number)
        yield f"  description {neighbour}"
        if neighbour in switch.port_mtu:
            yield f"  mtu {switch.port_mtu[neighbour]}"
        if neighbour in own:
            yield f"  service-policy type queuing output {own[neighbour]}"
