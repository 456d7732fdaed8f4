"""Recognises the vendor of a configuration before it is read: by prompts, comments and
characteristic statements.

The commands of many vendors look alike, and a configuration read as that of another vendor gives a
meaningless section. Every sign counts once, with its weight; the vendor with the highest sum is
named. A statement that a vendor does not have excludes it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

LINES_MAX = 20_000
"""Lines that are examined; the vendor is recognisable long before."""
LINE_CHARACTERS_MAX = 200
SCORE_MIN = 2
"""Signs of less weight name no vendor."""

NXOS, EOS, SONIC, NEXUS_7000 = "Cisco NX-OS", "Arista EOS", "SONiC", "Cisco NX-OS of a Nexus 7000"
IOS = "Cisco IOS or IOS-XE"
ALIKE = (NXOS, EOS, IOS)
"""Vendors whose fragments may be valid for each other."""
SUPPORTED = {"nxos": NXOS, "sonic": SONIC, "eos": EOS}
"""Vendors that can be imported, by the name of their importer."""

SIGNS: dict[str, tuple[tuple[int, str], ...]] = {
    NXOS: (
        (5, r"!RANCID-CONTENT-TYPE: cisco-nx"),
        (3, r"!Command: show"),
        (3, r"version \d+\.\d+\(\d+"),
        (3, r"vdc \S+ id \d|boot (nxos|kickstart)\b"),
        (2, r"^(no )?feature [\w-]+$"),
        (2, r"switchname "),
        (2, r"(policy-map|class-map|class) type network-qos .*|policy-map type queuing \S+"),
        (2, r"class type queuing c-|class type network-qos c-|pause (pfc-cos|no-drop)"),
        (2, r"(set|match) qos-group \d"),
        (2, r"hardware (qos|profile)|afd queue-desired|queue-limit dynamic|dpp set-qos-group"),
        (1, r"service-policy type (qos|queuing|network-qos) (input|output) "),
        (1, r"bandwidth remaining percent|priority level \d|random-detect minimum-threshold"),
        (1, r"interface Ethernet[1-9]\d*/\d+(/\d+)?$|system qos"),
        (1, r"(class-map|policy-map) type qos "),
        (1, r"vrf context |vpc (domain|\d)"),
    ),
    NEXUS_7000: (
        (9, r"(class-map|class) type queuing .*\b(\dp)?\dq\dt-(in|out)-|.*\bdefault-nq-\de-"),
        (
            9,
            r"(class-map|class) type (queuing|network-qos) .*\b(c-nq-\de-|c-\de-|\dq\dt-\de-|\de-\dq)",  # noqa: E501
        ),
        (9, r"limit-resource module-type "),
    ),
    EOS: (
        (5, r"! device: .*\bEOS|!RANCID-CONTENT-TYPE: arista"),
        (3, r"boot system \S+.*\.swi$"),
        (3, r"(uc-|mc-)?tx-queue \d"),
        (
            3,
            r"transceiver qsfp default-mode|service routing protocols model|daemon TerminAttr|mlag configuration",  # noqa: E501
        ),
        (
            3,
            r"management (api|ssh|console|security|telnet)\b|boot system flash:/?\S*EOS|vlan internal o",  # noqa: E501
        ),
        (3, r"platform (trident|sand|tomahawk|strata|sfe|jericho|arad|fap|petraA|fm6000)\b"),
        (2, r"! Command: show running-config"),
        (2, r"qos (map (cos|dscp|exp|traffic-class)|profile|rewrite|tx-queue|random-detect)\b"),
        (2, r"(default |no )?qos trust( (cos|dscp))?$|set traffic-class \d|service-profile "),
        (2, r"priority-flow-control (on|priority \d (no-)?drop|pause watchdog)"),
        (
            2,
            r"router bfd|router (l2-vpn|traffic-engineering)|ip virtual-router mac-address|interface Vxlan\d",  # noqa: E501
        ),
        (2, r"ip routing( vrf \S+)?$|no ip routing vrf \S+|vrf instance |switchport trunk group "),
        (
            2,
            r"switchport default mode |interface (defaults|Dps\d)|counters per-entry|tcp mss ceiling ",  # noqa: E501
        ),
        (
            2,
            r"speed (forced )?\d+(g\S*|full|half)$|isis enable \S|ptp mode boundary|sync-e$|flow tracker ",  # noqa: E501
        ),
        (2, r"interface (Management|Port-Channel)\d"),
        (1, r"interface Ethernet\d+"),
        (
            1,
            r"error-correction encoding|queue-monitor|class-map type qos|policy-map type (qos|quality-of-service)",  # noqa: E501
        ),
    ),
    IOS: (
        (5, r"!RANCID-CONTENT-TYPE: cisco$"),
        (
            3,
            r"version 1[0-9]\.\d+$|Current configuration : |no service pad|boot-(start|end)-marker",
        ),
        (3, r"srr-queue |priority-queue out|mls qos|auto qos|queue-buffers ratio|wrr-queue "),
        (
            2,
            r"interface (Gigabit|Fast|TwentyFiveGig|TwoGig|Hundred|Forty)\w*\d|interface (TenGigabitEthernet|Serial)\d",  # noqa: E501
        ),
        (2, r"service (timestamps|password-encryption)"),
        (
            2,
            r"fair-queue|priority percent \d|random-detect dscp-based|match (ip )?dscp [a-z]|queue-limit \d+$",  # noqa: E501
        ),
        (2, r"ip (cef|classless|subnet-zero|forward-protocol)|switchport trunk encapsulation"),
        (2, r"access-list \d+ (permit|deny|remark) |interface (Ethernet|e|eth)0/\d"),
        (
            1,
            r"bandwidth remaining (percent|ratio) |priority level [12]|bandwidth percent \d|ip access-list extended ",  # noqa: E501
        ),
        (
            1,
            r"line (con 0|vty 0 \d|aux 0)|class-map match-(any|all) |service-policy (input|output) ",  # noqa: E501
        ),
    ),
    "Cisco IOS XR": (
        (4, r"!! IOS XR"),
        (
            3,
            r"interface (TenGigE|HundredGigE|Bundle-Ether|MgmtEth|FortyGigE|GigabitEthernet\d+/\d+/\d+/\d+)",  # noqa: E501
        ),
        (2, r"(route-policy \S+|end-policy|router static)$"),
    ),
    "Juniper Junos": (
        (4, r"## Last (commit|changed)"),
        (
            3,
            r"set (system|interfaces|class-of-service|protocols|chassis|firewall|routing-options|policy-options|groups|"  # noqa: E501
            r"security|vlans|routing-instances|applications|switch-options) \S",
        ),
        (
            3,
            r"(system|interfaces|class-of-service|protocols|chassis|groups|policy-options|firewall) \{$",  # noqa: E501
        ),
        (2, r"version \S+;$|\S+ \{ */\* .* \*/$"),
    ),
    "NVIDIA Cumulus Linux": (
        (4, r"nv (set|config|unset) |net (add|commit|del) ?|- set:$"),
        (
            3,
            r"(traffic|priority_group|cos_egr_queue|egr_queue|flow_control|source\.\w+|dscp_to_queue|port_group)\.\w+",
        ),
        (3, r"frr (version|defaults)|(auto|iface) (swp|bond|bridge)\S*|# cumulus"),
    ),
    "Dell OS10": (
        (4, r"! Version 10\.\d|OS10[#>(]"),
        (
            3,
            r"interface (ethernet|mgmt)\d+/\d+/\d+|qos-map traffic-class|trust (dot1p|dscp)-map|random-detect color",  # noqa: E501
        ),
        (3, r"ets mode on|class-map type application|service-policy (input|output) type"),
        (2, r"wred \S+$|match queue \d|queue \d+ qos-group |qos-group [\d,-]+ (dot1p|dscp) "),
    ),
    "Dell FTOS (OS9)": (
        (4, r"! Version [89]\.\d|.*\bForce10\b"),
        (
            3,
            r"dcb-map |dcb enable|priority-pgid |priority-group \d+ bandwidth|redundancy auto-sync|service-class ",  # noqa: E501
        ),
        (
            3,
            r"boot system stack-unit|interface (fortyGigE|ManagementEthernet|TenGigabitEthernet|hundredGigE) \d",  # noqa: E501
        ),
        (2, r"stack-unit \d|protocol lldp$"),
    ),
    "Huawei VRP": (
        (4, r"!Software Version V|<HUAWEI>"),
        (
            3,
            r"sysname |traffic (classifier|behavior) |qos (drr|pq|wred|schedule-profile|buffer)\b|dcb (pfc|ets)",  # noqa: E501
        ),
        (
            3,
            r"interface (10GE|25GE|40GE|50GE|100GE|200GE|400GE|XGigabitEthernet|MEth|Vlanif|Eth-Trunk)\s?\d",  # noqa: E501
        ),
        (2, r"undo |port link-type |vlan batch |display "),
    ),
    "HPE Comware": (
        (5, r"version \d\.\d\.\d+, (Release|Feature|ESS|Ess)"),
        (
            5,
            r"interface (Ten-GigabitEthernet|M-GigabitEthernet|FortyGigE|HundredGigE|Bridge-Aggregation)\d",  # noqa: E501
        ),
        (2, r"sysname |undo "),
    ),
    "HPE ProCurve": (
        (5, r"; ?J\w+ Configuration Editor|; Ver #"),
        (3, r"qos (type-of-service|queue-config|dscp-map|priority) |hostname \""),
        (2, r"(un)?tagged [A-Z]?\d|power-over-ethernet|max-vlans"),
    ),
    "Aruba AOS-CX": (
        (5, r"!Version ArubaOS-CX"),
        (3, r"qos (queue-profile|schedule-profile) \S+|apply qos (queue|schedule)-profile|vsx$"),
    ),
}
FEATURE = r"^feature [\w-]+$"
WITHOUT: dict[str, tuple[str, ...]] = {
    NXOS: (
        r"interface Ethernet\d+$|interface (Ethernet|e|eth)0/\d|access-list \d+ (permit|deny) ",
        r"(ip|mac) access-list (standard|extended) |interface (Gigabit|Fast|TenGigabit|TwentyFiveGig|Hundred)\w*\d",  # noqa: E501
    ),
    EOS: (
        FEATURE,
        r"(class-map|policy-map|class|service-policy) type (queuing|network-qos)\b|(set|match) qos-group |switchname ",  # noqa: E501
        r"vrf context |access-list \d+ (permit|deny) |ip access-list extended ",
    ),
    IOS: (
        FEATURE,
        r"(class-map|policy-map|class|service-policy) type (qos|queuing|network-qos)\b|vrf context |switchname ",  # noqa: E501
        r"interface (Port-Channel|Management)\d",
    ),
}
"""Statements that a vendor does not have."""
JSON_DATABASE = re.compile(r"\s*(\{|\[\s*\{)\s*[\"}]")
PROMPT = re.compile(r"[\w.@:/-]+(\([\w.-]+\))?[#>]\s*(?=\S)")


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern that begins with ^ is that of a line without indentation."""
    return re.compile(pattern if pattern.startswith("^") else f" ?(?:{pattern})")


