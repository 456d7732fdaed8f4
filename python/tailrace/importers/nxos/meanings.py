"""Meanings of lines that the grammar does not cover."""

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
    (r"route-map\b|match (ip|ipv6) (address|next-hop|route-source|multicast)\b", "routing"),
    (r"match (as-path|as-number|community|extcommunity|source-protocol|tag|route-type|metric)\b", "routing"),
    (r"set (local-preference|metric|metric-type|community|extcommunity|as-path|origin|tag|weight)\b", "routing"),
    (r"set (ip|ipv6) (next-hop|default next-hop|address)\b", "routing"),
    (r"no (pause|congestion-control)\b", "the switch's default: a lossy class"),
    (r"congestion-control tail-drop\b", "the switch's default"),
    (r"(statistics|remark)\b", "bookkeeping"),
)
"""Patterns of lines that do not affect queues, with the reason."""

NOT_MODELLED: tuple[tuple[str, str], ...] = (
    (
        r"spanning-tree\b",
        "spanning tree: set network.spanning_tree, bridge_priority of switches and path_cost of links",
    ),
    (r"no hardware qos\b", "disables a mechanism: omit it from the scenario"),
    (r"hardware qos ing-pg-share\b", "buffer shares of ingress priority groups"),
    (r"hardware qos (min-buffer|reserve)", "reserved buffer: queues.NAME.reserved"),
    (r"hardware qos ns-buffer-profile\b", "buffer profile for network security"),
    (r"hardware (qos|access-list|profile)\b", "a setting of the ASIC"),
    (r"platform qos\b", "a setting of the ASIC's buffers"),
    (r"wred-queue qos-group-map\b", "restricts WRED to one queue: set aqm: {kind: red} for that queue only"),
    (r"congestion-control\b", "congestion signalling of a queue: set queues.NAME.aqm"),
    (r"random-detect\b", "unsupported form of WRED: set queues.NAME.aqm"),
    (r"queue-limit\b", "unsupported form of a queue limit: set queues.NAME.limit"),
    (r"bandwidth\b", "unsupported form of a bandwidth share: set queues.NAME.share"),
    (r"shape\b", "unsupported form of a shaper: set queues.NAME.shape"),
    (r"(police|policer)\b", "unsupported form of a policer: set police"),
    (r"match\b", "unsupported condition of a class"),
    (r"set\b", "marking of frames: set priority and dscp of workloads"),
    (r"(deny|permit|\d+ (deny|permit))\b", "unsupported form of an access-list rule"),
    (r"(priority-flow-control|flowcontrol)\b", "unsupported form of pauses: set pfc or link_pause"),
    (r"pause\b", "unsupported form of lossless thresholds: set pfc"),
    (r"service-policy\b", "unsupported form of service-policy"),
    (r"qos\b", "unsupported QoS setting"),
    (r"(queuing|network-qos)\b", "unsupported QoS setting"),
)
"""Patterns of lines that would affect queues, with the corresponding keys of a scenario."""


LONG_NUMBER = re.compile(r"(?<![0-9])[0-9]{19,}(?![0-9])")
"""Digits of the longest number that is read."""


def meaning_of(text: str) -> tuple[Verdict, str, int | None]:
    """The meaning of an uncovered line, and the MTU where it states one."""
    line = text.strip().lower()
    mtu = next((int(m[1]) for m in MTU_WORDS.finditer(line) if int(m[1]) in MTU_BYTES), None)
    if mtu is not None:
        return "not-understood", f"not a command, but mentions an MTU of {mtu} bytes", mtu
    if (number := LONG_NUMBER.search(line)) is not None:
        return "not-understood", f"a number of {len(number[0])} digits is out of range", None
    if re.match(r"hardware qos afd profile\b", line):
        return "not-understood", "the profile must be mesh, burst or ultra-burst", None
    for pattern, words in NO_EFFECT:
        if re.match(pattern, line):
            return "no-effect", words, None
    for pattern, words in NOT_MODELLED:
        if re.match(pattern, line):
            return "not-modelled", words, None
    return "not-understood", "unknown command", None
