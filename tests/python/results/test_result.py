"""The result in Python: tables for data frames, and a display for notebooks."""

import csv
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from arro3.core import Array, DataType
from arro3.core import Table as ArrowTable
from arro3.io import read_parquet, write_parquet

from fake_run import FakeRun
from fake_trial import BINS
from tailrace.errors import TailraceError
from tailrace.results import Result, RunDirectoryError

pytestmark = pytest.mark.smoke


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    fake = FakeRun(trials=2, invalid={("fifo", 2)}, with_solo=False)
    return Result(fake.write(tmp_path_factory.mktemp("run") / "run"))


def test_a_table_holds_all_valid_trials_and_says_which(result: Result) -> None:
    table = result.table("port_series")
    assert table.column_names[:4] == ["arm", "trial", "port", "bin"]
    assert len(table) == 3 * BINS
    assert set(zip(table.column("arm"), table.column("trial"), strict=True)) == {
        ("fifo", 1),
        ("dpp", 1),
        ("dpp", 2),
    }
    first = next(table.rows())
    assert first["arm"] == "fifo"
    assert first["start_s"] == 0
    assert first["port"] == "leaf1>client"


def test_the_rows_of_a_trial_stay_together(result: Result) -> None:
    table = result.table("port_series", recorded=True)
    for arm, number in (("fifo", 1), ("dpp", 1), ("dpp", 2)):
        own = read_parquet(
            str(result.path / "trials" / arm / f"{number}.port_series.parquet")
        ).read_all()
        rows = [row for row in table.rows() if (row["arm"], row["trial"]) == (arm, number)]
        for name in own.column_names:
            assert [row[name] for row in rows] == own.column(name).to_pylist()


def test_a_table_goes_to_other_libraries_through_the_capsule(result: Result) -> None:
    table = result.table("workload_series")
    imported = ArrowTable.from_arrow(table)
    assert imported.num_rows == len(table)
    assert imported.schema.names == table.column_names


