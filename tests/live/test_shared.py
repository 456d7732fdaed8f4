"""Workloads that share their hosts: TCP is counted for each by its connections."""

from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One trial of three workloads with one sender."""
    out = tmp_path_factory.mktemp("live") / "run"
    machine.run_live(Path(__file__).with_name("shared.yaml"), out)
    data: dict[str, Any] = read_trial(out / "trials" / "fifo" / "1.json")
    return data


def test_every_connection_is_found_when_it_has_ended(trial: dict[str, Any]) -> None:
    counts = {name: each["count"] for name, each in trial["live"]["connections"].items()}
    # One for each user; of iperf3 two with data and one for its own words.
    assert counts == {"small": 3, "large": 2, "copy": 3}


def test_connections_add_up_to_what_their_host_counted(trial: dict[str, Any]) -> None:
    counters = [workload["tcp"] for workload in trial["workloads"]]
    host = trial["live"]["counters"]["db"]
    # A host is read before its connections open and after they have ended: it has counted all that
    # they have, and what its programs sent outside them.
    retransmits = sum(each["retransmits"] for each in counters)
    assert 0 < retransmits <= host["RetransSegs"]
    assert retransmits == pytest.approx(host["RetransSegs"], rel=0.05, abs=2)
    # Linux counts what is sent again apart, and segments without payload with the others.
    assert sum(each["segments_sent"] for each in counters) <= host["OutSegs"] + host["RetransSegs"]


def test_who_sends_more_has_more_segments(trial: dict[str, Any]) -> None:
    sent = {workload["name"]: workload["tcp"]["segments_sent"] for workload in trial["workloads"]}
    # 10 answers of 200 kB in segments of 1448 bytes, for two users.
    assert sent["large"] >= 2 * 10 * 200_000 / 1448
    assert 3 * 50 <= sent["small"] < sent["large"]


def test_what_linux_counts_by_host_alone_is_not_made_up(trial: dict[str, Any]) -> None:
    assert all("timeouts" not in workload["tcp"] for workload in trial["workloads"])
