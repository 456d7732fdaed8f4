"""What each interface of a bond has carried: a hash that spreads flows badly is seen here."""

from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import number


def bonds_text(summary: dict[str, Any]) -> str:
    """A table of the interfaces of bonded hosts, by host and arm; nothing where no host has several."""
    rows = [
        [host["name"], arm, str(index), *_cells(interface, host["bond"])]
        for arm, of_arm in summary["arms"].items()
        for host in of_arm["hosts"]
        for index, interface in enumerate(host.get("bond") or [], 1)
    ]
    head = ["bonds", "arm", "interface", "sent frames", "% of sent bytes", "received frames"]
    return align([head, *rows], left=2) if rows else ""


def _cells(interface: dict[str, float], bond: list[dict[str, float]]) -> list[str]:
    sent = sum(one["sent_bytes"] for one in bond)
    share = 100 * interface["sent_bytes"] / sent if sent else 0.0
    return [number(interface["sent_frames"]), number(share), number(interface["received_frames"])]
