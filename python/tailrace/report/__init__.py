"""The report: one offline HTML file per run."""

from tailrace.report.page import render, write, write_page

__all__ = ["render", "write", "write_page"]