PATTERNS = {
    name: [(weight, _compiled(pattern)) for weight, pattern in signs]
    for name, signs in SIGNS.items()
}
EXCLUDING = {
    name: [_compiled(pattern) for pattern in patterns] for name, patterns in WITHOUT.items()
}


@dataclass(frozen=True)
class Recognised:
    """A vendor with the line of the highest weight."""

    name: str
    score: int
    line: int
    text: str


@dataclass(frozen=True)
class Excluded:
    """A line that a vendor does not have, and the vendors that do."""

    line: int
    text: str
    others: list[str]


def recognised(text: str) -> dict[str, Recognised]:
    """The vendors of which a text has signs, by name; a database in JSON is that of SONiC."""
    if JSON_DATABASE.match(text):
        return {SONIC: Recognised(SONIC, 9, 1, "a database in JSON")}
    left = {name: list(signs) for name, signs in PATTERNS.items()}
    found: dict[str, tuple[int, int, int, str]] = {}
    for number, line in _lines(text):
        for name, signs in left.items():
            for sign in [sign for sign in signs if sign[1].match(line)]:
                signs.remove(sign)
                score, weight, *first = found.get(name, (0, 0, 0, ""))
                best = (sign[0], number, line.strip()) if sign[0] > weight else (weight, *first)
                found[name] = (score + sign[0], *best)  # type: ignore[assignment]
    return {
        name: Recognised(name, score, line, said) for name, (score, _, line, said) in found.items()
    }


