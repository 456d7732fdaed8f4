"""Charts over time: a drawing for the printed page, and the data with which the script replaces
it."""

from dataclasses import dataclass

from markupsafe import Markup

from tailrace.report.charts import time
from tailrace.report.drawing.series import TimeChart

LIVE_EXTRA_PX = 40
"""Height of a live chart's time axis."""


@dataclass(frozen=True)
class DrawnSeries:
    """A chart over time."""

    key: str
    title: str
    y_title: str
    drawing: Markup
    csv: str
    styles: str
    """Classes of the lines, in the order of the columns of `csv`."""
    highest: float | None
    """Upper end of the vertical axis; None where the lines of this chart decide it."""
    height_px: int
    is_log: bool
    about: str
    """Classes by which the page hides a workload, or an arm."""


def drawn_series(
    chart: TimeChart, highest: float | None = None, height_px: int = time.HEIGHT_PX
) -> DrawnSeries:
    """Draws a chart."""
    about = [("of-workload", chart.workload), ("of-arm", chart.arm)]
    return DrawnSeries(
        key=chart.key,
        title=chart.title,
        y_title=chart.y_title,
        drawing=time.time_chart(chart, highest, height_px),
        csv=chart.csv(),
        styles=",".join(f"{line.style} thin" if line.trial else line.style for line in chart.lines),
        highest=highest,
        height_px=height_px + LIVE_EXTRA_PX,
        is_log=chart.is_log,
        about=" ".join(f"{kind}-{index}" for kind, index in about if index is not None),
    )
