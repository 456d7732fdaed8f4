"""`outcome_baseline.py` names the key path that differs, and nothing else."""

from typing import Any

import pytest

import outcome_baseline

OUTCOME: dict[str, Any] = {
    "seed": 1,
    "wall_s": 0.5,
    "ports": [{"tx": 3, "drops": {}}, {"tx": 4, "drops": {}}],
}


def hashes(outcome: dict[str, Any]) -> dict[str, str]:
    return outcome_baseline.hashed(outcome_baseline.flat(outcome, "outcome"))


def differing(after: dict[str, Any], ignored: tuple[str, ...] = ()) -> bool:
    return outcome_baseline.print_differences("dpp", hashes(OUTCOME), hashes(after), ignored)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": 2}, "dpp: outcome.seed differs"),
        ({"seed": 1.0}, "dpp: outcome.seed differs"),
        ({"version": 1}, "dpp: outcome.version is new"),
        (
            {"ports": [{"tx": 3, "drops": {}}, {"tx": 5, "drops": {}}]},
            "dpp: outcome.ports[].tx differs",
        ),
        ({"ports": [{"tx": 3, "drops": {}}, {"tx": 4}]}, "dpp: outcome.ports[].drops differs"),
    ],
)
def test_a_change_is_told_with_its_path(
    change: dict[str, Any], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert differing(OUTCOME | change)
    assert capsys.readouterr().out.splitlines() == [told]


def test_times_of_the_machine_and_ignored_paths_are_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not differing(OUTCOME | {"wall_s": 0.7, "version": 1}, ("outcome.version",))
    assert capsys.readouterr().out == ""
