"""Results: reads the files of a run, and computes figures, comparisons and texts."""

from tailrace.results.compare.arms import compare, format_compare
from tailrace.results.compare.engines import are_of_engines, compare_engines, format_engines
from tailrace.results.compare.two_arms import compare_two_arms, format_two_arms
from tailrace.results.directory.kept import RunDirectoryError
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.results.directory.tables import Table
from tailrace.results.result import Result
from tailrace.results.summarise import summarise, summarise_run, write_summary
from tailrace.results.sweep.files import write_sweep_files
from tailrace.results.sweep.text import format_result
from tailrace.results.text.run import format_table

__all__ = [
    "Result",
    "Run",
    "RunDirectoryError",
    "Table",
    "Trial",
    "are_of_engines",
    "compare",
    "compare_engines",
    "compare_two_arms",
    "format_compare",
    "format_engines",
    "format_result",
    "format_table",
    "format_two_arms",
    "summarise",
    "summarise_run",
    "write_summary",
    "write_sweep_files",
]
