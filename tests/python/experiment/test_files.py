"""Files appear whole or not at all, and leave nothing beside them."""

import os
from pathlib import Path

import pytest

from tailrace.experiment.judge import Verdict, stored_trial
from tailrace.experiment.native import Failed
from tailrace.experiment.schedule import TrialKey
from tailrace.experiment.storage import RunDirectory
from tailrace.files import write_bytes
from tailrace.outcome.stored import Planned


def test_a_file_that_could_not_be_written_leaves_the_old_one_and_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "result.json"
    write_bytes(path, b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"result\.json"):
        write_bytes(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_trial_whose_file_was_emptied_is_not_there(tmp_path: Path) -> None:
    directory, key = (
        RunDirectory(tmp_path / "run", lambda key: Planned(key.arm, key.number, 0, None)),
        TrialKey("a", 1),
    )
    directory.write_trial(key, stored_trial(key, "", Failed("why"), Verdict("failed", "why")), {})
    assert directory.is_there(key)
    directory.trial_path(key).write_bytes(b"")
    assert not directory.is_there(key)
