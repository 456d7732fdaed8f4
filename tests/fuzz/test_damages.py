"""Damaged run directories: what is printed is the same or a refusal, and a rerun repairs; more in
`make nightly`."""

import random
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from fuzzing.damage import Place, prepared, tried
from fuzzing.program import FindingError
from sealing import seal

SEEDS = range(1, 9)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A sound run."""
    return prepared(tmp_path_factory.mktemp("damages"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damage_changes_nothing_in_silence(place: Place, seed: int) -> None:
    tried(place, random.Random(seed), [])


@pytest.mark.parametrize("is_noted", [False, True])
def test_a_figure_that_was_changed_is_found_unless_the_journal_has_it(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_noted: bool
) -> None:
    def change_a_figure(run: Path, _outside: Path, _dice: random.Random) -> tuple[str, str]:
        file = run / "trials" / "large" / "1.json"
        text, count = re.subn(
            '"completion_ps": *', '"completion_ps": 1', file.read_text(encoding="utf-8")
        )
        assert count
        file.write_text(text, encoding="utf-8")
        if is_noted:
            seal(file)
        return "change a number", file.name

    monkeypatch.setattr("fuzzing.damage.damaged", change_a_figure)
    expected = (
        pytest.raises(FindingError, match="report: it prints something else")
        if is_noted
        else nullcontext()
    )
    with expected:
        tried(place, random.Random(1), [])
