"""Assigns each statement to its interface, QoS profile, transmit queue, map or class."""

import re
from collections.abc import Callable

from tailrace.importers.eos.config import (
    ClassMap,
    EosConfig,
    MemoryProfile,
    PortSettings,
    Said,
    TxQueue,
)
from tailrace.importers.eos.meanings import SECTIONS, meaning_of
from tailrace.importers.eos.platforms import cell_of
from tailrace.importers.eos.thresholds import THRESHOLDS, red_of
from tailrace.importers.eos.values import alpha_of, expanded, numbers
from tailrace.importers.nxos.lines import ConfigLine, logical_lines
from tailrace.importers.section import rate

KBPS = 1000
SPEED = re.compile(r"speed (?:forced )?(\d{1,6})(g)?\S*", re.IGNORECASE)
"""In Gbit/s with `g`, otherwise in Mbit/s."""
MBPS, GBPS = 10**6, 10**9
NO_PORT = re.compile(
    r"(vlan|loopback|management|vxlan|tunnel|dps|recirc|bvi|.*\.\d+\Z)", re.IGNORECASE
)
CHANNEL = "Port-Channel"
LIST = r"([\w,\- ]+?)"

Part = tuple[PortSettings, int]
"""A transmit queue of a port or profile."""
Scope = PortSettings | Part | MemoryProfile | ClassMap | str | None
"""The object that statements below a heading configure: `str` is a policy-map, `FOREIGN` an
unrelated section."""
FOREIGN = ""


def read(text: str) -> EosConfig:
    """The configuration in a text. Raises no error for any text; remarks report the problems."""
    reader = _Reader()
    reader.config.cell = cell_of(text)
    for line in logical_lines(text, lambda _: False):
        reader.read(line)
    return reader.config


