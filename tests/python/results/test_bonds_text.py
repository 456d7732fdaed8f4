"""Interfaces of bonds stand in the text of a run, each with its share."""

from typing import Any

import whole
from parts import part
from tailrace.results.directory.run_directory import Trial
from tailrace.results.ports.outcome import summarise_hosts
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.text.bonds import bonds_text


def interface(sent: int, received: int) -> dict[str, int]:
    return {"sent_frames": sent, "sent_bytes": 1500 * sent, "received_frames": received}


def told(*hosts: dict[str, Any]) -> Trial:
    return whole.trial(hosts=list(hosts), end_ps=10**12)


def text(*trials: Trial) -> str:
    return bonds_text(
        part(Summary, arms={"base": part(ArmSummary, hosts=summarise_hosts(list(trials)))})
    )


def test_each_interface_is_told_with_its_share_over_trials() -> None:
    first = told(
        {"name": "db", "bond": [interface(300, 40), interface(100, 60)]},
        {"name": "app", "bond": None},
    )
    second = told(
        {"name": "db", "bond": [interface(100, 60), interface(300, 40)]},
        {"name": "app", "bond": None},
    )
    assert [line.split() for line in text(first).splitlines()[1:]] == [
        ["db", "base", "1", "300.0", "75.00", "40.00"],
        ["db", "base", "2", "100.0", "25.00", "60.00"],
    ]
    assert [line.split()[4] for line in text(first, second).splitlines()[1:]] == ["50.00", "50.00"]


def test_hosts_with_one_interface_are_not_told() -> None:
    assert text(told({"name": "app", "bond": None})) == ""
