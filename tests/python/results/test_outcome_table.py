"""The table of the outcome: the same rows in report, terminal and notebook, of any number of arms
and workloads."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs, to_builtins
from msgspec.structs import replace

from outcomes import endless, many, state, write_run
from parts import part
from summaries import summary_of
from tailrace.report import write
from tailrace.results import Result, format_table, summarise
from tailrace.results.compare.tone import Tone, tone_of
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.workload import GroupSummary, LatencySummary, WorkloadSummary
from tailrace.results.text.needed import needed_sentence
from tailrace.results.text.outcome_html import outcome_html
from tailrace.results.text.outcome_table import outcome_table
from tailrace.results.text.outcome_text import WIDTH, outcome_text
from trial_files import read_trial

VOID = frozenset({"br", "meta", "link", "input"})


def test_the_trials_that_an_interval_takes_are_those_of_groups_too() -> None:
    rare = part(LatencySummary, trials_needed={"p99": 31})
    rarer = part(LatencySummary, trials_needed={"p99": 16})
    workload = part(WorkloadSummary, trials=[1, 2, 3], latency_ms=rare)
    group = part(GroupSummary, trials=[1, 2, 3], latency_ms=rarer)
    found = summary_of({"fifo": {"shop": workload}}, ["shop"], {"fifo": {"all": group}})
    assert (
        needed_sentence(found) == "* no interval: p99 needs about 16 to 31 trials of this length."
    )


class Balanced(HTMLParser):
    """Whether everything that opens is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(("arms", "workloads"), [(1, 1), (2, 1), (3, 20), (12, 2), (12, 20)])
def test_any_number_of_arms_and_workloads_has_a_table(
    tmp_path: Path, arms: int, workloads: int
) -> None:
    summary = many(tmp_path, arms, workloads, trials=3 if workloads > 2 else 6)
    table = outcome_table(summary)
    assert [len(block.rows) for block in table.blocks] == [arms] * workloads
    assert table.has_changes == (arms > 1)
    text = outcome_text(summary)
    assert max(len(line) for line in text.splitlines()) <= WIDTH
    html = outcome_html(summary)
    assert Balanced(html).open == []
    for arm in summary.arms:
        assert html.count(f">{arm}<") == workloads
        assert text.count(f"  {arm} ") == workloads


def test_a_rate_is_of_what_the_workloads_count(tmp_path: Path) -> None:
    summary = many(tmp_path, 1, 2)
    assert "; rate: transactions per second; " in outcome_table(summary).notes[0]
    workloads = summary.arms["arm-0"].workloads
    workloads["workload-1"] = structs.replace(workloads["workload-1"], kind="requests")
    assert "; rate: transactions or requests per second; " in outcome_table(summary).notes[0]


def test_a_cell_has_its_value_its_interval_its_change_and_a_sign(tmp_path: Path) -> None:
    [block] = outcome_table(many(tmp_path, 2, 1)).blocks
    baseline, other = (row.cells for row in block.rows)
    assert (baseline[0].value, baseline[0].unit, baseline[0].change, baseline[0].sign) == (
        "1\u202f007",
        "/s",
        "",
        "",
    )
    assert (other[0].value, other[0].change, other[0].tone, other[0].sign) == (
        "2\u202f014",
        "+100.0 %",
        "better",
        "✓",
    )
    low, high = (float(end.replace("\u202f", "")) for end in other[0].interval.split(" to "))
    assert low < 2014 < high
    assert other[0].change_interval.endswith(" %")
    assert (other[2].change, other[2].tone, other[2].sign) == ("+12.5 %", "", "")
    assert (other[1].tone, other[1].sign) == ("same", "=")
    assert other[3].value == "0.100"


def test_half_of_the_interval_of_a_ratio_is_in_ratios(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        one = endless(outcome, "XS")["XS"]
        state(
            one,
            number,
            rate_per_s=1000 + (arm == "dpp") * (13_000 + 300 * number),
            p50_ms=2,
            p99_ms=8,
        )

    path = write_run(tmp_path / "run", change, manifest={"workloads": ["XS"]})
    cell = outcome_table(summarise(path)).blocks[0].rows[1].cells[0]
    assert cell.change.startswith("× 15")
    low, high = (float(end) for end in cell.change_interval.removeprefix("× ").split(" to "))
    assert float(cell.change_half.removeprefix("±")) == pytest.approx((high - low) / 2, abs=0.1)


def test_a_completion_beside_a_rate_is_at_full_scale(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], arm: str, _number: int) -> None:
        if arm == "dpp":  # one arm is unfinished, so that rates are compared
            outcome |= {"status": "invalid", "reason": "did not finish", "unfinished": ["XS"]}
            next(one for one in outcome["workloads"] if one["name"] == "XS")["completion_ps"] = None

    summary = summarise(write_run(tmp_path / "run", change, scale=0.05))
    [block] = [block for block in outcome_table(summary).blocks if block.name == "XS"]
    told = block.rows[0].cells[0]
    assert told.unit == "/s"
    assert float(told.beside.removesuffix(" s")) == pytest.approx(572, rel=0.02)


