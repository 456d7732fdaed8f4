"""Sweeps from the scenario to the run directory, its table and its page."""

import csv
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from arro3.io import read_parquet

import tailrace
from lab import sound
from parts import part
from sealing import seal
from tailrace.errors import RunRefusedError
from tailrace.experiment.run import summarise_and_report
from tailrace.report.charts.sweep import chart_height
from tailrace.report.sections import ports
from tailrace.report.sections.ports import sweep_port_list
from tailrace.results import compare_two_arms, format_result, format_two_arms
from tailrace.results.directory.run_directory import Run
from tailrace.results.directory.tables import Table
from tailrace.results.summary.sweep import CurveValue, SweepCurve
from tailrace.results.sweep.curves import Axis, knee_of, summarise_sweep
from tailrace.results.sweep.headline import headline_curve
from tailrace.results.text.screen import LINES_MAX
from trial_files import read_trial, write_trial

pytestmark = pytest.mark.usefixtures("fake", "workplace")
USERS = "workloads.orders.users"
BUFFER = "switches.leaf.buffer"


def swept(*, trials: int = 2, out: str = "swept", **axes: object) -> tailrace.Result:
    paths = {"users": USERS, "buffer": BUFFER}
    sweep = {"axes": {paths[name]: values for name, values in axes.items()}}
    return tailrace.run(sound(sweep=sweep), trials=trials, out=out)


def test_every_point_has_its_curve_and_is_compared_with_the_baseline_at_the_same_point() -> None:
    summary = swept(users=[1, 2, 4]).summary
    sweep = summary.sweep
    assert [point.label for point in sweep.points] == ["users=1", "users=2", "users=4"]
    curve = next(
        c for c in sweep.curves if (c.workload, c.metric, c.arm) == ("orders", "rate_per_s", "dpp")
    )
    assert [value.trials for value in curve.values] == [2, 2, 2]
    pairs = {(effect.baseline, effect.arm) for effect in summary.comparisons}
    assert pairs == {(f"fifo@users={n}", f"dpp@users={n}") for n in (1, 2, 4)}


def test_a_sweep_has_the_baseline_of_the_experiment_at_every_point() -> None:
    sweep = {"axes": {USERS: [1, 2]}}
    result = tailrace.run(sound(sweep=sweep, experiment__baseline="dpp"), trials=5, out="baseline")
    assert result.summary.baseline == "dpp"
    pairs = {(effect.baseline, effect.arm) for effect in result.summary.comparisons}
    assert pairs == {(f"dpp@users={n}", f"fifo@users={n}") for n in (1, 2)}
    assert "With fifo instead of dpp, the " in " ".join(format_result(result.summary).split())
    assert "fifo against dpp is" in " ".join(format_result(result.summary, is_full=True).split())
    again = tailrace.Result(result.path, baseline="fifo")
    assert "With dpp instead of fifo, the " in " ".join(str(again).split())
    with pytest.raises(
        RunRefusedError, match=r"there is no arm 'fifo@users=1' \(hint: arms: fifo, dpp"
    ):
        _ = tailrace.Result(result.path, baseline="fifo@users=1").summary


def test_two_arms_of_a_sweep_are_compared_at_every_point_or_at_those_that_are_named() -> None:
    result = tailrace.run(sound(sweep={"axes": {USERS: [1, 2]}}), trials=5, out="pairs")
    compared = compare_two_arms(result.path, "dpp", "fifo")
    assert [pair.arms for pair in compared.pairs] == [
        (f"dpp@users={n}", f"fifo@users={n}") for n in (1, 2)
    ]
    assert {one.tests for one in compared.differences if one.is_main} == {4}, (
        "two points, two workloads"
    )
    text = format_two_arms(compared)
    assert re.search(r"^metric +point +workload +dpp +fifo +fifo is", text, re.MULTILINE)
    assert re.search(r"^latency_p99_ms +users=2 +orders ", text, re.MULTILINE)
    [pair] = compare_two_arms(result.path, "fifo@users=1", "fifo@users=2").pairs
    assert pair.arms == ("fifo@users=1", "fifo@users=2")


