"""Warnings about load, about congestion control without marks, and about arms that are equal."""

from typing import Any

import pytest

from lab import load

FLOWS = {"kind": "flows", "sizes": "web-search", "load": "160%"}
DCTCP: dict[str, Any] = {"defaults": {"tcp": {"congestion_control": "dctcp"}}}
BACKUP = {"kind": "stream", "source": "bulk", "destination": "client"}
MARKS = {"kind": "step", "threshold": "90kB"}


def warnings(**changes: object) -> list[str]:
    return [str(warning) for warning in load(**changes).warnings]


def test_a_load_above_the_links_is_warned_of() -> None:
    (found,) = warnings(workloads__search=FLOWS)
    assert "workloads.search.load: an offered load of 160% exceeds the sources' links" in found
    assert warnings(workloads__search=FLOWS | {"load": "100%"}) == []
    assert warnings(workloads__search=FLOWS | {"enabled": False}) == []


def test_a_rate_above_the_line_is_warned_of() -> None:
    (found,) = warnings(workloads__backup__rate="40Gbit/s")
    assert (
        "workloads.backup.rate: 40 Gbit/s is more than the 10 Gbit/s of the source's link" in found
    )
    assert warnings(workloads__backup__rate="10Gbit/s") == []


def test_a_size_that_its_own_rate_does_not_finish_is_warned_of() -> None:
    assert warnings(workloads__backup={"size": "1GB"} | BACKUP) == []
    (found,) = warnings(workloads__backup={"size": "1GB", "rate": "1Mbit/s"} | BACKUP)
    assert (
        "workloads.backup.size: it needs at least 8000 s at its own "
        "rate, and a trial ends after 5 s" in found
    )


def test_dctcp_without_a_marking_queue_is_warned_of() -> None:
    (found,) = warnings(hosts=DCTCP)
    assert "hosts.defaults.tcp.congestion_control: no queue of the network marks frames" in found


def test_dctcp_of_one_host_is_blamed_where_it_stands() -> None:
    (found,) = warnings(hosts={"db": DCTCP["defaults"]})
    assert "hosts.db.tcp.congestion_control" in found


@pytest.mark.parametrize(
    "aqm",
    [
        MARKS,
        {"kind": "red", "minimum": "30kB", "maximum": "90kB", "ecn": True},
        {"kind": "codel", "ecn": True},
        {"kind": "codel", "ce_threshold": "50us"},
        {"kind": "afd", "desired": "150kB", "ecn": True},
    ],
)
def test_a_queue_that_marks_is_enough(aqm: dict[str, Any]) -> None:
    arms = {"a": {}, "b": {"workloads.orders.users": 5}}
    assert warnings(hosts=DCTCP, policies__dpp__queues__normal={"aqm": aqm}, arms=arms) == []


def test_a_queue_that_drops_and_does_not_mark_is_not_enough() -> None:
    aqm = {"kind": "red", "minimum": "30kB", "maximum": "90kB"}
    arms = {"a": {}, "b": {"workloads.orders.users": 5}}
    assert len(warnings(hosts=DCTCP, policies__dpp__queues__normal={"aqm": aqm}, arms=arms)) == 1


def test_equal_arms_are_warned_of_and_different_ones_are_not() -> None:
    (found,) = warnings(
        arms={
            "one": {},
            "two": {"switches.leaf.policy": "fifo"},
            "three": {"switches.leaf.policy": "dpp"},
        }
    )
    assert "arms.three: arm 'three' equals arm 'one'" in found


@pytest.mark.parametrize("aqm", [MARKS, {"kind": "red", "minimum": "90kB", "maximum": "200kB"}])
def test_a_queue_that_is_full_before_its_management_begins_is_warned_of(
    aqm: dict[str, Any],
) -> None:
    full = warnings(policies__dpp__queues__normal={"aqm": aqm, "limit": "90kB"})
    assert any(
        "policies.dpp.queues.normal.aqm: the limit of 90 kB is not above" in found for found in full
    ), full
    assert not any(
        "is not above" in found
        for found in warnings(policies__dpp__queues__normal={"aqm": aqm, "limit": "91kB"})
    )