def test_a_table_can_be_written(result: Result, tmp_path: Path) -> None:
    path = result.table("queue_depth").to_csv(tmp_path / "depth.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["arm", "trial", "port", "depth_bytes", "time_s"]
    assert result.table("queue_depth").to_parquet(tmp_path / "depth.parquet").stat().st_size > 100


def test_an_unknown_table_or_column_is_named(result: Result) -> None:
    with pytest.raises(KeyError, match=r"no table ports \(known: transactions"):
        result.table("ports")
    with pytest.raises(KeyError, match=r"no column rate \(known: arm"):
        result.table("port_series").column("rate")


def test_a_table_that_no_trial_recorded_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    for file in path.rglob("*.transactions.parquet"):
        file.unlink()
    with pytest.raises(RunDirectoryError, match=r"no trial recorded table transactions.*hint"):
        Result(path).table("transactions")


def test_a_table_has_names_and_seconds_where_trials_record_places_and_picoseconds(
    result: Result,
) -> None:
    recorded, readable = result.table("transactions", recorded=True), result.table("transactions")
    assert len(recorded) == len(readable) > 0
    names = result.summary.workloads
    assert readable.column("workload") == [names[place] for place in recorded.column("workload")]
    assert readable.column("latency_s") == [ps / 1e12 for ps in recorded.column("latency_ps")]
    assert not [name for name in readable.column_names if name.endswith("_ps")]


def test_a_table_without_rows_is_a_table(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    empty: dict[str, Any] = {
        name: Array([], DataType.uint64()) for name in ("workload", "start_ps", "waited_ps")
    }
    for arm in ("fifo", "dpp"):
        write_parquet(
            ArrowTable.from_pydict(empty), str(path / "trials" / arm / "1.cut_off.parquet")
        )
    table = Result(path).table("cut_off")
    assert (len(table), table.column_names[-1]) == (0, "waited_s")


def test_rows_are_chosen_by_what_columns_hold(result: Result) -> None:
    chosen = result.table("transactions").where(arm="dpp", trial=2)
    assert len(chosen) > 0
    assert {(row["arm"], row["trial"]) for row in chosen.rows()} == {("dpp", 2)}
    assert len(result.table("transactions").where(arm="none")) == 0


def test_a_table_becomes_a_data_frame_where_the_library_is_there(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    stand_in = ModuleType("stand_in")
    vars(stand_in)["DataFrame"] = lambda *content, **options: made.append((content, options))
    for library in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, stand_in)
    table = result.compare()
    table.to_pandas()
    table.to_polars()
    columns = {name: table.column(name) for name in table.column_names}
    assert made == [((columns,), {"columns": table.column_names}), ((table,), {})]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named(
    result: Result, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        TailraceError, match=rf"^{library} is not installed \(hint: `pip install {library}`"
    ):
        getattr(result.table("transactions"), f"to_{library}")()


def test_the_latency_of_a_workload_is_in_seconds(result: Result) -> None:
    latency, summary = (
        result.latency("dpp", "XS"),
        result.summary.arms["dpp"].workloads["XS"].latency_ms,
    )
    assert latency.p99_s == pytest.approx(summary.p99 / 1000)
    assert latency.p50_s < latency.p90_s < latency.p99_s <= latency.max_s
    assert latency.count == summary.count
    assert latency.values_s("p99") == [value / 1000 for value in summary.of_trials["p99"]]
    with pytest.raises(KeyError, match=r"no figure p98 \(known: mean, p50"):
        latency.interval_s("p98")


def test_the_interval_of_a_latency_is_that_of_the_trials(tmp_path: Path) -> None:
    latency = Result(FakeRun(trials=4, with_solo=False).write(tmp_path / "run")).latency(
        "dpp", "XS"
    )
    bounds = latency.interval_s("p50")
    assert bounds is not None
    assert bounds[0] < sum(latency.values_s("p50")) / 4 < bounds[1]


def test_the_transactions_of_a_workload_are_read_when_they_are_asked_for(result: Result) -> None:
    rows = list(result.latency("dpp", "XS").transactions().rows())
    everything = result.table("transactions").rows()
    assert rows == [row for row in everything if (row["arm"], row["workload"]) == ("dpp", "XS")]
    assert rows


def test_a_name_that_is_not_there_is_answered_with_those_that_are(result: Result) -> None:
    with pytest.raises(KeyError, match="no arm express; there are fifo, dpp"):
        result.latency("express", "XS")
    with pytest.raises(
        KeyError, match="no workload XXL in the valid trials of dpp; there are XS, S"
    ):
        result.completion_s("dpp", "XXL")


def test_arms_are_compared_in_a_table(result: Result) -> None:
    table = result.compare()
    assert len(table) == len(result.summary.comparisons)
    assert set(table.column("arm")) == {"dpp"}
    assert table.column("words") == [effect.words for effect in result.summary.comparisons]


def test_runs_are_compared_arm_by_arm(tmp_path: Path) -> None:
    first, second = (
        Result(FakeRun(trials=4, seed=seed).write(tmp_path / str(seed))) for seed in (1, 2)
    )
    table = first.compare(second)
    assert table.rows().__next__()["scope"] == "fifo"
    assert (set(table.column("baseline")), set(table.column("arm"))) == ({"a"}, {"b"})
    assert any(low is not None for low in table.column("improvement_percent_low"))
    assert table.column("words") == first.compare(tmp_path / "2").column("words")


class Tags(HTMLParser):
    """Counts open elements and collects text."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_notebooks_show_tables(result: Result) -> None:
    tags = Tags()
    tags.feed(result._repr_html_())
    assert tags.depth == 0
    assert {"XS", "fifo", "dpp", "rate or time"} <= set(tags.text)


def test_notebooks_show_the_first_rows_of_a_table(result: Result) -> None:
    tags = Tags()
    tags.feed(result.table("workload_series")._repr_html_())
    assert tags.depth == 0
    assert {"workload", "XS", f"{len(result.table('workload_series'))} rows"} <= set(tags.text)


def test_names_cannot_break_the_display(tmp_path: Path) -> None:
    shown = Result(
        FakeRun(name="<script>x</script>", trials=1, with_solo=False).write(tmp_path / "run")
    )._repr_html_()
    assert "<script>" not in shown


def test_short_ways_to_what_is_asked_most(result: Result) -> None:
    assert len(result.completion_s("dpp", "XS")) == 2
    assert not result.is_partial
    assert result.passed
    assert result.report_path.name == "report.html"
    assert "rate or time" in str(result)
