"""Writing of results and reports: an interrupt prints the kept files, and the command that writes
the rest."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tailrace.cli.codes import INTERRUPTED
from tailrace.cli.console import note
from tailrace.experiment.reporter import Reporter
from tailrace.experiment.stages import working

KEPT = "the outcomes of trials are kept"
SUMMARY_LATER = "`tailrace report {}` summarises them"


@contextmanager
def reporting(path: Path, reporter: Reporter) -> Iterator[None]:
    """The stage in which the result and the report of a run directory are written."""
    try:
        with working(reporter, "writing the report"):
            yield
    except KeyboardInterrupt:
        note(f"interrupted: {KEPT}; {SUMMARY_LATER.format(path)}")
        raise SystemExit(INTERRUPTED) from None
