"""The measured half of the reproduction of jumbo frames: its page, its blocks and the blind test of
its pings."""

import json
from typing import Any

import pytest

import rac_blocks
import rac_collapse
import rac_page

SOCKPERF = """sockperf: [Total Run] RunTime=3.000 sec; Warm up time=400 msec; SentMessages=14623; ReceivedMessages=14622
sockperf: ---> percentile 99.999 =  180.020
sockperf: ---> percentile 99.000 =   96.433
sockperf: ---> percentile 50.000 =   67.079
"""  # noqa: E501
SNMP = """Ip: Forwarding FragOKs FragFails FragCreates ReasmTimeout ReasmReqds ReasmOKs ReasmFails
Ip: 1 2 3 12 4 12 2 5
Icmp: InMsgs
Icmp: 7
"""


def test_the_page_is_what_its_script_writes() -> None:
    # The section about the collapse reads its own files.
    cluster, blocks, pings = (
        json.loads(path.read_text(encoding="utf-8"))
        for path in (rac_page.CLUSTER, rac_page.BLOCKS, rac_page.PINGS)
    )
    assert rac_page.PAGE.read_text(encoding="utf-8") == rac_page.page(cluster, blocks, pings)


def test_a_block_was_exactly_six_fragments_or_none() -> None:
    trials = json.loads(rac_page.BLOCKS.read_text(encoding="utf-8"))["trials"]
    assert {(one["mtu"], one["fragments_of_a_block"]) for one in trials} == {
        (1500, 6.0),
        (9000, 0.0),
    }


def test_what_the_programs_print_is_read() -> None:
    found = rac_blocks.sockperf_figures(SOCKPERF)
    assert found == {"p50_us": 67.079, "p99_us": 96.433, "sent": 14623.0, "received": 14622.0}
    with pytest.raises(ValueError, match="did not print its totals"):
        rac_blocks.sockperf_figures("connection refused")
    assert rac_blocks.ip_counters(SNMP)["FragCreates"] == 12
    with pytest.raises(ValueError, match="only 1 of 400 pings"):
        rac_blocks.ping_us("64 bytes: time=0.174 ms\n")


def test_the_fit_meets_the_pings_that_it_is_made_of() -> None:
    costs = rac_blocks.fitted(186.0, 955.0)
    assert rac_blocks.predicted(costs, 56) == pytest.approx(186.0)
    assert rac_blocks.predicted(costs, 8972) == pytest.approx(955.0)
    assert costs["byte_ns"] == pytest.approx(54.2, abs=0.1)
    assert rac_blocks.predicted(costs, 1472) == pytest.approx(308.1, abs=0.1)


def test_a_ping_beyond_the_tolerance_fails_the_blind_test() -> None:
    found: dict[str, Any] = {
        "predicted_us": {"1472": 100.0, "4000": 200.0},
        "measured_us": {"1472": 114.0, "4000": 180.0},
    }
    assert rac_blocks.judged(found)["holds"]
    found["measured_us"]["4000"] = 231.0
    assert not rac_blocks.judged(found)["holds"]


def test_silence_is_the_longest_row_of_seconds_in_which_blocks_were_sent_and_none_came() -> None:
    assert rac_collapse.judged([0, 100, 100, 100, 100, 100], [0, 95, 0, 0, 90, 0]) == {
        "block_loss": pytest.approx(1 - 185 / 500),
        "silence_s": 2,
    }
    assert rac_collapse.expected_loss() == pytest.approx(0.049, abs=1e-4)


def test_the_collapse_was_seen_with_the_defaults_of_linux_and_not_with_a_short_timeout() -> None:
    arms = json.loads(rac_collapse.OUT.read_text(encoding="utf-8"))["arms"]
    assert arms["defaults"]["silence_s"] >= 10
    assert arms["short"]["silence_s"] == 0
    assert arms["short"]["block_loss"] == pytest.approx(rac_collapse.expected_loss(), abs=0.01)


def test_frames_between_the_nodes_are_what_their_users_did_not_send_or_get() -> None:
    counters = {
        "node1": {"rx_frames": 100, "tx_frames": 80},
        "node2": {"rx_frames": 90, "tx_frames": 90},
        "users1": {"rx_frames": 30, "tx_frames": 40},
        "users2": {"rx_frames": 40, "tx_frames": 50},
    }
    assert rac_page.interconnect_frames(counters) == (360 - 160) // 2
    assert rac_page.reported("wsrep_local_commits 5\nwsrep_provider_version 4.23(rX)\n") == {
        "wsrep_local_commits": 5
    }