def test_a_group_has_curves_and_tables() -> None:
    changes = {"workloads__orders__group": "all", "workloads__backup__group": "all"}
    result = tailrace.run(
        sound(sweep={"axes": {USERS: [1, 2, 4]}}, **changes), trials=2, out="groups"
    )
    of_group = {
        curve.metric: curve for curve in result.summary.swept.curves if curve.workload == "all"
    }
    assert of_group["goodput_gbps"].kinds == ["oltp", "stream"]
    assert "all: goodput" in format_result(result.summary)
    rows = csv.DictReader((result.path / "sweep.csv").read_text(encoding="utf-8").splitlines())
    assert {row["workload"] for row in rows} == {"all", "orders", "backup"}
    assert "<figcaption>all" in result.report_path.read_text(encoding="utf-8")


def test_a_finer_grid_runs_only_what_is_new(workplace: Path) -> None:
    swept(users=[1, 4])
    before = {path: path.stat().st_mtime_ns for path in workplace.glob("swept/trials/*/*.json")}
    summary = swept(users="linear(1..4, 4)").summary
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(workplace.glob("swept/trials/*/*.json"))) == 4 * 2 * 2
    assert len(summary.swept.points) == 4


def test_a_coarser_grid_shows_its_own_points_alone() -> None:
    swept(users=[1, 2, 4])
    assert [point.label for point in swept(users=[2]).summary.swept.points] == ["users=2"]


def test_the_table_fits_a_terminal_and_names_points_and_arms() -> None:
    summary = swept(users=[1, 2, 4]).summary
    full = format_result(summary, is_full=True)
    assert full.count("Too few trials") == 1
    for text in (format_result(summary), full):
        assert re.search(r"^orders: .* \(mean ± half of the interval\)$", text, re.MULTILINE)
        assert "users  fifo" in text.replace("   ", "  ").replace("   ", "  ")
        assert max(len(line) for line in text.splitlines()) <= 80


def test_a_sweep_begins_with_sentences_and_is_one_screen() -> None:
    lines = format_result(swept(users=list(range(1, 61)), trials=1).summary).splitlines()
    assert len(lines) <= LINES_MAX
    told = " ".join(lines[2:8])
    assert told.startswith(
        "With dpp instead of fifo, the completion time of orders is undecided at 60 of 60 points"
    )
    assert any(line.startswith("... and ") for line in lines)
    assert lines[-1] == "All tables: --full, or the report."


def test_of_a_grid_the_sentence_goes_from_the_smallest_value_to_the_largest() -> None:
    summary = swept(users=[4, 1, 2], buffer=["1MB", "2MB"]).summary
    curve, _ = headline_curve(summary)
    assert curve is not None
    labels = [point.label for point in summary.swept.points]
    means = [value.mean for value in curve.values if value]
    low, high = (labels[means.index(end)] for end in (min(means), max(means)))
    assert [low, high] != [labels[0], labels[-1]]
    assert f"From {low} to {high}, the " in " ".join(format_result(summary).split())


def test_of_paired_axes_with_the_same_values_the_table_has_one() -> None:
    axes = {
        USERS: [1, 2, 4],
        "workloads.orders.warmup_transactions": [1, 2, 4],
        BUFFER: ["1MB", "2MB", "4MB"],
    }
    result = tailrace.run(
        sound(sweep={"axes": axes, "combine": "paired"}), trials=1, arms="fifo", out="paired"
    )
    text = format_result(result.summary)
    assert re.search(r"^users +buffer +fifo$", text, re.MULTILINE)
    grid = {USERS: [1, 2], "workloads.orders.warmup_transactions": [1, 2]}
    result = tailrace.run(sound(sweep={"axes": grid}), trials=1, arms="fifo", out="grid")
    assert re.search(
        r"^users +warmup_transactions +fifo$", format_result(result.summary), re.MULTILINE
    )


