"""A simulated and a live run side by side with the published figures."""

import json
from pathlib import Path

import pytest

from fake_run import FakeRun
from tailrace.report.engines import write_engines
from tailrace.results import RunDirectoryError, are_two_engines, compare_engines, format_engines

BANDS = """title: t
source: s
document: d
figures:
  - {metric: completion_s, arm: "solo:XS", workload: XS, value: 300, tolerance: 10%}
  - {metric: completion_s, arm: fifo, workload: XS, value: 572, tolerance: 10%}
"""


def run(path: Path, engine: str, **changes: object) -> Path:
    """A made-up run of one engine, with published figures."""
    made = FakeRun(**changes).write(path)  # type: ignore[arg-type]  # fields of FakeRun
    manifest = json.loads((made / "manifest.json").read_text(encoding="utf-8"))
    (made / "manifest.json").write_text(json.dumps(manifest | {"engine": engine}), encoding="utf-8")
    (made / "published.yaml").write_text(BANDS, encoding="utf-8")
    return made


def test_slowdowns_of_both_engines_stand_beside_the_published_one(tmp_path: Path) -> None:
    simulated, live = run(tmp_path / "s", "simulated"), run(tmp_path / "l", "live", factor=1.1, seed=2)
    assert are_two_engines(live, simulated)
    compared = compare_engines(live, simulated)  # in either order
    row = next(r for r in compared["rows"] if (r["workload"], r["arm"], r["metric"]) == ("XS", "fifo", "slowdown"))
    assert row["simulated"] == pytest.approx(572 / 300, rel=0.02)
    assert row["live"] == pytest.approx(1.1 * 572 / 300, rel=0.02)
    assert row["published"] == pytest.approx(572 / 300)
    assert row["disagreement_percent"] == pytest.approx((1 / 1.1 - 1) * 100, abs=2)
    assert compared["simulated"]["path"] == str(simulated)


def test_the_text_says_how_many_agree(tmp_path: Path) -> None:
    near = compare_engines(run(tmp_path / "s", "simulated"), run(tmp_path / "l", "live", factor=1.1, seed=2))
    assert "10 of 10 slowdowns agree within 15 %." in format_engines(near)
    far = compare_engines(tmp_path / "s", run(tmp_path / "m", "live", factor=1.3, seed=2))
    assert "0 of 10 slowdowns agree within 15 %." in format_engines(far)


def test_the_interval_of_the_disagreement_holds_it(tmp_path: Path) -> None:
    simulated, live = run(tmp_path / "s", "simulated"), run(tmp_path / "l", "live", factor=1.1, seed=2)
    rows = [row for row in compare_engines(simulated, live)["rows"] if row["disagreement_interval"]]
    assert rows
    for row in rows:
        interval = row["disagreement_interval"]
        assert interval["low"] <= row["disagreement_percent"] <= interval["high"]


def test_the_page_draws_all_three(tmp_path: Path) -> None:
    compared = compare_engines(run(tmp_path / "s", "simulated"), run(tmp_path / "l", "live", seed=2))
    text = write_engines(compared, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "XS fifo: live" in text
    assert "XS fifo: published 1.91" in text
    assert "<script" not in text


def test_two_runs_of_one_engine_are_not_two_engines(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "live"), run(tmp_path / "b", "live")
    assert not are_two_engines(a, b)
    with pytest.raises(RunDirectoryError, match="one simulated and one live run"):
        compare_engines(a, b)
