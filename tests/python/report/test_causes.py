"""The section "Where the time went" of a report."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from fake_causes import add_causes
from fake_run import FakeRun
from parts import part
from report_page import Page, page_of
from tailrace.report.charts.causes import ArmBands, causes_chart
from tailrace.report.drawing.parts import SPARE_COLOURS, part_colours
from tailrace.results.causes.causes import PARTS
from tailrace.results.summary.causes import Band

MS = 10**9
THEME = (Path(__file__).parents[3] / "python/tailrace/report/assets/theme.css").read_text(
    encoding="utf-8"
)
CONTRAST_MIN = 3.0
"""Of what is drawn against what it is drawn on: WCAG 2.1, 1.4.11."""
SURFACES = ("#ffffff", "#191d20")


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = FakeRun(arms=("fifo", "dpp", "wred")).write(tmp_path_factory.mktemp("causes") / "run")
    add_causes(path, "XS", arms=2)
    return page_of(path)


def test_a_run_without_explanations_has_no_such_section(tmp_path: Path) -> None:
    page = page_of(FakeRun().write(tmp_path / "run"))
    assert "causes" not in page.ids()
    assert "Where the time went" not in page.text


def test_bars_are_in_parts_by_band_and_arm(explained: Page) -> None:
    assert "causes" in explained.ids()
    drawn = [
        (attributes["class"] or "").split()
        for tag, attributes in explained.elements
        if tag == "rect" and "y" in attributes
    ]
    bars = [classes for classes in drawn if classes[0] == "part"]
    assert len(bars) == 5 * 2 * 2, "bands, arms, parts"
    assert {classes[1] for classes in bars} == {"of-arm-0", "of-arm-1"}
    assert {classes[2] for classes in bars} == {"part-switch-queue", "part-spare-0"}


def test_the_key_has_the_parts_that_occur(explained: Page) -> None:
    assert "queues of switches pause of a class XS" in said(explained)
    assert "delayed acknowledgement" not in said(explained)


def test_a_table_tells_what_the_bars_show(explained: Page) -> None:
    assert "arm transactions number mean latency queues of switches pause of a class" in said(
        explained
    )
    assert "fifo up to p50 500 250.5 ms 125.2 ms (50 %)" in said(explained)
    label = next(
        a["aria-label"] or ""
        for t, a in explained.elements
        if (a.get("aria-label") or "").startswith("Mean lat")
    )
    assert label.startswith(
        "Mean latency of XS by percentile band: p50 fifo 250.5 ms, 50 % queues of switches; "
        "p50 dpp 501 ms"
    )


def test_queues_tell_port_and_culprit_and_the_slowest_a_sentence(explained: Page) -> None:
    assert "queues of switches XS, the slowest 1 % of transactions" in said(explained)
    assert "leaf1>client 100 % backup <b> 100 %" in said(explained)
    assert "The slowest 10 of XS with dpp" in said(explained)
    assert said(explained).count(" from 0 s, user 0: ") == 20


def test_parts_keep_their_colour_whatever_else_occurs() -> None:
    assert (
        part_colours(["switch_queue"])["switch_queue"]
        == part_colours(PARTS)["switch_queue"]
        == "part-switch-queue"
    )
    new = [f"new_{letter}" for letter in "abcdefgh"]
    found = part_colours([*reversed(new), *PARTS])
    assert list(found)[: len(PARTS)] == list(PARTS)
    assert found["new_a"] == "part-spare-0"
    assert {found[part] for part in new} == {
        f"part-spare-{number}" for number in range(SPARE_COLOURS)
    }


def test_every_colour_is_in_both_themes_and_stands_out_from_the_page() -> None:
    names = {
        *part_colours(PARTS).values(),
        *(f"part-spare-{number}" for number in range(SPARE_COLOURS)),
    }
    for name in names:
        colours = re.findall(rf"--{name}: (#[0-9a-f]{{6}});", THEME)
        assert len(colours) == 2, name
        assert f"svg .{name} {{ fill: var(--{name}); }}" in THEME
        for colour, surface in zip(colours, SURFACES, strict=True):
            assert contrast(colour, surface) >= CONTRAST_MIN, (name, surface)


def test_parts_too_thin_to_be_seen_leave_their_room() -> None:
    parts = {"server_work": 10.0 * MS, "propagation": 0.01 * MS, "receive": 10.0 * MS}
    band = part(Band, name="max", count=1, latency_ps=sum(parts.values()), parts=parts)
    drawing = causes_chart("XS", [ArmBands("fifo", 0, [band])], part_colours(parts))
    places = [
        (float(x or 0), float(width))
        for x, width in re.findall(r'x="([\d.]*)%?" width="([\d.]+)%"', drawing)
    ]
    assert len(places) == 2
    for (x, width), (after, _) in pairwise(places):
        assert after - x - width == pytest.approx(0.05, abs=0.011)


def test_bars_of_a_band_have_one_scale() -> None:
    slow, fast = (
        [part(Band, name="max", count=1, latency_ps=ms * MS, parts={"server_work": ms * MS})]
        for ms in (10.0, 2.5)
    )
    drawing = causes_chart(
        "XS", [ArmBands("a", 0, slow), ArmBands("b", 1, fast)], part_colours(["server_work"])
    )
    assert re.findall(r'width="([\d.]+)%" y', drawing) == ["100", "25"]


def said(page: Page) -> str:
    """Its words, those of neighbouring cells apart."""
    return " ".join(" ".join(page.words).split())


def contrast(one: str, other: str) -> float:
    """WCAG 2.1: the ratio of relative luminances."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
