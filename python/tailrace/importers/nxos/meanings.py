"""What lines that are no command of the grammar would have meant."""

import re

from tailrace.importers.remarks import Verdict

MTU_WORDS = re.compile(r"\bmtu\b\D{0,60}?\b(\d{3,5})\b", re.IGNORECASE)
MTU_BYTES = range(576, 9217)
"""Cisco-NX-OS-device.yang: SetMTU.value."""

NO_EFFECT: tuple[tuple[str, str], ...] = (
    (r"spanning-tree (port|bpduguard|bpdufilter|guard|link-type)\b", "a port"),
    (r"(untagged cos|no pinning|pinning|no system interface|system interface)\b", "a port"),
    (
        r"(exit|end|conf|config|configure|version|boot|cli|line|clock|logging|no logging|snmp-server|username|role)\b",
        "management",
    ),
    (r"ntp\b", "management"),
    (
        r"(show|copy|install|write|reload|terminal|echo|hostname|no feature|service unsupported-transceiver)\b",
        "management",
    ),
    (r"[\w.:-]+(\([\w.-]*\))?[#>]\s*$", "a prompt"),
    (r"(feature|license|banner|crypto|ssh|telnet|copp|key|aaa|tacacs|radius|callhome|errdisable|rmon)\b", "management"),
    (r"(description|shutdown|no shutdown|speed|duplex|switchport|no switchport|channel-group|vpc|lacp)\b", "a port"),
    (
        r"(no negotiate|negotiate|inherit port-profile|state enabled|storm-control|default interface|fec|bind)\b",
        "a port",
    ),
    (r"(vlan|vrf|ip address|ip route|ipv6|router|mac|arp|fabric|nv|evpn|udld|cdp|lldp|no cdp|no lldp)\b", "forwarding"),
    (r"(ip (ospf|router|pim|load-sharing)|hsrp|vsan|fcoe|npiv|name|neighbor|address-family|fex)\b", "forwarding"),
    (r"no (pause|congestion-control)\b", "the switch's default: a class that drops"),
    (r"congestion-control tail-drop\b", "the switch's default"),
    (r"(statistics|remark)\b", "bookkeeping"),
)
"""What begins lines that do not change queues."""

NOT_MODELLED: tuple[tuple[str, str], ...] = (
    (r"spanning-tree\b", "which links forward: network.spanning_tree, bridge_priority of switches, path_cost of links"),
    (r"no hardware qos\b", "switches a mechanism off: leave it out of the scenario"),
    (r"hardware qos ing-pg-share\b", "how ingress priority groups share the buffer"),
    (r"hardware qos (min-buffer|reserve)", "reserved buffer: queues.NAME.reserved"),
    (r"hardware qos ns-buffer-profile\b", "buffer profile for network security"),
    (r"hardware (qos|access-list|profile)\b", "a setting of the ASIC"),
    (r"platform qos\b", "a setting of the ASIC's buffers"),
    (r"wred-queue qos-group-map\b", "restricts WRED to one queue: give that queue alone aqm: {kind: red}"),
    (r"congestion-control\b", "how a queue signals congestion: queues.NAME.aqm"),
    (r"random-detect\b", "WRED in an unsupported form: queues.NAME.aqm"),
    (r"queue-limit\b", "a queue limit in an unsupported form: queues.NAME.limit"),
    (r"bandwidth\b", "a share of the port: queues.NAME.share"),
    (r"shape\b", "a shaper in an unsupported form: queues.NAME.shape"),
    (r"(police|policer)\b", "a policer in an unsupported form: police"),
    (r"match\b", "a condition of a class that the model does not know"),
    (r"set\b", "a mark on the frame: workloads carry priority and dscp"),
    (r"(deny|permit|\d+ (deny|permit))\b", "a rule of an access list in an unsupported form"),
    (r"(priority-flow-control|flowcontrol)\b", "pauses in an unsupported form: pfc or link_pause"),
    (r"pause\b", "lossless thresholds in an unsupported form: pfc"),
    (r"service-policy\b", "applies a policy in an unsupported form"),
    (r"qos\b", "a QoS setting"),
    (r"(queuing|network-qos)\b", "a QoS setting"),
)
"""What begins lines that would matter, and where a scenario says the same."""


LONG_NUMBER = re.compile(r"(?<![0-9])[0-9]{19,}(?![0-9])")
"""No quantity of a switch has so many digits, and no number of the grammar."""


def meaning_of(text: str) -> tuple[Verdict, str, int | None]:
    """What a line would have meant, and the MTU if it is about one."""
    line = text.strip().lower()
    mtu = next((int(m[1]) for m in MTU_WORDS.finditer(line) if int(m[1]) in MTU_BYTES), None)
    if mtu is not None:
        return "not-understood", f"not a command, but it mentions an MTU of {mtu} bytes", mtu
    if (number := LONG_NUMBER.search(line)) is not None:
        return "not-understood", f"a number of {len(number[0])} digits is out of every range", None
    if re.match(r"hardware qos afd profile\b", line):
        return "not-understood", "a profile is mesh, burst or ultra-burst", None
    for pattern, words in NO_EFFECT:
        if re.match(pattern, line):
            return "no-effect", words, None
    for pattern, words in NOT_MODELLED:
        if re.match(pattern, line):
            return "not-modelled", words, None
    return "not-understood", "unknown command", None
