"""What the end of a trial cuts off: what was done counts, and what was not done does not."""

from pathlib import Path
from typing import Any

import pytest

import machine
from trial_files import read_trial

pytestmark = pytest.mark.slow  # a trial of four seconds, whose pauses are what is looked at


@pytest.fixture(scope="module")
def workloads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The workloads of a trial that ends before they do."""
    out = tmp_path_factory.mktemp("live") / "run"
    machine.run_live(Path(__file__).with_name("cut.yaml"), out)
    data = read_trial(out / "trials" / "fifo" / "1.json")
    assert not data["finished"]
    return {each["name"]: each | {"trial_s": data["end_ps"] / 1e12} for each in data["workloads"]}


def test_transactions_before_the_end_are_kept(workloads: dict[str, dict[str, Any]]) -> None:
    # The pauses end at 0.1 and 2.6 s; the third would end at 5.1 s, after the trial.
    slow = workloads["slow"]
    assert slow["transactions"] == slow["latency"]["count"] == 2 * 2
    assert slow["goodput_bytes"] == 2 * 2 * 2_000
    assert slow["completion_ps"] is None
    assert slow["user_completion_ps"] == [None, None]


def test_who_was_done_before_the_end_has_a_completion(workloads: dict[str, dict[str, Any]]) -> None:
    quick = workloads["quick"]
    assert quick["transactions"] == 2 * 20
    # 19 pauses of 50 ms, and the end of the trial.
    assert 0.95e12 < quick["completion_ps"] < quick["trial_s"] * 1e12


def test_a_copy_that_was_cut_off_is_not_complete(workloads: dict[str, dict[str, Any]]) -> None:
    copy = workloads["copy"]
    assert (copy["completion_ps"], copy["transactions"], copy["user_completion_ps"]) == (
        None,
        0,
        [],
    )
    # What the link carries meanwhile, of which headers take 6 % and the program's start a part.
    assert 0.7 < copy["goodput_bytes"] / (10_000_000 / 8 * copy["trial_s"]) <= 1
