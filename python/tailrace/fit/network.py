"""Hosts, links and the switch between them, from addresses, rates and round trips."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.fit.conversations import Connection, DatagramFlow
from tailrace.fit.quantities import rate_text
from tailrace.fit.workload import Origin
from tailrace.profile.capture import Profile

HOSTS_MAX = 64
"""Hosts of the scenario; those with the least data become one."""
OTHERS = "others"
"""The host that stands for the rest."""
STANDARD_BPS = tuple(
    round(gigabits * 10**9) for gigabits in (0.1, 1, 2.5, 5, 10, 25, 40, 50, 100, 200, 400, 800)
)
"""Rates of Ethernet (IEEE 802.3)."""
RATE_OFF_MAX = 0.03
"""Rates may be above a standard one by this share: times of captures are those of interrupts, which
come in groups."""
BITS = 8
NS_PER_S = 10**9
HEADERS_BYTES = {4: 40, 6: 60}
"""Headers of IP and TCP without options, by version: the MTU minus the MSS (RFC 9293 section
3.7.1)."""
MTU_BYTES = (576, 9216)
"""MTU of a host in a scenario."""


@dataclass(frozen=True)
class Hosts:
    """Names of hosts by the number of their address."""

    names: Mapping[int, str]
    merged: int
    """Addresses that share one host."""

    @property
    def listed(self) -> list[str]:
        """Each once, in order."""
        return list(dict.fromkeys(self.names.values()))


@dataclass(frozen=True)
class Stated:
    """A value with where it is from."""

    value: Any
    origin: Origin
    note: str


def hosts_of(connections: Sequence[Connection], flows: Sequence[DatagramFlow]) -> Hosts:
    """Names by role: clients, servers, and peers that are both; most data first."""
    data: Counter[int] = Counter()
    roles: dict[int, set[str]] = defaultdict(set)
    for one in connections:
        data.update({one.client: one.payload_bytes, one.server: one.payload_bytes})
        roles[one.client].add("client")
        roles[one.server].add("server")
    for flow in flows:
        moved = flow.sent_bytes + flow.returned_bytes
        data.update({flow.source: moved, flow.destination: moved})
        roles[flow.source].add("client")
        roles[flow.destination].add("server")
    ordered = [address for address, _ in data.most_common()]
    room = len(ordered) if len(ordered) <= HOSTS_MAX else HOSTS_MAX - 1
    names = dict(_named(ordered[:room], roles))
    names.update(dict.fromkeys(ordered[room:], OTHERS))
    return Hosts(names, len(ordered) - room)


def _named(addresses: Iterable[int], roles: Mapping[int, set[str]]) -> Iterable[tuple[int, str]]:
    listed = [
        (address, "peer" if len(roles[address]) > 1 else next(iter(roles[address])))
        for address in addresses
    ]
    total, count = Counter(role for _, role in listed), Counter[str]()
    for address, role in listed:
        count[role] += 1
        yield address, role if total[role] == 1 else f"{role}{count[role]}"


def line_of(profile: Profile, stated_bps: int | None) -> Stated:
    """The speed of every link."""
    if stated_bps is not None:
        return Stated(stated_bps, Origin.STATED, "--line")
    line_bps = profile.data["capture"]["line_bps"]
    if line_bps:
        return Stated(line_bps, Origin.MEASURED, "speed of the interface, as the capture says")
    highest = max((_least_bps(one) for one in profile.data["busiest_hosts"]), default=0)
    rate = next(
        (one for one in STANDARD_BPS if one * (1 + RATE_OFF_MAX) >= highest), STANDARD_BPS[-1]
    )
    note = (
        f"the next standard rate above {rate_text(highest)}, the highest of a host in one "
        "direction; at least this"
    )
    return Stated(rate, Origin.ESTIMATED, note)


def _least_bps(busiest: Mapping[str, int]) -> int:
    """The speed that the link of a host has at least: all of its frames in an interval but one,
    which may have been sent before the interval and was seen in it.
    """
    whole_bytes = max(0, busiest["line_bytes"] - busiest["largest_frame_bytes"])
    return whole_bytes * BITS * NS_PER_S // busiest["width_ns"]


def mtus_of(connections: Iterable[Connection], hosts: Hosts, profile: Profile) -> dict[str, int]:
    """MTU of the hosts whose MSS was seen, in bytes."""
    seen: dict[str, Counter[int]] = defaultdict(Counter)
    for one in connections:
        for address, mss in (
            (one.client, one.client_mss_bytes),
            (one.server, one.server_mss_bytes),
        ):
            if mss:
                version = profile.addresses[address].version
                seen[hosts.names[address]][mss + HEADERS_BYTES[version]] += 1
    low, high = MTU_BYTES
    return {name: min(high, max(low, counts.most_common(1)[0][0])) for name, counts in seen.items()}
