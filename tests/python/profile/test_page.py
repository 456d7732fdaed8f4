"""The page of a profile, and what stands for a capture on the command line."""

import re
from pathlib import Path

import pytest

from capture_files import Connection, write_pcap
from command_line import tailrace
from tailrace.profile.capture import ProfileOptions, profile_capture
from tailrace.profile.charts import BAR_PX, Bars, bars
from tailrace.profile.findings import findings
from tailrace.profile.page import render

TEXT_PX = 10
"""Height of a name above its base line."""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty exchanges of short packets, 10 ms apart."""
    connection = Connection().opened()
    for number in range(20):
        connection.exchange(10_000 * (number + 1), 1000 + 100 * number, 5000 + 700 * number)
    return write_pcap(tmp_path_factory.mktemp("page") / "short.pcap", connection.frames)


def test_the_page_has_its_sections_and_asks_for_nothing_elsewhere(capture: Path) -> None:
    page = render(profile_capture(capture, ProfileOptions()).data)
    for section in ("kind", "frames", "flow-sizes", "tcp", "classes", "provenance"):
        assert f'<section id="{section}">' in page, section
    assert "short.pcap" in page
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)


def test_names_of_rows_are_clear_of_the_bars_above() -> None:
    rows = [("one", (0.5, 0.25, 0.1)), ("two", (1.0, 0.0, 0.2))]
    panel = bars(Bars("key", "Title", "what", ("a", "b", "c"), rows))
    assert panel is not None
    names = [int(y) for y in re.findall(r'<text[^>]*y="(\d+)"[^>]*class="label"', str(panel.chart))]
    tops = [int(y) for y in re.findall(r'<rect[^>]*y="(\d+)"', str(panel.chart))]
    widths = re.findall(r'<rect[^>]*width="([\d.]+)%"', str(panel.chart))
    assert (len(names), len(tops)) == (2, 6)
    assert names[1] - TEXT_PX > tops[2] + BAR_PX
    assert [float(width) for width in widths] == [50, 25, 10, 100, 0, 20]
    assert panel.csv.splitlines()[1] == "one,0.5,0.25,0.1"


def test_short_packets_are_found(capture: Path) -> None:
    told = " ".join(
        found.kind for found in findings(profile_capture(capture, ProfileOptions()).data).found
    )
    assert "short" in told


def test_the_command_writes_the_page(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = tailrace("profile", str(capture), "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert out.read_text().startswith("<!doctype html>")
    assert f"page: {out}" in done.stderr


def test_a_run_directory_without_a_capture_says_how_to_have_one(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    done = tailrace("profile", str(tmp_path))
    assert done.returncode == 2
    assert "--capture" in done.stderr


def test_the_only_capture_of_a_run_is_taken(capture: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    folder = tmp_path / "exact" / "captures"
    folder.mkdir(parents=True)
    (folder / "a.pcap").write_bytes(capture.read_bytes())
    assert tailrace("profile", str(tmp_path)).returncode == 0
    (folder / "b.pcap").write_bytes(capture.read_bytes())
    done = tailrace("profile", str(tmp_path))
    assert done.returncode == 2
    assert "a.pcap" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "nothing is named"),
        (("--interface", "eth0"), "an interface is observed for a time"),
        (("--for", "0s", "--interface", "eth0"), "--for: the time must be greater than zero"),
        (
            ("--for", "1s", "--interface", "eth0", "--netns", "no-such-space"),
            "there is no namespace 'no-such-space'",
        ),
        (("--for", "1s"), "--for: name one interface"),
    ],
)
def test_what_cannot_be_observed_is_refused(words: tuple[str, ...], message: str) -> None:
    done = tailrace("profile", *words)
    assert done.returncode == 2
    assert message in done.stderr
