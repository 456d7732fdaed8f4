"""The files that lie beside the page: results, tables and the scenario, as relative links."""

from dataclasses import dataclass
from urllib.parse import quote

from tailrace.report.limits import LINKED_MAX
from tailrace.results import Run, Trial
from tailrace.results.directory.tables import TABLES

WHOLE = ("result.json", "scenario.yaml", "manifest.json")


@dataclass(frozen=True)
class TrialFiles:
    """The tables of one trial."""

    arm: str
    trial: int
    links: dict[str, str]
    """By table."""


@dataclass(frozen=True)
class FilesBeside:
    """The section."""

    whole: list[str]
    """Files of the run."""
    tables: list[str]
    """Tables that at least one trial has."""
    rows: list[TrialFiles]
    omitted: int
    """Trials that are not listed."""


def files_beside(run: Run) -> FilesBeside:
    """Files of the run, and the Parquet tables of each trial."""
    trials = [trial for listed in run.trials.values() for trial in listed if trial.status == "ok"]
    rows = [row for trial in trials[:LINKED_MAX] if (row := _tables(run, trial)).links]
    return FilesBeside(
        whole=[name for name in WHOLE if name == "result.json" or run.files.folder.has(name)],
        tables=[name for name in TABLES if any(name in row.links for row in rows)],
        rows=rows,
        omitted=max(0, len(trials) - LINKED_MAX) if rows else 0,
    )


def _tables(run: Run, trial: Trial) -> TrialFiles:
    paths = {name: trial.files.table_path(name) for name in TABLES if trial.has_table(name)}
    links = {name: quote(path.relative_to(run.path).as_posix()) for name, path in paths.items()}
    return TrialFiles(trial.arm, trial.number, links)
