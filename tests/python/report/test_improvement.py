"""The chart of improvements: what is a lower bound, or cannot be told, is drawn so."""

import pytest

from parts import part
from tailrace.report.charts.improvement import improvement_chart
from tailrace.results.summary.effect import ArmEffect


def effect(verdict: str, bounds: tuple[int, int], change: float) -> ArmEffect:
    """Of a time that became longer by `change` percent."""
    return part(
        ArmEffect,
        arm="b",
        workload="shop",
        metric="latency_p50_ms",
        verdict=verdict,
        bounds=bounds,
        ratio=1 + change / 100,
        difference=change,
        change_percent=change,
        improvement_percent=-change,
        words="shop: told.",
    )


@pytest.mark.parametrize(
    ("verdict", "bounds", "change", "text", "has_dot"),
    [
        ("higher", (0, 2), 8.6, "&lt; −8.6 %", True),
        ("lower", (2, 0), -8.6, "&gt; +8.6 %", True),
        ("too few trials", (0, 2), 8.6, "&lt; −8.6 %", True),
        ("too few trials", (2, 2), 8.6, "–", False),
        ("not comparable", (1, 1), 8.6, "–", False),
        ("higher", (0, 0), 8.6, "−8.6 %", True),
    ],
)
def test_a_bound_of_a_time_bounds_its_improvement_from_above(
    verdict: str, bounds: tuple[int, int], change: float, text: str, has_dot: bool
) -> None:
    drawn = str(improvement_chart([effect(verdict, bounds, change)], [], "arm-1"))
    assert f">{text}</text>" in drawn
    assert ("<circle" in drawn) == has_dot
