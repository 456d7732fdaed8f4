"""Blocks between two nodes over sockets of the real kernel, from the command line to the
results."""

from pathlib import Path
from typing import Any

import pytest

import machine

SCENARIO = Path(__file__).with_name("blocks.yaml")
RUN_LIMIT_S = 120
LINE_BPS = 100e6
LATE_S = 0.5
"""A node counts until it hears of the end of the trial, on a busy machine so much later: ports are
read at the end."""
FRAMES_OF_BLOCK = 7
"""The message that asks for it, and six fragments."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The outcome of one run, which leaves the machine as it was."""
    return machine.finished_run(SCENARIO, tmp_path_factory.mktemp("blocks") / "run", RUN_LIMIT_S)


def late_blocks(finished: dict[str, Any], workload: dict[str, Any]) -> float:
    """Blocks that may come between the end and the time at which the nodes hear of it; one with an
    end has none."""
    return float(workload["block_latency"]["count"] * LATE_S / (finished["end_ps"] / 1e12))


def test_every_block_comes_and_is_timed(finished: dict[str, Any]) -> None:
    rac, finite = finished["workloads"]
    for each in (rac, finite):
        counts = each["block_counts"]
        # A node counts a little beyond the end of the trial, of which it hears later.
        assert (
            0
            <= counts["received_blocks"] - each["block_latency"]["count"]
            <= late_blocks(finished, each)
        )
        assert (counts["lost_blocks"], each["request_counts"]["failed"]) == (0, 0)
        # Six fragments of a block, twice on a line, and a message before.
        assert each["block_latency"]["min_ps"] > 8548 * 8 / LINE_BPS * 1e12
    assert rac["transactions"] > 50
    assert rac["cut_off"]["count"] <= 4
    assert (finite["transactions"], finite["block_counts"]["received_blocks"]) == (300, 300)
    assert 0 < finite["completion_ps"] <= finished["end_ps"]
    assert finite["latency"]["min_ps"] > 1e9, "a node takes a millisecond"


def test_blocks_are_fragments_on_the_line(finished: dict[str, Any]) -> None:
    rac, finite = finished["workloads"]
    sent = sum(queue["tx_frames"] for port in finished["ports"] for queue in port["queues"])
    messages = sum(each["block_counts"]["messages"] for each in (rac, finite))
    blocks = sum(each["block_counts"]["received_blocks"] for each in (rac, finite))
    frames = FRAMES_OF_BLOCK * blocks + 2 * messages
    late = late_blocks(finished, rac) * (
        FRAMES_OF_BLOCK + 2 * rac["block_counts"]["messages"] / blocks
    )
    assert frames - late <= sent < 1.05 * frames + 200
