"""A simulated and a live run side by side with the published figures."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fake_run import FakeRun
from report_page import edit_trials
from tailrace.report.engines import write_engines
from tailrace.results import RunDirectoryError, are_of_engines, compare_engines, format_engines
from tailrace.results.compare.engines import UNKNOWN
from tailrace.results.summary.engines import LeftOut
from trial_files import read_trial, write_trial

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
    simulated, live = (
        run(tmp_path / "s", "simulated"),
        run(tmp_path / "l", "live", factor=1.1, seed=2),
    )
    assert are_of_engines([live, simulated])
    compared = compare_engines([live, simulated])  # in either order
    row = next(
        r for r in compared.rows if (r.workload, r.arm, r.metric) == ("XS", "fifo", "slowdown")
    )
    assert row.values["simulated"] == pytest.approx(572 / 300, rel=0.02)
    assert row.values["live"] == pytest.approx(1.1 * 572 / 300, rel=0.02)
    assert row.published == pytest.approx(572 / 300)
    assert row.disagreements["simulated"].percent == pytest.approx((1 / 1.1 - 1) * 100, abs=2)
    assert compared.runs["simulated"].path == str(simulated)


def test_the_text_says_how_many_agree(tmp_path: Path) -> None:
    near = compare_engines(
        [run(tmp_path / "s", "simulated"), run(tmp_path / "l", "live", factor=1.1, seed=2)]
    )
    assert "10 of 10 slowdowns agree within 15 %." in format_engines(near)
    far = compare_engines([tmp_path / "s", run(tmp_path / "m", "live", factor=1.3, seed=2)])
    assert "0 of 10 slowdowns agree within 15 %." in format_engines(far)


def test_the_interval_of_the_disagreement_holds_it(tmp_path: Path) -> None:
    simulated, live = (
        run(tmp_path / "s", "simulated"),
        run(tmp_path / "l", "live", factor=1.1, seed=2),
    )
    found = [row.disagreements["simulated"] for row in compare_engines([simulated, live]).rows]
    found = [one for one in found if one.interval]
    assert found
    assert all(one.interval.low <= one.percent <= one.interval.high for one in found)


def test_the_page_draws_all_three(tmp_path: Path) -> None:
    compared = compare_engines(
        [run(tmp_path / "s", "simulated"), run(tmp_path / "l", "live", seed=2)]
    )
    text = write_engines(compared, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "XS fifo: live" in text
    assert "XS fifo: published 1.91" in text
    assert "<script" not in text


def test_two_runs_of_one_engine_are_not_two_engines(tmp_path: Path) -> None:
    a, b = run(tmp_path / "a", "live"), run(tmp_path / "b", "live")
    assert not are_of_engines([a, b])
    with pytest.raises(RunDirectoryError, match="one simulated and one live run"):
        compare_engines([a, b])


def test_three_engines_stand_side_by_side_and_two_are_compared_with_the_live_one(
    tmp_path: Path,
) -> None:
    live = run(tmp_path / "l", "live", factor=1.1, seed=2)
    runs = [
        live,
        run(tmp_path / "e", "exact", factor=1.3, seed=3),
        run(tmp_path / "s", "simulated"),
    ]
    assert are_of_engines(runs)
    compared = compare_engines(runs)
    assert (compared.engines, compared.reference) == (["simulated", "exact", "live"], "live")
    row = next(
        r for r in compared.rows if (r.workload, r.arm, r.metric) == ("XS", "fifo", "slowdown")
    )
    assert list(row.values) == ["simulated", "exact", "live"]
    assert row.disagreements["exact"].percent == pytest.approx((1.3 / 1.1 - 1) * 100, abs=3)
    text = format_engines(compared)
    assert "Simulated: 10 of 10 slowdowns agree within 15 %." in text
    assert "Exact: 0 of 10 slowdowns agree within 15 %." in text
    page = write_engines(compared, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "XS fifo: exact" in page
    assert "simulated, exact and live" in page


def test_an_exact_run_judges_every_figure_of_a_simulated_one(tmp_path: Path) -> None:
    near = compare_engines(
        [run(tmp_path / "s", "simulated"), run(tmp_path / "e", "exact", factor=1.03, seed=2)]
    )
    assert near.reference == "exact"
    text = format_engines(near)
    assert "figures agree within 5 %." in text
    assert "99th percentiles agree within 15 %." in text
    assert "goodput_gbps" in text


def test_runs_without_a_common_figure_say_so_once(tmp_path: Path) -> None:
    exact = run(tmp_path / "e", "exact")
    for trial in exact.glob("trials/*/*.json"):
        outcome = read_trial(trial)
        changes = {"status": "invalid", "reason": "did not finish", "unfinished": ["XS"]}
        write_trial(trial, outcome | changes)
    text = format_engines(compare_engines([run(tmp_path / "s", "simulated"), exact]))
    assert f"No workload has a figure in both runs. {exact}: no trial is valid (hint: " in text
    assert "solo" not in text


def test_trials_that_are_left_out_are_named_with_their_reason(tmp_path: Path) -> None:
    simulated, exact = run(tmp_path / "s", "simulated"), run(tmp_path / "e", "exact")
    assert "left out" not in format_engines(compare_engines([simulated, exact]))
    for name, changes in (
        ("1", {"status": "invalid", "reason": "did not finish", "unfinished": ["XS"]}),
        ("2", {"status": "failed", "reason": "a kernel ended"}),
    ):
        trial = exact / "trials" / "fifo" / f"{name}.json"
        outcome = read_trial(trial)
        write_trial(trial, outcome | changes)
    compared = compare_engines([simulated, exact])
    count = len(list((exact / "trials" / "fifo").glob("*.json")))
    assert compared.runs["simulated"].left_out == {}
    assert compared.runs["exact"].left_out == {
        "fifo": LeftOut(unfinished=1, invalid=1, trials=count)
    }
    told = f"1 unfinished and 1 invalid or failed of {count} of fifo"
    words = f"exact: trials without a complete result are left out of all figures: {told}"
    assert f"\n{words}\n" in format_engines(compared)
    assert words in write_engines(compared, tmp_path / "page.html").read_text(encoding="utf-8")


def test_slowdowns_that_cannot_be_compared_are_told_once(tmp_path: Path) -> None:
    runs = [run(tmp_path / engine, engine) for engine in ("simulated", "exact", "live")]
    compared = compare_engines(runs)
    compared = replace(compared, rows=[row for row in compared.rows if row.metric != "slowdown"])
    assert format_engines(compared).count("Slowdowns cannot be compared") == 1


def cut_off(outcome: dict[str, Any], *names: str) -> None:
    for own in (
        workload for workload in outcome["workloads"] if not names or workload["name"] in names
    ):
        longest, count = own["latency"]["max_ps"], own["latency"]["count"] // 20 + 1
        own["cut_off"] = {"count": count, "longest_ps": longest, "buckets": [[longest, count]]}


def test_a_lower_bound_of_the_reference_is_compared_with_nothing(tmp_path: Path) -> None:
    simulated, exact = (
        run(tmp_path / "s", "simulated"),
        run(tmp_path / "e", "exact", factor=1.03, seed=2),
    )
    edit_trials(exact, cut_off)
    compared = compare_engines([simulated, exact])
    rows = [row for row in compared.rows if row.metric == "latency_p99_ms"]
    assert [row for row in rows if row.bounds["simulated"] or not row.bounds["exact"]] == []
    assert all(row.disagreements["simulated"] == UNKNOWN for row in rows)
    told = "99th percentiles cannot be compared: of each, at least one engine's is a lower bound."
    text = format_engines(compared)
    assert told in text
    assert "0 of 0" not in text


def test_lower_bounds_neither_agree_nor_disagree(tmp_path: Path) -> None:
    simulated, exact = (
        run(tmp_path / "s", "simulated"),
        run(tmp_path / "e", "exact", factor=1.03, seed=2),
    )
    edit_trials(simulated, lambda outcome: cut_off(outcome, "XS"))
    compared = compare_engines([simulated, exact])
    rows = {
        row.arm: row
        for row in compared.rows
        if (row.workload, row.metric) == ("XS", "latency_p99_ms")
    }
    assert rows["fifo"].bounds == {"simulated": 6, "exact": 0}
    assert rows["fifo"].intervals["simulated"] is None
    assert rows["fifo"].disagreements["simulated"] == UNKNOWN
    text = format_engines(compared)
    assert " 99th percentiles agree within 15 % (3 more are lower bounds)." in text
    assert "> " in next(line for line in text.splitlines() if line.startswith("latency_p99_ms"))
    page = write_engines(compared, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<td>&gt; " in page
    assert "XS fifo: simulated &gt; " in page
    assert page.count('class="dot bound arm-0"') == 3
    assert "An open circle is a lower bound" in page
