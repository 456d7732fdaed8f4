"""The result in Python: tables for data frames, and a display for notebooks."""

import csv
from html.parser import HTMLParser
from pathlib import Path

import pytest
from arro3.core import Table as ArrowTable
from arro3.io import read_parquet

from fake_run import FakeRun
from fake_trial import BINS
from tailrace.results import Result, RunDirectoryError


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    fake = FakeRun(trials=2, invalid={("fifo", 2)}, with_solo=False)
    return Result(fake.write(tmp_path_factory.mktemp("run") / "run"))


def test_a_table_holds_all_valid_trials_and_says_which(result: Result) -> None:
    table = result.table("port_series")
    assert table.column_names[:4] == ["arm", "trial", "port", "bin"]
    assert len(table) == 3 * BINS
    assert set(zip(table.column("arm"), table.column("trial"), strict=True)) == {("fifo", 1), ("dpp", 1), ("dpp", 2)}
    first = next(table.rows())
    assert first["arm"] == "fifo"
    assert first["start_ps"] == 0


def test_the_rows_of_a_trial_stay_together(result: Result) -> None:
    table = result.table("port_series")
    for arm, number in (("fifo", 1), ("dpp", 1), ("dpp", 2)):
        own = read_parquet(str(result.path / "trials" / arm / f"{number}.port_series.parquet")).read_all()
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
    assert list(rows[0]) == ["arm", "trial", "port", "depth_bytes", "time_ps"]
    assert result.table("queue_depth").to_parquet(tmp_path / "depth.parquet").stat().st_size > 100


def test_an_unknown_table_or_column_is_named(result: Result) -> None:
    with pytest.raises(KeyError, match="no table ports; there are transactions"):
        result.table("ports")
    with pytest.raises(KeyError, match="no column rate; there are arm"):
        result.table("port_series").column("rate")


def test_a_table_that_no_trial_recorded_is_an_error_with_a_hint(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    for file in path.rglob("*.transactions.parquet"):
        file.unlink()
    with pytest.raises(RunDirectoryError, match=r"no trial recorded the table transactions.*hint"):
        Result(path).table("transactions")


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


def test_names_cannot_break_the_display(tmp_path: Path) -> None:
    shown = Result(FakeRun(name="<script>x</script>", trials=1, with_solo=False).write(tmp_path / "run"))._repr_html_()
    assert "<script>" not in shown


def test_short_ways_to_what_is_asked_most(result: Result) -> None:
    assert len(result.completion_s("dpp", "XS")) == 2
    assert not result.is_partial
    assert result.passed
    assert result.report_path.name == "report.html"
    assert "completion, s" in str(result)