def other_vendor(text: str, importer: str) -> Recognised | None:
    """The vendor of a text where it is another one than that of the importer."""
    found, own_name = recognised(text), SUPPORTED[importer]
    own = found.get(own_name)
    others = sorted(
        (one for name, one in found.items() if name != own_name), key=lambda one: -one.score
    )
    if others and others[0].score >= SCORE_MIN and (own is None or others[0].score > own.score):
        return others[0]
    return None


def excluded(text: str, importer: str) -> Excluded | None:
    """Why a text without certain signs of the importer's vendor is of another one."""
    own_name = SUPPORTED[importer]
    if is_certain(text, importer) or (line := _excluding(text, own_name)) is None:
        return None
    return Excluded(
        *line, [name for name in ALIKE if name != own_name and _excluding(text, name) is None]
    )


def also_valid(text: str, importer: str) -> list[str]:
    """The other vendors whose configuration a text may be as well: no sign has more weight for the
    importer's vendor."""
    found, own_name = recognised(text), SUPPORTED[importer]
    if own_name not in ALIKE or SONIC in found:
        return []
    scores = {name: found[name].score if name in found else 0 for name in ALIKE}
    least = scores[own_name]
    return [
        name
        for name in ALIKE
        if name != own_name and scores[name] >= least and _excluding(text, name) is None
    ]


def is_certain(text: str, importer: str) -> bool:
    """Whether signs of enough weight name the vendor of the importer."""
    found = recognised(text).get(SUPPORTED[importer])
    return found is not None and found.score >= SCORE_MIN


def _excluding(text: str, name: str) -> tuple[int, str] | None:
    """The first line that a vendor does not have."""
    for number, line in _lines(text):
        if any(pattern.match(line) for pattern in EXCLUDING.get(name, [])):
            return number, line.strip()
    return None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The first lines without prompt; of their indentation, one space is left."""
    for number, raw in enumerate(
        text[: LINES_MAX * LINE_CHARACTERS_MAX].splitlines()[:LINES_MAX], 1
    ):
        line = raw.strip()[:LINE_CHARACTERS_MAX]
        if not line:
            continue
        if not line.startswith(("OS10", "<")):
            line = PROMPT.sub("", line, count=1)
        yield number, f" {line}" if raw[0].isspace() else line
