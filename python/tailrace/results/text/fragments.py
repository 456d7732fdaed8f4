"""Fragmentation and reassembly by the IP layer of hosts, under the names of Linux."""

from collections.abc import Iterable
from dataclasses import dataclass

from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import THIN_SPACE, bytes_text, number
from tailrace.results.summary.hosts import HostMeans, IpMeans
from tailrace.results.summary.summary import Summary

COUNTERS = (
    "FragOKs",
    "FragFails",
    "FragCreates",
    "ReasmReqds",
    "ReasmOKs",
    "ReasmFails",
    "ReasmTimeout",
)
"""Counters of `/proc/net/snmp` (RFC 4293)."""
ROWS_MAX = 20
"""Hosts and arms that the text lists."""
NOTE = (
    "Per trial: datagrams that were cut (FragOKs) into fragments (FragCreates), fragments that "
    "arrived (ReasmReqds), datagrams that were put together (ReasmOKs), fragments refused and "
    "datagrams given up (ReasmFails), those given up because their time was over (ReasmTimeout). "
    "memory: the most that incomplete datagrams took."
)


@dataclass(frozen=True)
class FragmentRow:
    """One host in one arm, means over trials."""

    host: str
    arm: str
    index: int
    counted: IpMeans
    is_first: bool
    """Whether it is the first row of its arm."""

    @property
    def cells(self) -> list[str]:
        """The counters, and the memory."""
        own = self.counted
        cut = (own.FragOKs, own.FragFails, own.FragCreates)
        put_together = (own.ReasmReqds, own.ReasmOKs, own.ReasmFails, own.ReasmTimeout)
        return [*map(number, (*cut, *put_together)), bytes_text(own.reassembly_memory_max_bytes)]


def fragment_rows(
    arms: Iterable[tuple[str, list[HostMeans]]], hosts_max: int | None = None
) -> list[FragmentRow]:
    """Hosts that sent or received fragments: at most `hosts_max` of each arm, those with most
    failures first, then in the scenario's order."""
    rows: list[FragmentRow] = []
    for index, (arm, hosts) in enumerate(arms):
        found = [(host.name, host.ip) for host in hosts if host.ip]
        for at, (host, counted) in enumerate(
            sorted(found, key=lambda one: -one[1].ReasmFails)[:hosts_max]
        ):
            rows.append(FragmentRow(host, arm, index, counted, is_first=at == 0))
    return rows


def fragments_text(summary: Summary) -> str:
    """A table of the hosts with fragments, by arm; nothing where no datagram was cut."""
    rows = fragment_rows((arm, own.hosts) for arm, own in summary.arms.items())
    if not rows:
        return ""
    cells = [
        [row.host, row.arm, *(cell.replace(THIN_SPACE, " ") for cell in row.cells)]
        for row in rows[:ROWS_MAX]
    ]
    more = f"\n{len(rows) - ROWS_MAX} more rows are in result.json" if len(rows) > ROWS_MAX else ""
    return f"{align([['fragments', 'arm', *COUNTERS, 'memory'], *cells], left=2)}{more}\n{fill(NOTE, WIDTH)}"  # noqa: E501
