"""Meanings of lines that the grammar does not cover."""

import re

from tailrace.importers.remarks import Verdict

MTU_WORDS = re.compile(r"\bmtu\b\D{0,60}?\b(\d{3,5})\b", re.IGNORECASE)
MTU_BYTES = range(576, 9217)
"""Cisco-NX-OS-device.yang: SetMTU.value."""

SECTIONS: dict[str, str] = {
    "router": "routing",
    "route-map": "routing",
    "vrf": "routing",
    "evpn": "forwarding",
    "vlan": "forwarding",
    "vpc": "forwarding",
    "fabricpath": "forwarding",
    "object-group": "an access list",
    "track": "management",
    "vdc": "management",
    "line": "management",
    "role": "management",
    "monitor": "management",
    "flow": "management",
    "aaa": "management",
    "key": "management",
    "fex": "management",
    "nxapi": "management",
    "callhome": "management",
    "telemetry": "management",
    "banner": "management",
    "scheduler": "management",
    "event": "management",
    "radius": "management",
    "tacacs+": "management",
}
"""First words of headings of sections without effect on queues, with their subject."""
SECTIONS_OF_TWO: dict[str, str] = {
    "ip sla": "management",
    "ip dhcp": "forwarding",
    "mac access-list": "an access list",
    "ipv6 access-list": "an access list",
    "template peer": "routing",
    "template peer-policy": "routing",
    "template peer-session": "routing",
    "crypto ca": "management",
    "l2vpn evpn": "forwarding",
}
"""The same for headings that need two words."""

EVERYDAY: dict[str, str] = {
    word: what
    for what, words in {
        "management": (
            "exit end conf config configure version boot cli line clock logging snmp-server "
            "username role ntp show copy install write reload terminal echo hostname service "
            "feature feature-set license banner crypto ssh telnet copp key aaa tacacs "
            "tacacs-server radius radius-server callhome errdisable rmon password userpassphrase "
            "vdc icam monitor flow sflow nxapi scheduler event track template power power-supply "
            "xml grpc telemetry fips archive alias sensor snmp limit-resource module slot "
            "hw-module diagnostic gold poap cfs vtp beacon locator-led system-message guestshell "
            "virtual-service app-hosting dot1x mka ptp enter building"
        ),
        "a port": (
            "description shutdown speed duplex switchport channel-group vpc lacp negotiate inherit "
            "storm-control fec bind load-interval link carrier-delay debounce medium mdix "
            "private-vlan delay port-channel lldp cdp udld encapsulation mac-address logging "
            "media-type port-type rate-mode lan transceiver layer2 macsec"
        ),
        "forwarding": (
            "vlan vrf ip ipv6 router mac arp fabric nv evpn hsrp vrrp vrrpv3 glbp vsan fcoe npiv "
            "name neighbor address-family fex bfd isis ospf ospfv3 eigrp rip redistribute network "
            "area distance maximum-paths route-target rd member vni ingress-replication "
            "mcast-group source-interface host-reachability suppress-arp anycast-gateway global "
            "multisite l2vpn vn-segment segment-routing mpls nve autostate peer-link "
            "peer-keepalive peer-gateway peer-switch auto-recovery delay role-priority fabricpath "
            "otv lisp pim msdp igmp unicast multicast itd pbr object-group preempt timers "
            "authentication track default-information max-metric passive-interface "
            "log-adjacency-changes router-id net is-type remote-as update-source send-community "
            "next-hop-self soft-reconfiguration advertise inject aggregate-address dampening "
            "graceful-restart limit-retransmission wait-for ebgp-multihop allowas-in "
            "disable-peer-as-check remove-private-as default-originate retain bestpath cluster-id "
            "confederation continue suppress retransmit summary-address dhcp proxy-arp redirects "
            "unreachables management routing-context"
        ),
        "routing": "route-map",
    }.items()
    for word in words.split()
}
"""First words of commands that do not affect queues, also after `no`."""
QUEUE_WORDS = re.compile(
    r"\b(qos|queuing|queue|queues|mtu|police|policer|wred|random-detect|pfc|ecn|buffer|priority-flow-control|dscp|cos)\b"
)
"""Words by which a command of those kinds may affect queues after all."""

NO_EFFECT: tuple[tuple[str, str], ...] = (
    (r"(no spanning-tree|spanning-tree (port|bpduguard|bpdufilter|guard|link-type))\b", "a port"),
    (
        r"(untagged cos|no pinning|pinning|no system interface|system interface|state enabled|default interface)\b",  # noqa: E501
        "a port",
    ),
    (
        r"(no )?system (default|vlan|nve|routing|admin-vdc|login|fabric|inactive|health|switchover|cores|memory)\b",  # noqa: E501
        "management",
    ),
    (r"(no )?bandwidth( inherit)?( \d+)?$", "the metric of routing"),
    (r"priority \d+( forwarding-threshold\b.*)?$", "forwarding"),
    (r"(no )?(hardware (multicast|vethernet)|packet latency|switchport monitor)\b", "a port"),
    (r"[\w.:-]+(\([\w.-]*\))?[#>]\s*$", "a prompt"),
    (r"match (ip|ipv6) (address|next-hop|route-source|multicast)\b", "routing"),
    (
        r"match (as-path|as-number|community|extcommunity|source-protocol|tag|route-type|metric)\b",
        "routing",
    ),
    (
        r"set (local-preference|metric|metric-type|community|extcommunity|as-path|origin|tag|weight)\b",  # noqa: E501
        "routing",
    ),
    (r"set (ip|ipv6) (next-hop|default next-hop|address)\b", "routing"),
    (r"no (pause|congestion-control)\b", "the switch's default: a lossy class"),
    (r"congestion-control tail-drop\b", "the switch's default"),
    (r"no hardware access-list\b", "an access list"),
    (r"(statistics|remark)\b", "bookkeeping"),
)
"""Patterns of lines that do not affect queues, with the reason."""

NOT_MODELLED: tuple[tuple[str, str], ...] = (
    (
        r"spanning-tree\b",
        "spanning tree: set network.spanning_tree, bridge_priority of "
        "switches and path_cost of links",
    ),
    (r"no hardware qos\b", "disables a mechanism: omit it from the scenario"),
    (r"hardware qos ing-pg-share\b", "buffer shares of ingress priority groups"),
    (r"hardware qos (min-buffer|reserve)", "reserved buffer: queues.NAME.reserved"),
    (r"hardware qos ns-buffer-profile\b", "buffer profile for network security"),
    (r"hardware (qos|access-list|profile)\b", "a setting of the ASIC"),
    (r"platform qos\b", "a setting of the ASIC's buffers"),
    (
        r"wred-queue qos-group-map\b",
        "restricts WRED to one queue: set aqm: {kind: red} for that queue only",
    ),
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
    if (what := _everyday(line)) is not None:
        return "no-effect", what, None
    for pattern, words in NOT_MODELLED:
        if re.match(pattern, line):
            return "not-modelled", words, None
    return "not-understood", "unknown command", None


def _everyday(line: str) -> str | None:
    """The subject of a command without effect on queues; None for any other line."""
    words = line.split()
    first = words[1] if words[0] in ("no", "default") and len(words) > 1 else words[0]
    return None if QUEUE_WORDS.search(line) else EVERYDAY.get(first)


def section_of(text: str) -> str:
    """The subject of the section below a heading; empty for a line that opens no known section."""
    words = text.lower().split()
    return SECTIONS_OF_TWO.get(" ".join(words[:2])) or SECTIONS.get(words[0], "")