def test_too_few_trials_are_told_in_every_cell(tmp_path: Path) -> None:
    [block] = outcome_table(many(tmp_path, 2, 1, trials=2)).blocks
    assert {cell.tone for cell in block.rows[1].cells if cell.change} == {"few", "same", ""}


def test_report_terminal_and_notebook_show_the_same_figures(tmp_path: Path) -> None:
    summary = many(tmp_path, 3, 2)
    table = outcome_table(summary)
    page = write(tmp_path / "run").read_text(encoding="utf-8")
    notebook = Result(tmp_path / "run")._repr_html_()
    terminal = format_table(summary)
    for cell in (cell for block in table.blocks for row in block.rows for cell in row.cells):
        assert f"<b>{cell.value}{cell.unit}</b>" in page
        assert f"<b>{cell.value}{cell.unit}</b>" in notebook
        assert cell.value.replace("\u202f", " ") in terminal
        if cell.change:
            assert cell.change in page
            assert f"{cell.sign} {cell.change.removesuffix(' %')}".strip() in terminal
    assert page.index("table class=") < page.index('section id="completion"'), (
        "the first screen of the report"
    )
    assert terminal.index("rate or time") < terminal.index("latency, ms")


def test_the_rate_of_a_group_whose_members_end_at_different_times_is_explained(
    tmp_path: Path,
) -> None:
    note = (
        "The rate of a group is the total work of its members divided "
        "by the longest of their times."
    )

    def change(outcome: dict[str, Any], _arm: str, _number: int) -> None:
        if (tmp_path / "endless").exists():
            endless(outcome, "XS", "L1")

    groups = {"workloads": ["XS", "L1"], "groups": {"databases": ["XS", "L1"]}}
    assert (
        note
        in outcome_table(summarise(write_run(tmp_path / "ends", change, manifest=groups))).notes
    )
    (tmp_path / "endless").mkdir()
    assert (
        note
        not in outcome_table(summarise(write_run(tmp_path / "runs", change, manifest=groups))).notes
    )


@pytest.mark.parametrize(
    ("bounds", "tone"), [((0, 0), "same"), ((6, 6), "censored"), ((0, 1), "censored")]
)
def test_lower_bounds_are_not_called_the_same(bounds: tuple[int, int], tone: str) -> None:
    verdict = "no significant difference"
    assert tone_of(part(ArmEffect, verdict=verdict, bounds=bounds, metric="latency_p99_ms")) == tone


def test_a_member_that_is_done_early_adds_what_it_did_and_not_its_rate(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], _arm: str, _number: int) -> None:
        early, late = (one for one in outcome["workloads"] if one["name"] in ("XS", "L1"))
        early |= {"transactions": 300, "completion_ps": 10**12}
        late |= {"transactions": 100, "completion_ps": 4 * 10**12}

    groups = {"workloads": ["XS", "L1"], "groups": {"databases": ["XS", "L1"]}}
    figures = summarise(write_run(tmp_path / "run", change, manifest=groups)).arms["fifo"].figures
    rates = [figures[name]["rate_per_s"].value for name in ("databases", "XS", "L1")]
    assert rates == [100.0, 300.0, 25.0]


def test_no_loss_anywhere_does_not_put_an_arm_in_question(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], arm: str, number: int) -> None:
        own = endless(outcome, "XS")["XS"]
        state(own, number, rate_per_s=2000 if arm == "dpp" else 1000, p50_ms=1, p99_ms=1)
        own["tcp"] |= {"retransmits": 0, "spurious_retransmits": 0}

    headline = {"workloads": ["XS"], "headline": [{"workload": "XS", "metric": "loss_percent"}]}
    text = format_table(
        summarise(write_run(tmp_path / "run", change, manifest=headline, arms=("fifo", "dpp")))
    )
    assert "XS: loss is exactly the same with dpp as with fifo in every trial.\n" in text


def test_colour_is_painted_over_the_signs_and_changes_no_column(tmp_path: Path) -> None:
    summary = many(tmp_path, 2, 1)
    tones: list[Tone] = []

    def paint(text: str, tone: Tone) -> str:
        tones.append(tone)
        return f"\x1b[1m{text}\x1b[0m"

    painted = outcome_text(summary, paint)
    assert tones[:3] == ["better", "same", ""]
    assert re.sub(r"\x1b\[\dm", "", painted) == outcome_text(summary)
    assert "\x1b" not in format_table(summary)