def test_the_page_draws_curves_of_one_axis_and_maps_of_two() -> None:
    line = swept(users=[1, 2, 4]).report_path.read_text(encoding="utf-8")
    assert 'id="curves"' in line
    assert "Latency against load" in line
    assert 'id="maps"' not in line
    grid = swept(users=[1, 2], buffer=["1MB", "2MB"], out="grid").report_path.read_text(
        encoding="utf-8"
    )
    assert 'id="maps"' in grid
    assert grid.count('class="heat"') >= 8


def test_a_percentile_that_is_a_lower_bound_is_marked_as_one() -> None:
    result = swept(trials=3, users=[1, 2, 4])
    assert "> " not in format_result(result.summary, is_full=True)
    for file in result.path.glob("trials/fifo@users=2/*.json"):
        outcome = read_trial(file)
        for workload in outcome["workloads"]:
            if latency := workload["latency"]:
                longest_ps, count = 2 * latency["max_ps"], latency["count"]
                waits = {"buckets": [[longest_ps, count]], "count": count, "longest_ps": longest_ps}
                workload["cut_off"] = waits
        write_trial(file, outcome)
    summary, report = summarise_and_report(result.path)
    text, page = format_result(summary, is_full=True), report.read_text(encoding="utf-8")
    assert re.search(r"^2 +> [\d.]+", text, re.MULTILINE)
    assert "'>' marks a lower bound" in text
    screen = format_result(summary)
    assert "> " not in screen
    assert "marks a lower bound" not in screen
    assert re.search(r'<td class="of-arm-0">&gt; [\d.]+', page)
    with (result.path / "sweep.csv").open(encoding="utf-8") as table:
        bounds = [row for row in csv.DictReader(table) if row["bounds"] != "0"]
    assert {(row[USERS], row["arm"], row["bounds"]) for row in bounds} == {("2", "fifo", "3")}
    assert all(row["metric"].startswith("latency_") and row["low"] == "" for row in bounds)
    drawn = page.count('class="dot bound arm-0 ')
    assert drawn == page.count('class="upward arm-0 ') > 0
    loads = page.partition('id="load"')[2].partition("<section")[0]
    assert loads.count('class="dot bound arm-0 ') == 1, "one point of one workload"
    compared = re.findall(
        r"99th percentile of latency: dpp against fifo is[^.]* of (\d) points",
        text.replace("\n", " "),
    )
    assert compared == [], "so few transactions have no interval of p99"


def test_the_page_lists_the_ports_of_every_arm_at_every_point_and_those_that_dropped_most() -> None:
    result = swept(users=[1, 2])
    page = result.report_path.read_text(encoding="utf-8")
    assert "Of 4 combinations of an arm and a point" in page
    assert 'id="port-table"' in page
    assert all(
        f">{arm} at users = {users}</option>" in page for arm in ("fifo", "dpp") for users in (1, 2)
    )


def test_the_port_list_of_a_large_sweep_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    result = swept(users=[1, 2], trials=1)
    for number, file in enumerate(sorted(result.path.glob("trials/*/*.json"))):
        outcome = read_trial(file)
        pattern = outcome["ports"][0]
        pattern |= {"tx_frames": 1, "queues": [pattern["queues"][0] | {"drops": lost(number)}]}
        outcome["ports"] = [
            pattern | {"node": f"leaf{at % 40}", "towards": f"h{at}"} for at in range(1000)
        ]
        write_trial(file, outcome)
    run = Run.read(result.path)
    found = sweep_port_list(run)
    assert found is not None
    assert len(found.data) < 2_000_000 * 4 / 20, "ten points of two arms are 20 lists"
    assert len(json.loads(found.data)["arms"][0]["rows"]) == 1000
    monkeypatch.setattr(ports, "PORT_LISTS_MAX", 1)
    few = sweep_port_list(run)
    assert few is not None
    assert few.names == [found.first]
    assert few.sentence.endswith(
        "have ports that dropped frames. The 1 that dropped most are listed."
    )


