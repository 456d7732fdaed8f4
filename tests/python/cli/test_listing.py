"""What `tailrace list` reads."""

import json
from pathlib import Path

import pytest

from tailrace.cli.listing import find_runs
from whole import stored

HEAD = (
    '{"format": 3, "arm": "base", "trial": 1, "plan_hash": "", '
    '"status": "STATUS", "outcome": {"name'
)


@pytest.mark.parametrize(
    ("text", "done"),
    [(HEAD.replace("STATUS", "ok"), 1), (HEAD.replace("STATUS", "failed"), 0), ("{", 0)],
)
def test_of_a_trial_only_the_head_is_read(tmp_path: Path, text: str, done: int) -> None:
    trials = tmp_path / "run" / "trials" / "base"
    trials.mkdir(parents=True)
    (tmp_path / "run" / "manifest.json").write_text(json.dumps({"name": "a", "order": ["base/1"]}))
    (trials / "1.json").write_text(text)
    assert [run["trials_done"] for run in find_runs(tmp_path)] == [done]


def test_a_head_with_a_long_reason_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").write_text('{"name": "a"}')
    stored(
        tmp_path / "run" / "trials" / "base" / "1.json",
        "base",
        1,
        {},
        status="invalid",
        reason="why " * 5000,
    )
    assert find_runs(tmp_path)[0]["trials_done"] == 1


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["tailrace", "run", "lab.yaml", "--set", "a.b=1", "--set=c.d=2"], ["a.b=1", "c.d=2"]),
        ("tailrace run lab.yaml --set 'a.b=1 ms'", ["a.b=1 ms"]),
        (None, []),
    ],
)
def test_what_a_run_overrides_is_listed(
    tmp_path: Path, command: object, expected: list[str]
) -> None:
    (tmp_path / "run").mkdir()
    axes = [
        {"path": "x.users", "values": ["1", "2"]},
        {"path": "x.buffer", "values": [f"{n}MB" for n in range(1, 21)]},
    ]
    manifest = {"name": "a", "command": command, "sweep": {"axes": axes}}
    (tmp_path / "run" / "manifest.json").write_text(json.dumps(manifest))
    swept = ["x.users = 1, 2", "x.buffer = 1MB to 20MB (20 values)"]
    assert find_runs(tmp_path)[0]["overridden"] == [*swept, *expected]
