"""Interfaces of bonds stand in the text of a run, each with its share."""

from typing import Any

from tailrace.results.ports.outcome import summarise_hosts
from tailrace.results.text.bonds import bonds_text


def interface(sent: int, received: int) -> dict[str, int]:
    return {"sent_frames": sent, "sent_bytes": 1500 * sent, "received_frames": received}


def host(name: str, bond: list[dict[str, int]] | None) -> dict[str, Any]:
    counted = dict.fromkeys(("rx_frames", "nic_queue_drops", "rx_ring_drops", "cpu_busy_ps", "program_busy_ps"), 0)
    return {"name": name, "bond": bond, **counted}


class Told:
    """A trial as far as hosts are summarised."""

    def __init__(self, *hosts: dict[str, Any]) -> None:
        self.outcome = {"hosts": list(hosts), "end_ps": 10**12}


def text(*trials: Told) -> str:
    return bonds_text({"arms": {"base": {"hosts": summarise_hosts(list(trials))}}})  # type: ignore[arg-type]


def test_each_interface_is_told_with_its_share_over_trials() -> None:
    first = Told(host("db", [interface(300, 40), interface(100, 60)]), host("app", None))
    second = Told(host("db", [interface(100, 60), interface(300, 40)]), host("app", None))
    assert [line.split() for line in text(first).splitlines()[1:]] == [
        ["db", "base", "1", "300.0", "75.00", "40.00"],
        ["db", "base", "2", "100.0", "25.00", "60.00"],
    ]
    assert [line.split()[4] for line in text(first, second).splitlines()[1:]] == ["50.00", "50.00"]


def test_hosts_with_one_interface_are_not_told() -> None:
    assert text(Told(host("app", None))) == ""
