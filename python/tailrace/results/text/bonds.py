"""Bytes on each interface of a bond: they reveal a hash that spreads flows badly."""

from collections.abc import Iterable
from dataclasses import dataclass

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number
from tailrace.results.summary.hosts import HostMeans
from tailrace.results.summary.summary import Summary


@dataclass(frozen=True)
class BondRow:
    """One interface of a bonded host in one arm, means over trials."""

    host: str
    arm: str
    index: int
    interface: int
    """Counted from one, in the order of its links."""
    sent_frames: float
    sent_percent: float
    """Of the bytes that all interfaces of the host have sent."""
    received_frames: float
    is_first: bool
    """Whether it is the first row of its arm."""


def bond_rows(arms: Iterable[tuple[str, list[HostMeans]]]) -> list[BondRow]:
    """The interfaces of bonded hosts, by arm and host; nothing where no host has several."""
    rows: list[BondRow] = []
    for index, (arm, hosts) in enumerate(arms):
        for host in hosts:
            bond = host.bond or []
            sent = sum(one.sent_bytes for one in bond)
            for number_of, one in enumerate(bond, 1):
                share = 100 * one.sent_bytes / sent if sent else 0.0
                is_first = not rows or rows[-1].index != index
                counted = one.sent_frames, share, one.received_frames
                rows.append(BondRow(host.name, arm, index, number_of, *counted, is_first))
    return rows


def bonds_text(summary: Summary) -> str:
    """A table of the interfaces of bonded hosts, by arm and host; nothing where no host has
    several."""
    rows = [
        [
            row.host,
            row.arm,
            str(row.interface),
            *map(number, (row.sent_frames, row.sent_percent, row.received_frames)),
        ]
        for row in bond_rows((arm, own.hosts) for arm, own in summary.arms.items())
    ]
    head = ["bonds", "arm", "interface", "sent frames", "% of sent bytes", "received frames"]
    return align([head, *rows], left=2) if rows else ""
