"""The files that lie beside the page: results, tables and the scenario, as relative links."""

from typing import Any
from urllib.parse import quote

from tailrace.report.limits import LINKED_MAX
from tailrace.results import Run
from tailrace.results.directory.tables import TABLES

WHOLE = ("result.json", "scenario.yaml", "manifest.json")


def files_beside(run: Run) -> dict[str, Any]:
    """Files of the run, and the Parquet tables of each trial."""
    trials = [trial for listed in run.trials.values() for trial in listed if trial.status == "ok"]
    rows: list[dict[str, Any]] = []
    for trial in trials[:LINKED_MAX]:
        paths = {name: trial.table_path(name) for name in TABLES}
        links = {name: quote(path.relative_to(run.path).as_posix()) for name, path in paths.items() if path.exists()}
        rows.append({"arm": trial.arm, "trial": trial.number, "links": links})
    rows = [row for row in rows if row["links"]]
    return {
        "whole": [name for name in WHOLE if name == "result.json" or (run.path / name).exists()],
        "tables": [name for name in TABLES if any(name in row["links"] for row in rows)],
        "rows": rows,
        "omitted": max(0, len(trials) - LINKED_MAX) if rows else 0,
    }
