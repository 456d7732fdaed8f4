"""The report as text: complete, small, offline."""

import json
import re
from pathlib import Path

import pytest

from fake_run import FakeRun, change_plan
from report_page import Page, page_of
from tailrace.report import write

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parents[3]


def test_the_page_has_every_section(page: Page) -> None:
    sections = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
    assert sections == {
        "outcome",
        "completion",
        "published",
        "why",
        "latency",
        "queues",
        "throughput",
        "drops",
        "counters",
        "network",
        "assumptions",
        "provenance",
    }


def test_nothing_is_fetched_from_anywhere(page: Page) -> None:
    for tag, attributes in page.elements:
        for name in ("src", "href", "data", "action", "poster"):
            link = attributes.get(name) or "#"
            is_beside = tag == "a" and link.startswith(
                ("trials/", "result.json", "manifest.json", "scenario.yaml")
            )
            assert is_beside or link.startswith(("#", "data:")), f"<{tag} {name}={link!r}>"
    policies = [
        a["content"] or ""
        for tag, a in page.elements
        if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies[0].startswith("default-src 'none'")


def test_every_link_within_the_page_leads_somewhere(page: Page) -> None:
    targets = {
        link[1:]
        for tag, a in page.elements
        if tag == "a" and (link := a.get("href") or "").startswith("#")
    }
    assert targets <= set(page.ids())


def test_every_drawing_says_what_it_shows(page: Page) -> None:
    drawings = [a for tag, a in page.elements if tag == "svg" and a.get("role") == "img"]
    assert len(drawings) >= 16
    assert all(len(a.get("aria-label") or "") > 40 for a in drawings)
    others = [a for tag, a in page.elements if tag == "svg" and "role" not in a]
    assert all(
        a.get("aria-hidden") == "true" or a.get("class") == "lines" or "x" in a for a in others
    )


def test_every_time_series_has_its_data_beside_it(page: Page) -> None:
    charts = [a for _, a in page.elements if a.get("class") == "live"]
    assert len(charts) == 3 + 1 + 5 + 5, (
        "a queue, two throughputs; its drops; percentiles and rates of each workload"
    )
    assert all(a["data-csv"] in page.ids() for a in charts)
    assert "time_s,fifo trial 1,fifo,dpp trial 1,dpp" in page.text


def test_the_page_answers_in_its_first_lines(page: Page) -> None:
    assert (
        "With dpp instead of fifo, the completion time of S falls from 585 to 395 s (−32.4 %;"
        in page.text
    )
    assert "All 4 others are better (most of all XS: completion time −31.5 %)." in page.text
    assert (
        "6 of 6 independent figures hold (and 3 of 3 derived, 6 of 6 bound, 5 of 5 fitted)"
        in page.text
    )
    assert "With the mechanism disabled (arm equal to baseline), 3 of 6 would hold" in page.text
    assert "1/20 of the full counts, same rates" in page.text


def test_the_latency_panels_show_the_tail_first_and_name_their_axes(cisco: Path) -> None:
    text = write(cisco).read_text(encoding="utf-8")
    assert re.search(r'id="scale-tail" checked', text)
    assert 'class="panels full"' in text
    assert "cumulative share of transactions" in text
    assert "transaction latency (logarithmic)" in text


def test_a_line_marks_the_minimum_retransmission_timeout_where_latencies_reach_it(
    tmp_path: Path,
) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    assert "minimum RTO" not in page_of(path).text
    for file in path.glob("plans/*.json"):
        hosts = json.loads(file.read_text())["hosts"]
        for host in hosts:
            host["tcp"]["rto_min_ps"] = 8 * 10**9
        change_plan(path, file.stem, hosts=hosts)
    page = page_of(path)
    assert "minimum RTO 8 ms" in page.text
    assert "A vertical line marks the minimum retransmission timeout of 8 ms." in str(page.elements)
    assert re.search(
        r"With fifo, at most \d+ of the 836 slowest of 83.600 transactions of XS \(1 %\) waited",
        page.text,
    )


def test_drops_stand_on_the_time_axis_of_the_queue(page: Page) -> None:
    assert "Queue depth and drops over time" in page.text
    charts = [a for _, a in page.elements if a.get("class") == "live"]
    by_key = {a["data-csv"]: a["data-sync"] for a in charts}
    assert by_key["queue-0-drops"] == by_key["queue-0"] == "queue-0"


def test_percentiles_and_rates_have_charts_over_time(page: Page) -> None:
    assert "Percentiles over time" in page.text
    assert "time_s,fifo p50,fifo p99,dpp p50,dpp p99" in page.text
    assert "Transactions per second" in page.text


def test_the_tables_of_every_trial_are_linked(cisco: Path) -> None:
    links = {a["href"] for tag, a in page_of(cisco).elements if tag == "a" and "download" in a}
    assert "trials/fifo/1.transactions.parquet" in links
    assert "trials/solo-XS/1.queue_depth.parquet" in links
    assert all((cisco / str(link)).exists() for link in links)


def test_without_a_trial_that_counts_nothing_is_said_of_losses(tmp_path: Path) -> None:
    fake = FakeRun(trials=1, with_solo=False, failed={("fifo", 1), ("dpp", 1)})
    text = page_of(fake.write(tmp_path / "run")).text
    assert "There is no valid trial, so no frames were counted." in text
    assert "No frame was lost" not in text
    assert "No result:" in text
    assert "Not finished:" not in text


def test_reasons_of_many_trials_are_folded(tmp_path: Path) -> None:
    few = FakeRun(invalid={("fifo", 1)}).write(tmp_path / "few")
    many = FakeRun(invalid={("fifo", n) for n in range(1, 5)}).write(tmp_path / "many")
    assert [a for tag, a in page_of(few).elements if a.get("class") == "reasons"] == [
        {"class": "reasons", "open": None}
    ]
    assert [a for tag, a in page_of(many).elements if a.get("class") == "reasons"] == [
        {"class": "reasons"}
    ]


def test_everything_about_an_arm_can_be_hidden(cisco: Path) -> None:
    page = page_of(cisco)
    classes = [set((a.get("class") or "").split()) for _, a in page.elements]
    assert {a["data-of"] for _, a in page.elements if "data-of" in a} >= {
        "of-arm-0",
        "of-arm-1",
        "of-workload-4",
    }
    for tag, kind in (
        ("path", "of-arm-1"),
        ("tr", "of-arm-1"),
        ("figure", "of-workload-4"),
        ("tr", "of-workload-4"),
    ):
        assert any(
            t == tag and kind in c for (t, _), c in zip(page.elements, classes, strict=True)
        ), (tag, kind)
    live = [a["data-styles"] or "" for _, a in page.elements if a.get("class") == "live"]
    assert all("of-" in styles for styles in live)


def test_policies_are_told_in_words(page: Page) -> None:
    assert (
        "the first 20 packets of a flow go to express; after 5 ms of silence a flow counts as new"
        in page.text
    )
    assert "Queue default: weighted 100 %, at most 14 times the free buffer." in page.text


def test_what_an_arm_changes_is_said(page: Page) -> None:
    assert "switches.leaf1.policy = dpp" in page.text


def test_assumptions_carry_their_marks(page: Page) -> None:
    assert "users per database 20 derived 18 to 20" in re.sub(r"\s+", " ", " ".join(page.words))


def test_provenance_has_what_one_needs_to_repeat_the_run(page: Page) -> None:
    assert "tailrace run reproductions/cisco-dpp/scenario.yaml --scale 0.05" in page.text
    assert "Linux 6.18" in page.text
    assert "dpp/2, dpp/6" in page.text


def test_what_calibration_chose_is_shown(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    choice = {"workload": "XS", "transactions": 2_090, "gap_factor": 1.25, "rounds": 2}
    times = {"wanted_ps": 15 * 10**12, "alone_ps": 15_030_000_000_000}
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["calibration"] = {"choices": [choice | times]}
    (path / "manifest.json").write_text(json.dumps(manifest))
    page = page_of(path)
    assert "XS2 0901.2515.0015.03+0.20 %" in page.text


def test_the_licence_of_the_vendored_script_is_kept(page: Page) -> None:
    assert "© 2022 Leon Sorokin, MIT licence" in page.text
    licence = ROOT / "python" / "tailrace" / "report" / "assets" / "uplot-LICENSE.txt"
    assert "Permission is hereby granted" in licence.read_text()


def test_a_report_is_replaced_whole(cisco: Path) -> None:
    path = write(cisco)
    assert path == cisco / "report.html"
    assert not list(cisco.glob("*.new"))
    assert write(cisco).read_text() == path.read_text()
