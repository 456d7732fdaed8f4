"""A finished (or interrupted) run in Python and in notebooks."""

from functools import cached_property
from html import escape
from pathlib import Path

from tailrace.errors import RunRefusedError
from tailrace.results.compare.arms import compare
from tailrace.results.compare.comparison_table import comparison_table
from tailrace.results.compare.headline import headline
from tailrace.results.compare.kinds import asked_for, count_text, null_text
from tailrace.results.compare.looks_text import looks_sentences
from tailrace.results.compare.two_arms import compare_two_arms
from tailrace.results.directory.run_directory import Run
from tailrace.results.directory.tables import Table, read_table
from tailrace.results.format.numbers import number
from tailrace.results.metrics.early_end import early_end_sentences
from tailrace.results.metrics.latency_summary import Latency
from tailrace.results.metrics.unfinished import unfinished_sentences
from tailrace.results.summarise import summarise_run
from tailrace.results.summary.summary import Summary
from tailrace.results.summary.workload import SubjectSummary
from tailrace.results.sweep.text import format_result
from tailrace.results.text.outcome_html import NOTEBOOK_STYLE, outcome_html
from tailrace.results.text.run import difference_text, figure_text, scope_text, verdict_text

PASSED_MARKS = {True: "✓", False: "✗", None: "?"}


class Result:
    """The result of a run: `latency`, `compare`, `table` for data frames, `summary`, and a rich
    display in notebooks.

    `Result("runs/first")` opens a run directory; `tailrace.run` and `tailrace.sweep` return one.
    """

    def __init__(self, run_dir: Path | str, *, baseline: str | None = None) -> None:
        """Opens a run directory; `baseline` is the arm that the others are compared with, None for
        that of the scenario.
        """
        self.path = Path(run_dir)
        self._run = Run.read(self.path)
        self._baseline = baseline

    def __repr__(self) -> str:
        return f"Result({str(self.path)!r})"

    def __str__(self) -> str:
        return format_result(self.summary)

    @cached_property
    def summary(self) -> Summary:
        """The content of `result.json`, computed from the trials."""
        return summarise_run(self._run, self._baseline)

    @property
    def is_partial(self) -> bool:
        """Whether planned trials are missing."""
        return self._run.is_partial

    @property
    def passed(self) -> bool:
        """Whether every expectation holds of the arms that were run; true when there are none."""
        return all(judged.passed for judged in asked_for(self.summary.expectations))

    @property
    def report_path(self) -> Path:
        """Where the report lies once `tailrace.report.write` wrote it."""
        return self.path / "report.html"

    def table(self, name: str, *, workload: str | None = None, recorded: bool = False) -> Table:
        """`transactions`, `cut_off`, `port_series`, `workload_series` or `queue_depth` of all valid
        trials.

        Arms, workloads and ports have their names, times are in seconds; `.to_pandas()`,
        `.to_polars()` and `.to_csv(path)` hand it on. `workload` keeps the rows of one workload, or
        of the members of a group. `recorded` gives the numbers as the trials keep them: places and
        picoseconds. Raises `KeyError` for an unknown name.
        """
        if workload is None:
            return read_table(self._run, name, recorded=recorded)
        if recorded:
            raise ValueError(
                "recorded tables have numbers instead of names (hint: leave out `workload`)"
            )
        table = read_table(self._run, name)
        if "workload" not in table.column_names:
            raise KeyError(f"table {name} has no column workload (hint: leave out `workload`)")
        return table.where_any(workload=self._members(workload))

    def latency(self, arm: str, workload: str) -> Latency:
        """Percentiles in seconds over all valid trials (`.p99_s`), their intervals and every
        transaction, of a workload or of the members of a group together.
        """
        found = self._workload(arm, workload).latency_ms
        if found is None:
            raise KeyError(
                f"no latency of {workload} in {arm}: no transaction, flow or datagram was recorded"
            )
        return Latency.from_summary(
            arm,
            workload,
            found,
            lambda: self.table("transactions", workload=workload).where(arm=arm),
        )

    def completion_s(self, arm: str, workload: str) -> list[float]:
        """Completion times of the valid trials, in seconds; of a group, those of the last of its
        members."""
        return list(self._workload(arm, workload).completion_s.values)

    def compare(
        self, other: "Result | Path | str | None" = None, *, arms: tuple[str, str] | None = None
    ) -> Table:
        """The differences, a row for each workload and metric, with intervals and p values.

        Without `other`, every arm against the baseline, or the second of two `arms` against the
        first. With another run, that one against this, arm by arm, as `tailrace compare` does. The
        unit of the means ends the name of the metric.

        Raises `RunRefusedError` for an arm that the run does not have.
        """
        if arms is not None:
            if other is not None:
                raise RunRefusedError(
                    "arms are those of one run (hint: leave out `other`, or `arms`)"
                )
            return comparison_table(compare_two_arms(self.path, *arms).differences)
        if other is None:
            return comparison_table(self.summary.comparisons)
        path = other.path if isinstance(other, Result) else Path(other)
        return comparison_table(compare(self.path, path).differences)

    def _members(self, name: str) -> list[str]:
        """The workload of this name, or the members of the group."""
        known = [*self._run.groups, *self._run.workloads]
        if name not in known:
            raise KeyError(f"no workload or group {name}; there are {', '.join(known)}")
        return self._run.groups.get(name, [name])

    def _workload(self, arm: str, workload: str) -> SubjectSummary:
        """The summary of a workload or group in an arm; the error for an unknown name lists the
        known ones."""
        arms = self.summary.arms
        if arm not in arms:
            raise KeyError(f"no arm {arm}; there are {', '.join(arms)}")
        found = arms[arm].subject(workload)
        if found is None:
            known = ", ".join([*arms[arm].groups, *arms[arm].workloads])
            raise KeyError(
                f"no workload {workload} in the valid trials of {arm}; there are {known}"
            )
        return found

    def _repr_html_(self) -> str:
        """Small tables in the notebook's own style."""
        run = self.summary.run
        partial = " · <strong>partial</strong>" if run.is_partial else ""
        head = (
            f"<p><strong>{escape(run.name)}</strong> · seed {run.seed} · scale "
            f"{run.scale:g}{partial}</p>"
        )
        ends = [*unfinished_sentences(self.summary), *early_end_sentences(self.summary)]
        sentences = [*headline(self.summary), *looks_sentences(self.summary), *ends]
        words = "".join(f"<p>{escape(text)}</p>" for text in sentences)
        return (
            head + words + NOTEBOOK_STYLE + outcome_html(self.summary) + self._expectations_html()
        )

    def _expectations_html(self) -> str:
        rows = [
            [
                PASSED_MARKS[judged.passed],
                judged.metric,
                scope_text(judged),
                figure_text(judged, judged.value),
                number(judged.published, 3),
                difference_text(judged),
                judged.tolerance,
                verdict_text(judged),
                judged.kind,
            ]
            for judged in self.summary.expectations
        ]
        head = [
            "",
            "expectation",
            "where",
            "here",
            "published",
            "difference",
            "allowed",
            "verdict",
            "kind",
        ]
        expectations = self.summary.expectations
        texts = [text for text in (count_text(expectations), null_text(expectations)) if text]
        counted = "".join(f"<p>{escape(text)}.</p>" for text in texts)
        return _html_table(head, rows) + counted if rows else ""


def _html_table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