class _Reader:
    """The configuration under construction, and the section that is open."""

    def __init__(self) -> None:
        self.config = EosConfig()
        self.remarks = self.config.remarks
        self.scope: Scope = None
        self.several: list[PortSettings] = []
        """All ports of a range, of which the first is the scope."""
        self.classes: dict[str, str] = {}
        """The open class of each policy-map."""

    def read(self, line: ConfigLine) -> None:
        text = line.text.split(" !", maxsplit=1)[0].strip()
        if not text or text.startswith(("!", "#")):
            return
        said = (line.number, text)
        self.remarks.advance_to(*said)
        if line.skipped:
            self.remarks.add(*said, "no-effect", line.skipped)
        elif (self.scope == FOREIGN and line.is_indented) or not self._statement(said, text):
            self._other(said, is_indented=line.is_indented)

    def _statement(self, said: Said, text: str) -> bool:
        """Whether it is a statement of the open section, of the one around it, or a heading."""
        lower = " ".join(text.split())
        for statements in (HEADINGS, *_statements(self.scope)):
            for pattern, handle in statements:
                found = pattern.fullmatch(lower)
                if found is not None and handle(self, said, found):
                    return True
        return False

    def _other(self, said: Said, *, is_indented: bool) -> None:
        if self.scope == FOREIGN and is_indented:
            self.remarks.add(*said, "no-effect", "forwarding or management")
            return
        is_interface = isinstance(self.scope, PortSettings | tuple) and is_indented
        verdict, words = meaning_of(said[1], is_interface=is_interface)
        self.remarks.add(*said, verdict, words)
        if not is_indented and said[1].split()[0].lower() in SECTIONS:
            self.scope = FOREIGN
        if said[1].lower().startswith("mc-tx-queue"):
            self.scope = (
                FOREIGN
                if not isinstance(self.scope, PortSettings | tuple)
                else (_port_settings(self.scope), MULTICAST)
            )

    # --- headings ---------------------------------------------------------------------------------

    def hostname(self, said: Said, found: re.Match[str]) -> bool:
        self.config.name = found[1]
        self.remarks.add(*said, "understood", "name of the switch")
        self.scope = None
        return True

    def interface(self, said: Said, found: re.Match[str]) -> bool:
        if NO_PORT.match(found[1]):
            self.remarks.add(*said, "no-effect", f"'{found[1]}' is no port of the switch")
            self.scope = FOREIGN
            return True
        names = expanded(found[1])
        self.several = [self.config.ports.setdefault(name, PortSettings(name)) for name in names]
        self.scope = self.several[0]
        self.remarks.add(*said, "no-effect", "section of a port")
        return True

    def profile(self, said: Said, found: re.Match[str]) -> bool:
        self.scope = self.config.profiles.setdefault(found[1], PortSettings(found[1]))
        self.several = [self.scope]
        self.scope.said.append((said, f"QoS profile '{found[1]}'"))
        return True

    def memory(self, said: Said, found: re.Match[str]) -> bool:
        if found[2]:
            self.config.memory_applied = found[1]
            self.remarks.add(*said, "understood", f"limits of queues: '{found[1]}' is applied")
            self.scope = None
            return True
        self.scope = self.config.memory.setdefault(found[1], MemoryProfile())
        self.scope.said.append((said, f"limits of queues '{found[1]}'"))
        return True

    def class_map(self, said: Said, found: re.Match[str]) -> bool:
        self.scope = self.config.class_maps.setdefault(found[1], ClassMap())
        self.scope.said.append((said, f"class '{found[1]}'"))
        return True

    def policy_map(self, said: Said, found: re.Match[str]) -> bool:
        self.config.policy_maps.setdefault(found[1], [])
        self.scope = f"policy-map {found[1]}"
        self.remarks.add(*said, "understood", f"classification '{found[1]}'")
        return True

    def map(self, said: Said, found: re.Match[str]) -> bool:
        kind, listed, to, value = found[1], found[2], found[3], int(found[4])
        target = {
            "cos": self.config.cos_map,
            "dscp": self.config.dscp_map,
            "traffic-class": self.config.queue_map,
        }[kind]
        if (kind == "traffic-class") != to.endswith("tx-queue"):
            return False
        values = numbers(listed, 63 if kind == "dscp" else 7)
        if values is None:
            self.remarks.add(
                *said,
                "not-understood",
                f"a list of numbers from 0 to {63 if kind == 'dscp' else 7}",
            )
        else:
            target.update(dict.fromkeys(values, value))
            self.remarks.add(*said, "understood", f"{kind} to {to.removeprefix('uc-')}")
        self.scope = None
        return True

    def allows(self, said: Said, _: re.Match[str]) -> bool:
        self.config.allows_unmarked = True
        self.remarks.add(*said, "understood", "aqm: red: not_capable")
        return True

    def pauses_off(self, said: Said, _: re.Match[str]) -> bool:
        self.config.is_pausing_off = True
        self.remarks.add(*said, "understood", "no pfc at any port")
        return True

    def watchdog(self, said: Said, found: re.Match[str]) -> bool:
        self.config.watchdog_s[found[1]] = float(found[2])
        self.remarks.add(*said, "understood", "pfc: watchdog")
        return True

    # --- statements of a port or a profile --------------------------------------------------------

    def set(self, said: Said, words: str, **values: object) -> bool:
        settings = _port_settings(self.scope)
        for one in self.several if settings in self.several else [settings]:
            for name, value in values.items():
                setattr(one, name, value)
        settings.said.append((said, words))
        self.scope = settings
        return True

    def no_drop(self, said: Said, found: re.Match[str]) -> bool:
        values = numbers(found[1], 7)
        if values is None:
            return False
        is_lossless = found[2].lower() == "no-drop"
        settings = _port_settings(self.scope)
        return self.set(said, "pfc", no_drop=settings.no_drop | dict.fromkeys(values, is_lossless))

    def bookkeeping(self, said: Said, words: str, **values: object) -> bool:
        """Sets values of a port that are no statement about its queues."""
        settings = _port_settings(self.scope)
        for one in self.several if settings in self.several else [settings]:
            for name, value in values.items():
                setattr(one, name, value)
        self.remarks.add(*said, "no-effect", words)
        self.scope = settings
        return True

    def speed(self, said: Said, found: re.Match[str]) -> bool:
        rate_bps = int(found[1]) * (GBPS if found[2] else MBPS)
        if rate_bps:
            return self.set(
                said,
                f"rate of the port: set rate: {rate(rate_bps)} for its link",
                rate_bps=rate_bps,
            )
        return self.bookkeeping(said, "a port")

    # --- statements of a transmit queue -----------------------------------------------------------

    def tx_queue(self, said: Said, found: re.Match[str]) -> bool:
        settings, number = _port_settings(self.scope), int(found[1])
        settings.said.append((said, f"queue {number}"))
        self.scope = (settings, number)
        return True

    def queue(self, said: Said, words: str, **values: object) -> bool:
        assert isinstance(self.scope, tuple), "statements of a queue are tried in one"
        settings, number = self.scope
        if number == MULTICAST:
            self.remarks.add(*said, "not-modelled", "a queue of multicast frames")
            return True
        for one in self.several if settings in self.several else [settings]:
            own = one.queues.setdefault(number, TxQueue())
            for name, value in values.items():
                setattr(own, name, value)
        settings.said.append((said, f"queue {number}: {words}"))
        return True

    def thresholds(self, said: Said, found: re.Match[str], key: str) -> bool:
        red = red_of(found, self.config.cell, self.remarks)
        if isinstance(red, tuple):
            self.remarks.add(*said, *red)
            return True
        return self.queue(said, "aqm: red", **{key: red})

    # --- statements of a buffer profile, of a class and of a policy -------------------------------

    def limit(self, said: Said, found: re.Match[str]) -> bool:
        assert isinstance(self.scope, MemoryProfile), "tried in one"
        side, number, what, value = found[1], found[2], found[3], found[4]
        alpha = alpha_of(value) if what == "threshold" else None
        if what == "threshold" and alpha is None:
            return False
        if side == "egress unicast queue" and alpha is not None:
            self.scope.limits[int(number)] = alpha
        elif side == "egress unicast queue" and what == "reserved cells":
            return self.reserved_cells(said, self.scope, int(number), int(value))
        elif side == "egress unicast queue":
            self.scope.reserved[int(number)] = int(value)
        elif alpha is not None and number:
            self.scope.xoffs[int(number)] = alpha
        elif alpha is not None:
            self.scope.xoff = alpha
        else:
            return False
        self.scope.said.append(
            (said, "limit of a queue" if side.startswith("egress") else "pfc: xoff")
        )
        return True

    def reserved_cells(self, said: Said, memory: MemoryProfile, number: int, cells: int) -> bool:
        """Without a unit, a reserved amount is in bytes (aristanetworks/avd,
        platform.schema.yml)."""
        if self.config.cell is None and cells:
            words = "the size of the ASIC's cells is unknown: set queues.NAME.reserved"
            self.remarks.add(*said, "not-modelled", words)
            return True
        memory.reserved[number] = cells * (self.config.cell.size_bytes if self.config.cell else 0)
        memory.said.append((said, "memory reserved for a queue"))
        return True

    def condition(self, said: Said, found: re.Match[str]) -> bool:
        assert isinstance(self.scope, ClassMap), "tried in one"
        kind = found[1].lower()
        most = {"dscp": 63, "cos": 7, "vlan": 4094}[kind]
        values = numbers(found[2], most)
        if not values:
            return False
        self.scope.conditions.append({"pcp" if kind == "cos" else kind: values})
        self.scope.said.append((said, f"classify: {kind}"))
        return True

    def policy_class(self, said: Said, found: re.Match[str]) -> bool:
        assert isinstance(self.scope, str), "tried in a policy-map"
        self.classes[self.scope] = found[1]
        self.remarks.add(*said, "understood", "a class of frames")
        return True

    def traffic_class(self, said: Said, found: re.Match[str]) -> bool:
        assert isinstance(self.scope, str), "tried in a policy-map"
        if self.scope not in self.classes:
            return False
        name = self.scope.partition(" ")[2]
        self.config.policy_maps[name].append((self.classes[self.scope], int(found[1])))
        self.remarks.add(*said, "understood", f"class: {found[1]}")
        return True


