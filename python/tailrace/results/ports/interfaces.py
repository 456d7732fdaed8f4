"""The counters of interfaces, under the names of `netstat -i`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from tailrace.outcome.types import Interface
from tailrace.results.format.columns import align

COUNTERS = (
    *("rx_frames", "rx_errors", "rx_dropped", "rx_overruns"),
    *("tx_frames", "tx_errors", "tx_dropped", "tx_overruns"),
)
HEAD = (
    *("Iface", "MTU", "Met", "RX-OK", "RX-ERR", "RX-DRP", "RX-OVR"),
    *("TX-OK", "TX-ERR", "TX-DRP", "TX-OVR", "Flg"),
)
"""Columns of netstat(8) of net-tools 1.60; later versions leave out Met, the metric, which Linux
does not use."""
METRIC = "0"
UNKNOWN = "-"
"""A counter that an engine does not have, which is not zero."""


class Row(Interface, frozen=True, kw_only=True):
    """The counters of an interface of a host, or of a port of a switch. None for a counter that the
    engine does not have."""

    @property
    def interface(self) -> str:
        """The interface in the first column: `db/eth0`, or `leaf>db` for a port."""
        return f"{self.node}/{self.name}" if self.towards is None else f"{self.node}>{self.towards}"

    def counted(self) -> dict[str, int | None]:
        """The counters by name."""
        return {name: getattr(self, name) for name in COUNTERS}

    def since(self, before: "Row") -> "Row":
        """The counts since an earlier reading."""
        less: dict[str, Any] = {
            name: _less(now, getattr(before, name)) for name, now in self.counted().items()
        }
        return replace(self, **less)

    def data(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "interface": self.interface,
            "node": self.node,
            "towards": self.towards,
            "name": self.name,
            "mtu_bytes": self.mtu_bytes,
            **self.counted(),
            "flags": self.flags,
        }


def _less(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else now - before


def rows_of(netstat: Sequence[Interface]) -> list[Row]:
    """The interfaces of an outcome, hosts first."""
    return convert(netstat, list[Row], from_attributes=True)


def series_of(
    last: Sequence[Row], table: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[int, list[Row]]]:
    """The readings over time of the table `interface_series`, as recorded: the time in picoseconds,
    and all interfaces.

    `last` are the interfaces at the end of the trial: counters that they lack are absent from all
    readings.
    """
    by_time: dict[int, list[Row]] = {}
    for reading in table:
        row = last[reading["interface"]]
        counted: dict[str, Any] = {
            name: None if at_end is None else int(reading[name])
            for name, at_end in row.counted().items()
        }
        by_time.setdefault(int(reading["at_ps"]), []).append(replace(row, **counted))
    yield from sorted(by_time.items())


def difference(now: Sequence[Row], before: Sequence[Row]) -> list[Row]:
    """The counts between two readings; an interface without an earlier one is omitted."""
    earlier = {(row.interface, row.name): row for row in before}
    known = [row for row in now if (row.interface, row.name) in earlier]
    return [row.since(earlier[row.interface, row.name]) for row in known]


def format_interfaces(rows: Sequence[Row]) -> str:
    """The table."""
    return (
        align([HEAD, *(_words(row) for row in rows)], left=1)
        if rows
        else "no interface was counted"
    )


def _words(row: Row) -> list[str]:
    counted = [UNKNOWN if value is None else str(value) for value in row.counted().values()]
    return [
        row.interface,
        UNKNOWN if row.mtu_bytes is None else str(row.mtu_bytes),
        METRIC,
        *counted,
        row.flags,
    ]
