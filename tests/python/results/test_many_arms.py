"""A sweep has thousands of arms: no message lists all of them."""

from pathlib import Path

import pytest

from fake_run import FakeRun
from tailrace.errors import LISTED_MAX, RunRefusedError
from tailrace.results import Run
from tailrace.results.compare.arms import compare, format_compare
from tailrace.results.directory.find_trial import trial_of

ARMS = tuple(f"fifo@users={users}" for users in range(1, 41))


def swept(folder: Path) -> Path:
    return FakeRun(arms=ARMS, trials=1, with_solo=False, missing={(ARMS[0], 1)}).write(
        folder / "run"
    )


def test_a_trial_that_is_not_there_names_some_arms(tmp_path: Path) -> None:
    run = Run.read(swept(tmp_path))
    with pytest.raises(RunRefusedError) as refused:
        trial_of(run, ARMS[0], 1)
    assert f"{ARMS[LISTED_MAX]}, ...)" in str(refused.value)
    assert ARMS[LISTED_MAX + 1] not in str(refused.value)


def test_a_comparison_of_single_trials_names_some_arms(tmp_path: Path) -> None:
    run = swept(tmp_path)
    few = next(
        line
        for line in format_compare(compare(run, run)).splitlines()
        if line.startswith("too few")
    )
    assert few.count("fifo@") == LISTED_MAX
    assert few.endswith(", ...")