def test_points_whose_values_have_one_text_have_a_list_of_ports_each() -> None:
    result = swept(users=[1, 2], trials=1)
    path = result.path / "manifest.json"
    manifest = json.loads(path.read_text())
    for point in manifest["sweep"]["points"]:
        point["values"][USERS] = "1"
    path.write_text(json.dumps(manifest))
    seal(path)
    found = sweep_port_list(Run.read(result.path))
    assert found is not None
    assert found.names == ["fifo at users = 1", "dpp at users = 1"] + [
        f"{arm} at users = 1 (point 2)" for arm in ("fifo", "dpp")
    ]


def lost(frames: int) -> dict[str, Any]:
    return {"tail-drop": {"frames": frames, "bytes": 1500 * frames}}


def test_what_did_not_finish_is_told_and_listed_as_unfinished() -> None:
    data = sound(sweep={"axes": {"experiment.duration": ["100ms", "5s"]}})
    with pytest.warns(tailrace.ScenarioWarning, match="cannot finish"):
        result = tailrace.run(data, trials=2, out="late")
    rates = [c.values for c in result.summary.swept.curves if c.metric == "rate_per_s"]
    assert all(value.trials == 2 for values in rates for value in values)
    text, page = format_result(result.summary), result.report_path.read_text(encoding="utf-8")
    assert (
        "Unfinished trials, reported by the work done in their time:\n  fifo at "
        "duration=100ms: 2 of 2 trials" in text
    )
    assert "do not count" not in text + page
    assert "<strong>Trials at 1 point did not finish</strong>" in page


def test_of_many_arms_every_line_carries_its_name() -> None:
    arms: dict[str, dict[str, str]] = {"fifo": {}} | {
        f"size-{n}": {BUFFER: f"{n + 100}MB"} for n in range(1, 20)
    }
    few = swept(users=[1, 2, 4]).report_path.read_text(encoding="utf-8")
    result = tailrace.run(
        sound(sweep={"axes": {USERS: [1, 2, 4]}}, arms=arms), trials=1, out="many"
    )
    many = result.report_path.read_text(encoding="utf-8")
    assert 'class="end-name' not in few
    names = re.findall(
        r'<text x="100%" dx="5" y="([\d.]+)" class="end-name arm-\d dash-\d of-arm-(\d+)">', many
    )
    first = [float(y) for y, _ in names[:20]]
    assert {arm for _, arm in names[:20]} == {str(n) for n in range(20)}
    assert all(b - a >= 11.9 for a, b in pairwise(first)), "names do not overlap"
    assert 0 < first[0] < first[-1] < chart_height(list(arms)) + 12
    assert (
        len(set(re.findall(r'<i class="(dash-\d)" style="--colour:var\((--arm-\d)\)">', many)))
        == 20
    )


def test_intervals_have_the_level_of_the_statistics_and_stand_apart() -> None:
    text = swept(trials=3, users=[1, 2, 4]).report_path.read_text(encoding="utf-8")
    assert "vertical bars are 90 % intervals of the mean" in text
    assert "95 %" not in text
    shifts = re.findall(
        r'class="interval arm-(\d) [^"]*" transform="translate\(([-\d.]+) 0\)"', text
    )
    assert {arm: float(shift) for arm, shift in shifts} == {"0": -1.5, "1": 1.5}


def test_the_csv_file_has_a_row_for_every_value(workplace: Path) -> None:
    summary = swept(users=[1, 2]).summary
    with (workplace / "swept" / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(curve.values) for curve in summary.swept.curves)
    assert rows[0][USERS] == "1"
    assert float(rows[0]["mean"]) > 0