MULTICAST = -1
"""Number of a queue of multicast frames."""


def _port_settings(scope: Scope) -> PortSettings:
    settings = scope[0] if isinstance(scope, tuple) else scope
    assert isinstance(settings, PortSettings), "statements of a place are tried in one"
    return settings


Handler = Callable[[_Reader, Said, re.Match[str]], bool]
Statements = list[tuple[re.Pattern[str], Handler]]


def _table(*statements: tuple[str, Handler]) -> Statements:
    return [(re.compile(pattern, re.IGNORECASE), handler) for pattern, handler in statements]


HEADINGS = _table(
    (r"hostname (\S+)", _Reader.hostname),
    (r"interface (.+)", _Reader.interface),
    (r"qos profile (\S+)", _Reader.profile),
    (r"platform trident mmu queue profile (\S+)( apply)?", _Reader.memory),
    (r"class-map (?:type qos )?(?:match-any |match-all )?(\S+)", _Reader.class_map),
    (r"policy-map (?:type (?:qos|quality-of-service) )?(\S+)", _Reader.policy_map),
    (
        rf"qos map (cos|dscp|traffic-class) {LIST} to (traffic-class|(?:uc-)?tx-queue) ([0-7])(?: drop-precedence \d)?",  # noqa: E501
        _Reader.map,
    ),
    (r"qos random-detect ecn allow non-ect(?: .*)?", _Reader.allows),
    (r"priority-flow-control all off", _Reader.pauses_off),
    (
        r"priority-flow-control pause watchdog default (timeout|recovery-time|polling-interval) "
        r"(\d{1,4}(?:\.\d{1,4})?)(?: .*)?",
        _Reader.watchdog,
    ),
)
PORT_STATEMENTS = _table(
    (r"(?:uc-)?tx-queue ([0-7])", _Reader.tx_queue),
    (
        r"qos trust (cos|dscp)",
        lambda r, s, m: r.set(s, f"trusts {m[1].lower()}", trust=m[1].lower()),
    ),
    (r"no qos trust", lambda r, s, m: r.set(s, "trusts nothing", trust="none")),
    (r"qos cos ([0-7])", lambda r, s, m: r.set(s, "priority of untrusted frames", cos=int(m[1]))),
    (r"priority-flow-control(?: mode)? on", lambda r, s, m: r.set(s, "pfc", is_pausing=True)),
    (
        r"(?:no priority-flow-control(?: mode)?(?: on)?|priority-flow-control mode off)",
        lambda r, s, m: r.set(s, "no pfc", is_pausing=False),
    ),
    (rf"priority-flow-control priority {LIST} (no-drop|drop)", _Reader.no_drop),
    (r"service-profile (\S+)", lambda r, s, m: r.set(s, f"QoS profile '{m[1]}'", profile=m[1])),
    (
        r"service-policy (?:type qos )?input (\S+)",
        lambda r, s, m: r.set(s, f"classification '{m[1]}'", classifier=m[1]),
    ),
    (r"mtu (\d{2,5})", lambda r, s, m: r.set(s, "mtu", mtu=int(m[1]), mtu_line=s[0])),
    (SPEED.pattern, _Reader.speed),
    (r"description (.*)", lambda r, s, m: r.bookkeeping(s, "bookkeeping", description=m[1])),
    (
        r"channel-group (\d+)\b.*",
        lambda r, s, m: r.bookkeeping(s, "a port", channel=f"{CHANNEL}{m[1]}"),
    ),
    (r"no switchport", lambda r, s, m: r.bookkeeping(s, "a port", is_routed=True)),
    (r"(no )?shutdown", lambda r, s, m: r.bookkeeping(s, "a port", is_shut=not m[1])),
)
QUEUE = _table(
    (
        r"bandwidth percent (\d{1,3})",
        lambda r, s, m: r.queue(s, f"share {m[1]}%", bandwidth_percent=int(m[1])),
    ),
    (
        r"bandwidth guaranteed (\d{1,9})(?: kbps)?",
        lambda r, s, m: r.queue(s, "shape: min", shape_min_bps=int(m[1]) * KBPS),
    ),
    (r"priority(?: strict)?", lambda r, s, m: r.queue(s, "strict", is_strict=True)),
    (r"no priority", lambda r, s, m: r.queue(s, "round robin", is_strict=False)),
    (
        r"shape rate (\d{1,9})(?: kbps)?",
        lambda r, s, m: r.queue(s, "shape: max", shape_max_bps=int(m[1]) * KBPS),
    ),
    (rf"random-detect ecn {THRESHOLDS}", lambda r, s, m: r.thresholds(s, m, "marking")),
    (
        rf"random-detect drop (?:drop-precedence 0 )?{THRESHOLDS}",
        lambda r, s, m: r.thresholds(s, m, "dropping"),
    ),
)
MEMORY = _table(
    (r"(egress unicast queue) ([0-7]) (threshold) (\d+(?:/\d+)?)", _Reader.limit),
    (r"(egress unicast queue) ([0-7]) (reserved cells) (\d{1,9})", _Reader.limit),
    (r"(egress unicast queue) ([0-7]) (reserved)(?: bytes)? (\d{1,9})", _Reader.limit),
    (r"(ingress)(?: priority-group ([0-7]))? (threshold) (\d+(?:/\d+)?)", _Reader.limit),
)
CLASS = _table((rf"match (?:ip )?(dscp|cos|vlan) {LIST}", _Reader.condition))
POLICY = _table(
    (r"class (?:type \S+ )?(\S+)", _Reader.policy_class),
    (r"set traffic-class ([0-7])", _Reader.traffic_class),
)


def _statements(scope: Scope) -> tuple[Statements, ...]:
    """Statements that the open section takes, those of the innermost first."""
    if isinstance(scope, tuple):
        return QUEUE, PORT_STATEMENTS
    if isinstance(scope, str):
        return (POLICY,) if scope else ()
    return {PortSettings: (PORT_STATEMENTS,), MemoryProfile: (MEMORY,), ClassMap: (CLASS,)}.get(
        type(scope), ()
    )
