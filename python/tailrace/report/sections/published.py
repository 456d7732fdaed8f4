"""Results with the published figures: as a grid, and as a list with differences and sources."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts.strip import deviation_strip
from tailrace.results.compare.kinds import count_text, has_kinds, null_text
from tailrace.results.directory.grid import Grid, grid_of, metric_name
from tailrace.results.format.numbers import plain_text
from tailrace.results.summary.expectation import JudgedFigure
from tailrace.results.text.run import difference_text, figure_text, judged_interval_text, scope_text


@dataclass(frozen=True)
class PublishedRow:
    """A row of the list, or a cell of the grid."""

    judged: JudgedFigure
    is_first: bool
    """Of a metric in an arm."""
    name: str
    scope: str
    here: str
    interval_text: str
    published_text: str
    difference_text: str
    strip: Markup


@dataclass(frozen=True)
class Published:
    """The section."""

    title: str
    short: str
    """The title in the contents of the page."""
    rows: list[PublishedRow]
    grid: Grid | None
    cells: list[list[PublishedRow]]
    """Of the grid."""
    has_published: bool
    has_kinds: bool
    counted: str
    """How many expectations hold, by kind."""


def beside_published(expectations: Sequence[JudgedFigure], workloads: Sequence[str]) -> Published:
    """Rows of the list, and the grid where the figures fill one."""
    previous = [None, *((judged.metric, judged.arm) for judged in expectations)]
    rows = [
        _row(judged, is_first=(judged.metric, judged.arm) != before)
        for judged, before in zip(expectations, previous, strict=False)
    ]
    row_of = {id(row.judged): row for row in rows}
    grid = grid_of(expectations, workloads)
    has_published = any(judged.published is not None for judged in expectations)
    counted = (count_text(expectations), null_text(expectations)) if expectations else ()
    return Published(
        title="Comparison with published figures" if has_published else "Expectations",
        short="Published figures" if has_published else "Expectations",
        rows=rows,
        grid=grid,
        cells=[[row_of[id(judged)] for judged in cells] for cells in grid.cells] if grid else [],
        has_published=has_published,
        has_kinds=has_kinds(expectations),
        counted=". ".join(text for text in counted if text),
    )


def _row(judged: JudgedFigure, *, is_first: bool) -> PublishedRow:
    return PublishedRow(
        judged=judged,
        is_first=is_first,
        name=metric_name(judged.metric, judged.noun),
        scope=scope_text(judged),
        here=figure_text(judged, judged.value),
        interval_text=judged_interval_text(judged),
        published_text=plain_text(judged.published),
        difference_text=difference_text(judged),
        strip=deviation_strip(judged),
    )