def test_the_parquet_file_holds_what_the_csv_file_holds(workplace: Path) -> None:
    swept(users=[1, 2], buffer=["1MB", "2MB"])
    table = Table(read_parquet(str(workplace / "swept" / "sweep.parquet")).read_all())
    with (workplace / "swept" / "sweep.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert table.column_names == list(rows[0])
    assert table.column("mean") == pytest.approx([float(row["mean"]) for row in rows])
    assert set(table.column(USERS)) == {1.0, 2.0}, "plain numbers are numbers"
    assert set(table.column(BUFFER)) == {"1MB", "2MB"}, "numbers with units are texts"


def test_the_python_interface_takes_axes() -> None:
    assert "sweep" in dir(tailrace)
    result = tailrace.sweep(sound(), {USERS: "log(1..4, 3)"}, trials=1, arms="dpp")
    assert [point.values for point in result.summary.swept.points] == [
        {USERS: n} for n in ("1", "2", "4")
    ]
    assert result.summary.swept.arms == ["dpp"]


def test_a_run_without_a_sweep_has_none() -> None:
    result = tailrace.run(sound(), trials=1, out="plain")
    assert result.summary.sweep is None
    assert summarise_sweep(Run.read(result.path)) is None


@pytest.mark.parametrize(
    ("values", "numbers", "is_log"),
    [
        (["1", "2", "4", "8"], [1, 2, 4, 8], True),
        (["1", "2", "3", "4"], [1, 2, 3, 4], False),
        (["1MB", "2MB", "100MB"], [1, 2, 100], True),
        (["1MB", "2GB"], None, False),
        (["fifo", "dpp"], None, False),
        (["0", "1", "2"], [0, 1, 2], False),
    ],
)
def test_an_axis_is_logarithmic_where_that_fits(
    values: list[str], numbers: list[float] | None, is_log: bool
) -> None:
    axis = Axis("a.b", "b", values)
    assert (axis.numbers, axis.is_log) == (numbers, is_log)


@pytest.mark.parametrize(
    ("values", "means", "knee"),
    [
        (["1", "2", "3", "4", "5"], [1, 1, 1, 1.2, 9], "4"),
        (["5", "4", "3", "2", "1"], [9, 1.2, 1, 1, 1], "4"),
        (["1", "2", "3", "4", "5"], [9, 1.2, 1, 1, 1], "2"),
        (["3", "1", "2", "5", "4"], [1, 1, 1, 9, 1.2], "4"),
        (["1", "2", "3", "4", "5"], [1, 2, 3, 4, 5], None),
        (["1", "2", "3", "4", "5"], [1, 1, 1, 1.05, 1.5], None),
        (["1", "2", "3", "4", "5"], [1, 9, 1, 1.2, 9], None),
        (["1", "2", "3", "4"], [1, 1, 1.2, 9], None),
        (["a", "b", "c", "d", "e"], [1, 1, 1, 1.2, 9], None),
    ],
)
def test_a_knee_is_where_a_latency_bends_most(
    values: list[str], means: list[float], knee: str | None
) -> None:
    own = [part(CurveValue, mean=mean) for mean in means]
    curve = part(SweepCurve, metric="latency_p99_ms", values=own)
    found = knee_of(curve, [Axis("a.b", "b", values)])
    assert (found and found.value) == knee
    assert (
        knee_of(part(SweepCurve, metric="rate_per_s", values=own), [Axis("a.b", "b", values)])
        is None
    )
    assert knee_of(curve, [Axis("a.b", "b", values), Axis("c.d", "d", ["1"])]) is None
    own[-1] = part(CurveValue, mean=means[-1], bounds=1)
    assert knee_of(curve, [Axis("a.b", "b", values)]) is None, (
        "a lower bound could lie anywhere above"
    )


def test_points_whose_trials_do_not_count_are_listed_with_the_reason(workplace: Path) -> None:
    swept(users=[1, 2])
    file = workplace / "swept" / "trials" / "dpp@users=2" / "1.json"
    write_trial(file, read_trial(file) | {"status": "invalid", "reason": "a host dropped frames"})
    found = summarise_sweep(Run.read(workplace / "swept"))
    assert found is not None
    [one] = found.excluded
    assert (one.label, one.arm, one.trials, one.of) == ("users=2", "dpp", 1, 2)
    assert one.reason == "a host dropped frames"
