"""The scenario as text, with a comment for every value: where it is from."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.fit.groups import datagrams_of, groups_of
from tailrace.fit.network import Links, links_of
from tailrace.fit.workloads import Found, of_datagrams, of_group
from tailrace.profile.capture import Profile, ProfileOptions, profile_capture

WORKLOADS_MAX = 24
"""Workloads of a fitted scenario, those with the most bytes; the others are counted."""
LENGTH_NS_MIN = 10_000_000
LENGTH_NS_MAX = 10_000_000_000
"""Bounds of a capture's length, and of a trial."""
ROWS_MAX = 2_000_000
PORTS = {22: "ssh", 53: "dns", 80: "http", 443: "https", 2049: "nfs", 3260: "iscsi", 3306: "mysql", 5432: "sql"}
PORTS |= {5672: "amqp", 6379: "redis", 8080: "http-alt", 11211: "memcached", 27017: "mongodb"}
"""Names of services (IANA registry)."""
NAME_CHARACTERS_MAX = 40


@dataclass(frozen=True)
class Stated:
    """What the user says about the network."""

    rate_bps: int | None = None
    delay_ns: int | None = None
    key_hex: str | None = None
    """Key of anonymous addresses."""


@dataclass(frozen=True)
class Fit:
    """A scenario, and how well it fits."""

    name: str
    links: Links
    hosts: dict[str, str]
    """Addresses by name of the host."""
    found: list[Found]
    left_out: int
    """Groups with fewer bytes than those that became workloads, or of which nothing is known."""
    length_ns: int
    warnings: list[str]

    def data(self) -> dict[str, Any]:
        """The scenario as data."""
        network = {
            "topology": {"kind": "star", "switch": "switch", "hosts": list(self.hosts)},
            "link": {"rate": f"{self.links.rate_bps}bit/s", "delay": f"{self.links.delay_ns}ns"},
        }
        nic = {"rx_coalesce": "0s", "rx_jitter": "0s"}
        return {
            "tailrace": 1,
            "name": self.name,
            "network": network,
            "hosts": {"defaults": {"mtu": f"{self.links.mtu}B", "nic": nic}},
            "workloads": {one.name: self.keys(one) for one in self.found},
            "experiment": {"duration": f"{self.duration_ns}ns", "trials": 6},
        }

    @property
    def duration_ns(self) -> int:
        """Of a trial: as long as the capture, at most ten seconds."""
        return min(self.length_ns, LENGTH_NS_MAX)

    def keys(self, one: Found) -> dict[str, Any]:
        """A workload with its ends."""
        names = list(self.hosts)
        first, second = (names[place] for place in one.ends)
        kind = one.keys["kind"]
        ends: dict[str, Any] = {"source": first, "destination": second}
        if kind == "requests":
            ends = {"client": first, "server": second}
        elif kind == "flows":
            ends = {"sources": [first], "destinations": [second]}
        return {"kind": kind, **ends, **{key: value for key, value in one.keys.items() if key != "kind"}}

    def text(self, file: str) -> str:
        """The scenario as a file, which says for each value where it is from."""
        return "\n".join(self._lines(file)) + "\n"

    def _lines(self, file: str) -> Iterator[str]:
        data = self.data()
        yield f"# Fitted to {file}: {self.length_ns / 1e9:.4g} s of traffic. Each value says where it is from."
        for warning in self.warnings:
            yield f"# {warning}"
        for key in ("tailrace", "name"):
            yield f"{key}: {data[key]}"
        yield "network:"
        yield f"  topology: {_flow(data['network']['topology'])}"
        yield "  link:"
        for key, value in data["network"]["link"].items():
            yield f"    {key}: {value}  # {self.links.words[key]}"
        yield "# " + "; ".join(f"{name} is {address}" for name, address in self.hosts.items())
        yield "hosts:"
        yield "  defaults:"
        yield f"    mtu: {self.links.mtu}B  # {self.links.words['mtu']}"
        yield "    # Round trips of the capture contain what interfaces and kernels take."
        yield f"    nic: {_flow(data['hosts']['defaults']['nic'])}"
        yield "workloads:"
        for one in self.found:
            yield f"  {one.name}:"
            for key, value in data["workloads"][one.name].items():
                words = one.words.get(key)
                yield f"    {key}: {_flow(value)}" + (f"  # {words}" if words else "")
            yield from (f"    # unknown: {words}" for words in one.unknown)
        yield f"experiment: {_flow(data['experiment'])}"


def _flow(value: Any) -> str:
    """A value on one line of YAML: texts without quotes where they need none."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z0-9_./%-]+", value):
        return json.dumps(value)
    return str(value)


def fit_capture(path: Path, stated: Stated) -> Fit:
    """The scenario of a capture; raises `RunRefusedError` where it has no traffic from which one can be made."""
    profile = profile_capture(path, ProfileOptions(stated.rate_bps, rows_max=ROWS_MAX, key_hex=stated.key_hex))
    length_ns = int(profile.data["capture"]["duration_ns"])
    if length_ns < LENGTH_NS_MIN:
        raise RunRefusedError(f"{path}: {length_ns / 1e6:.3g} ms of traffic are too short (hint: at least 10 ms)")
    groups, datagrams = groups_of(profile), datagrams_of(profile)
    connections = [one for group in groups for one in group.connections]
    links = links_of(profile, connections, stated.rate_bps, stated.delay_ns)
    taken: set[str] = set()
    found: list[Found] = []
    for group in groups:
        name = _name(PORTS.get(group.port, f"port-{group.port}"), taken)
        own = list(of_group(name, group, length_ns, links.rate_bps))
        taken.update(one.name for one in own)
        found += own
    for flow in sorted(datagrams, key=lambda one: -one.sent_bytes):
        name = _name(PORTS.get(flow.destination_port, f"udp-{flow.destination_port}"), taken)
        taken.add(name)
        found.append(of_datagrams(name, flow, length_ns))
    found.sort(key=lambda one: -one.seen.goodput_bps)
    if not found:
        raise RunRefusedError(f"{path}: no workload can be made of it: no complete request, bulk or datagrams of UDP")
    kept = found[:WORKLOADS_MAX]
    return _assembled(path, profile, links, kept, len(groups) + len(datagrams) - len(kept), length_ns)


def _assembled(path: Path, profile: Profile, links: Links, kept: Sequence[Found], left_out: int, length_ns: int) -> Fit:
    """Hosts are numbered in the order in which workloads name them."""
    places: dict[int, int] = {}
    for one in kept:
        for address in one.ends:
            places.setdefault(address, len(places))
    hosts = {f"h{place + 1}": str(profile.addresses[address]) for address, place in places.items()}
    for one in kept:
        one.ends = (places[one.ends[0]], places[one.ends[1]])
    warnings = []
    if left_out > 0:
        warnings.append(f"Left out: {left_out} groups of connections or datagrams, with few bytes or no whole request.")
    if profile.data["capture"]["end"]["state"] != "complete":
        warnings.append("The capture ends early: what follows is of its readable part.")
    return Fit(_scenario_name(path), links, hosts, list(kept), max(0, left_out), length_ns, warnings)


def _scenario_name(path: Path) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.name.split(".")[0]).strip("-")[:NAME_CHARACTERS_MAX]
    return name if re.match(r"[A-Za-z]", name) else f"capture-{name}".strip("-")


def _name(wanted: str, taken: set[str]) -> str:
    return next(one for one in (wanted, *(f"{wanted}-{number}" for number in range(2, 10_000))) if one not in taken)