def test_a_group_adds_rates_and_pools_waits_and_losses(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], _arm: str, number: int) -> None:
        kept = endless(outcome, "XS", "L1")
        for name, rate in (("XS", 1000.0), ("L1", 10.0)):
            state(kept[name], number, rate_per_s=rate, p50_ms=1, p99_ms=1)
            kept[name]["transactions"] = int(rate * 10)
        kept["XS"]["tcp"] |= {"retransmits": 300, "spurious_retransmits": 100}

    groups = {"workloads": ["XS", "L1"], "groups": {"databases": ["XS", "L1"]}}
    path = write_run(tmp_path / "run", change, manifest=groups, arms=("fifo", "dpp"), trials=2)
    summary = summarise(path)
    blocks = outcome_table(summary).blocks
    assert [(block.name, block.is_group, block.is_member) for block in blocks] == [
        ("databases", True, False),
        ("XS", False, True),
        ("L1", False, True),
    ]
    assert "\n    fifo  " in outcome_text(summary), (
        "the name of an arm of a member stands there whole"
    )
    total = summary.arms["fifo"].figures["databases"]
    assert total["rate_per_s"].value == 1010
    assert total["loss_percent"].value == pytest.approx(100 * (200 + 100) / 200_000)
    outcome = read_trial(path / "trials" / "fifo" / "1.json")
    counts = {one["name"]: one["latency"]["count"] for one in outcome["workloads"]}
    own = {name: summary.arms["fifo"].workloads[name].latency_ms for name in counts}
    pooled = total["latency_p50_ms"].value
    assert counts["XS"] > 10 * counts["L1"], "most waits are those of XS"
    assert pooled == pytest.approx(own["XS"].p50, rel=0.1)
    assert "databases (2 together)" in outcome_text(summary)


def test_what_is_sent_again_without_need_is_no_loss(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], _arm: str, _number: int) -> None:
        endless(outcome, "XS")["XS"]["tcp"] |= {"retransmits": 900, "spurious_retransmits": 850}

    path = write_run(
        tmp_path / "run", change, manifest={"workloads": ["XS"]}, arms=("fifo",), trials=1
    )
    assert summarise(path).arms["fifo"].figures["XS"]["loss_percent"].value == pytest.approx(0.05)


def test_what_workloads_are_judged_by_is_one_family_and_the_rest_is_described(
    tmp_path: Path,
) -> None:
    comparisons = many(tmp_path, 3, 2).comparisons
    assert {e.tests for e in comparisons if e.metric == "rate_per_s"} == {4}
    assert {e.is_main for e in comparisons if e.metric == "rate_per_s"} == {True}
    [described] = {
        (e.tests, e.p_value, e.verdict) for e in comparisons if e.metric == "latency_p99_ms"
    }
    assert described == (0, None, "not tested")


def test_a_bound_is_not_compared_the_wrong_way() -> None:
    higher = part(ArmEffect, metric="latency_p99_ms", verdict="higher", p_value=0.001)
    assert tone_of(replace(higher, bounds=(0, 6))) == "worse"
    assert tone_of(replace(higher, bounds=(6, 0))) == "censored"


def test_negative_numbers_have_one_sign_wherever_people_read_them(tmp_path: Path) -> None:
    summary = many(tmp_path, 2, 2)
    page = write(tmp_path / "run").read_text(encoding="utf-8")
    section = page[page.index('section id="outcome"') : page.index('section id="latency"')]
    words = re.sub(r"<[^>]*>", " ", section)
    assert not re.search(r"(?<![\w-])-\d", words)
    assert not re.search(r"(?<![\w-])-\d", format_table(summary))
    assert not re.search(r"\u2212", json.dumps(to_builtins(summary.arms), ensure_ascii=False))


def test_a_group_is_complete_with_the_last_of_its_members(tmp_path: Path) -> None:
    def change(outcome: dict[str, Any], arm: str, _number: int) -> None:
        early, late = (one for one in outcome["workloads"] if one["name"] in ("XS", "L1"))
        early["completion_ps"], late["completion_ps"] = 10**12, None if arm == "dpp" else 4 * 10**12

    groups = {
        "workloads": ["XS", "L1"],
        "groups": {"databases": ["XS", "L1"]},
        "workload_scale": {"XS": 0.05},
    }
    path = write_run(tmp_path / "run", change, manifest=groups, arms=("fifo", "dpp"))
    assert Result(path).completion_s("fifo", "databases") == [4.0] * 6
    assert Result(path).completion_s("dpp", "databases") == [], "one has not finished"
    table = next(
        part
        for part in format_table(summarise(path)).split("\n\n")
        if part.startswith("completion, s")
    )
    assert re.search(r"^databases +fifo +6 +4\.000 ", table, re.MULTILINE)
    assert "unfinished in 1, 2, 3, 4, 5, 6" in table


def test_a_group_leads_with_what_the_headline_names(tmp_path: Path) -> None:
    def lead(metric: str | None) -> str | None:
        headline = [{"workload": "all", "metric": metric}] if metric else []
        manifest = {"groups": {"all": ["XS", "S"]}, "headline": headline}
        run = write_run(tmp_path / f"{metric}", lambda outcome, *_: None, manifest=manifest)
        return next(subject.lead for subject in summarise(run).subjects if subject.name == "all")

    assert lead("goodput_gbps") == "goodput_gbps"
    assert lead("rate_per_s") == lead("latency_p99_ms") == lead(None) == "rate_per_s"
