"""The report: one offline HTML file per run."""

from tailrace.report.page import render, write

__all__ = ["render", "write"]
