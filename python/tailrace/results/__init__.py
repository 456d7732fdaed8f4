"""Results: from the files of a run to numbers that people and programs can use."""

from tailrace.results.compare import compare, format_compare
from tailrace.results.engines import are_two_engines, compare_engines, format_engines
from tailrace.results.result import Result
from tailrace.results.run_directory import Run, RunDirectoryError, Trial
from tailrace.results.summarise import summarise, summarise_run
from tailrace.results.sweep_files import write_sweep_files
from tailrace.results.sweep_text import format_result
from tailrace.results.tables import Table
from tailrace.results.text import format_table

__all__ = [
    "Result",
    "Run",
    "RunDirectoryError",
    "Table",
    "Trial",
    "are_two_engines",
    "compare",
    "compare_engines",
    "format_compare",
    "format_engines",
    "format_result",
    "format_table",
    "summarise",
    "summarise_run",
    "write_sweep_files",
]
