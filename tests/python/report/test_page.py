"""The report as text: complete, small, offline, and readable whatever the run holds."""

import json
import re
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fake_bridging import add_bridging
from fake_run import FakeRun
from tailrace.report import write
from tailrace.results import summarise

ROOT = Path(__file__).parents[3]
SIZE_BYTES_MAX = 1_000_000
VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})


class Page(HTMLParser):
    """Elements with their attributes, visible text, and whether everything that opens is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} closes {self.open[-3:]}"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.words))

    def ids(self) -> list[str]:
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]


def page_of(path: Path) -> Page:
    text = write(path).read_text(encoding="utf-8")
    assert len(text.encode()) < SIZE_BYTES_MAX
    page = Page(text)
    assert page.open == []
    assert len(page.ids()) == len(set(page.ids()))
    return page


def edit_trials(path: Path, change: Any) -> None:
    for file in path.glob("trials/*/*.json"):
        outcome = json.loads(file.read_text())
        change(outcome)
        file.write_text(json.dumps(outcome))


@pytest.fixture(scope="module")
def cisco(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = FakeRun().write(tmp_path_factory.mktemp("cisco") / "run")
    shutil.copy(ROOT / "reproductions" / "cisco-dpp" / "published.yaml", path / "published.yaml")
    return path


@pytest.fixture(scope="module")
def page(cisco: Path) -> Page:
    return page_of(cisco)


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
            is_beside = tag == "a" and link.startswith(("trials/", "result.json", "manifest.json", "scenario.yaml"))
            assert is_beside or link.startswith(("#", "data:")), f"<{tag} {name}={link!r}>"
    policies = [a["content"] or "" for tag, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0].startswith("default-src 'none'")


def test_every_link_within_the_page_leads_somewhere(page: Page) -> None:
    targets = {link[1:] for tag, a in page.elements if tag == "a" and (link := a.get("href") or "").startswith("#")}
    assert targets <= set(page.ids())


def test_every_drawing_says_what_it_shows(page: Page) -> None:
    drawings = [a for tag, a in page.elements if tag == "svg" and a.get("role") == "img"]
    assert len(drawings) >= 16
    assert all(len(a.get("aria-label") or "") > 40 for a in drawings)
    others = [a for tag, a in page.elements if tag == "svg" and "role" not in a]
    assert all(a.get("aria-hidden") == "true" or a.get("class") == "lines" or "x" in a for a in others)


def test_every_time_series_has_its_data_beside_it(page: Page) -> None:
    charts = [a for _, a in page.elements if a.get("class") == "live"]
    assert len(charts) == 3 + 1 + 5 + 5, "a queue, two throughputs; its drops; percentiles and rates of each workload"
    assert all(a["data-csv"] in page.ids() for a in charts)
    assert "time_s,fifo trial 1,fifo,dpp trial 1,dpp" in page.text


def test_the_page_answers_in_its_first_lines(page: Page) -> None:
    assert "With dpp, XS finishes 31.5 % sooner than with fifo and S 32.4 %; mixed for M (" in page.text
    assert "6 of 6 independent figures hold (and 3 of 3 derived, 6 of 6 bound, 5 of 5 fitted)" in page.text
    assert "With the mechanism disabled (arm equal to baseline), 3 of 6 would hold" in page.text
    assert "1/20 of the full counts, same rates" in page.text


def test_the_latency_panels_show_the_tail_first_and_name_their_axes(cisco: Path) -> None:
    text = write(cisco).read_text(encoding="utf-8")
    assert re.search(r'id="scale-tail" checked', text)
    assert 'class="panels full"' in text
    assert "cumulative share of transactions" in text
    assert "transaction latency (logarithmic)" in text


def test_a_line_marks_the_minimum_retransmission_timeout_where_latencies_reach_it(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    assert "minimum RTO" not in page_of(path).text
    for file in path.glob("plans/*.json"):
        plan = json.loads(file.read_text())
        for host in plan["hosts"]:
            host["tcp"]["rto_min_ps"] = 8 * 10**9
        file.write_text(json.dumps(plan))
    page = page_of(path)
    assert "minimum RTO 8 ms" in page.text
    assert "A vertical line marks the minimum retransmission timeout of 8 ms." in str(page.elements)
    assert re.search(
        r"With fifo, at most \d+ of the 836 slowest of 83.600 transactions of XS \(1 %\) waited", page.text
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
    assert [a for tag, a in page_of(many).elements if a.get("class") == "reasons"] == [{"class": "reasons"}]


def test_everything_about_an_arm_can_be_hidden(cisco: Path) -> None:
    page = page_of(cisco)
    classes = [set((a.get("class") or "").split()) for _, a in page.elements]
    assert {a["data-of"] for _, a in page.elements if "data-of" in a} >= {"of-arm-0", "of-arm-1", "of-workload-4"}
    for tag, kind in (("path", "of-arm-1"), ("tr", "of-arm-1"), ("figure", "of-workload-4"), ("tr", "of-workload-4")):
        assert any(t == tag and kind in c for (t, _), c in zip(page.elements, classes, strict=True)), (tag, kind)
    live = [a["data-styles"] or "" for _, a in page.elements if a.get("class") == "live"]
    assert all("of-" in styles for styles in live)


def test_policies_are_told_in_words(page: Page) -> None:
    assert "the first 20 packets of a flow go to express; after 5 ms of silence a flow counts as new" in page.text
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


def test_a_partial_run_says_so_first(tmp_path: Path) -> None:
    fake = FakeRun(failed={("dpp", 2)}, invalid={("fifo", 1)}, missing={("dpp", 6)})
    page = page_of(fake.write(tmp_path / "run"))
    assert "partial run" in page.text
    assert "3 trials are invalid or failed and are excluded from all averages." in page.text
    assert page.text.index("invalid or failed") < page.text.index("Completion times")
    assert "fifo, trial 1: invalid: 12 frames were dropped in the ring of client" in page.text


def test_a_run_without_valid_trials_still_has_a_page(tmp_path: Path) -> None:
    fake = FakeRun(trials=1, with_solo=False, failed={("fifo", 1), ("dpp", 1)})
    page = page_of(fake.write(tmp_path / "run"))
    assert "No trial is valid" in page.text
    assert "the simulator ran out of memory" in page.text


def test_few_trials_are_called_too_few(tmp_path: Path) -> None:
    page = page_of(FakeRun(trials=2).write(tmp_path / "run"))
    assert "With dpp, too few trials to detect a difference in completion time for XS, S, M, L1 and L2." in page.text


def test_a_sweep_of_many_arms_stays_below_the_limit(tmp_path: Path) -> None:
    arms = ("fifo", *(f"buffer-{size}" for size in range(1, 40)))
    page = page_of(FakeRun(trials=1, arms=arms, with_solo=False).write(tmp_path / "run"))
    assert "32 more arms are shown only in the tables." in page.text
    assert "buffer-39" in page.text


def test_a_run_with_one_arm_tells_what_its_workloads_took(tmp_path: Path) -> None:
    page = page_of(FakeRun(trials=1, arms=("fifo",), with_solo=False).write(tmp_path / "run"))
    assert re.search(r"With fifo, XS took 5[67]\d s, S took 58\d s.*\(completion times at full scale\)\.", page.text)
    assert "against" not in page.text.split("Completion times")[0]


def test_names_from_a_scenario_cannot_become_markup(tmp_path: Path) -> None:
    path = FakeRun(name="<img src=x onerror=alert(1)>", trials=1, with_solo=False).write(tmp_path / "run")
    page = page_of(path)
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert "<img src=x" in page.text


def test_a_run_without_tables_and_plans_has_the_other_sections(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    shutil.rmtree(path / "plans")
    for file in path.rglob("*.parquet"):
        file.unlink()
    page = page_of(path)
    sections = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
    assert sections == {"outcome", "completion", "why", "latency", "drops", "counters", "assumptions", "provenance"}


def test_streams_without_an_end_have_goodput_and_no_completion(tmp_path: Path) -> None:
    path = FakeRun(trials=1, arms=("fifo",), with_solo=False).write(tmp_path / "run")

    def endless(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload |= {"kind": "stream", "completion_ps": None, "latency": None, "user_completion_ps": []}

    edit_trials(path, endless)
    page = page_of(path)
    assert "L1 carried" in page.text
    assert not [a for tag, a in page.elements if tag == "section" and a.get("id") in ("completion", "latency")]
    assert "goodput, Gbit/s" in page.text


def test_latency_alone_is_compared_where_nothing_completes(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")

    def endless(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload["completion_ps"] = None

    edit_trials(path, endless)
    page = page_of(path)
    assert "transactions per second" in page.text.partition("rate or time")[0]
    assert "dpp against fifo: transactions per second" in page.text


def test_endless_streams_are_compared_by_their_goodput(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")

    def endless(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload |= {"kind": "stream", "completion_ps": None, "latency": None, "user_completion_ps": []}
            if workload["name"] == "M" and "dpp" in outcome["name"].split("/"):
                workload["goodput_bytes"] //= 2

    edit_trials(path, endless)
    page = page_of(path)
    # Half of the bytes in a run that was a little shorter.
    assert re.search(r"M carries 4\d\.\d % less", page.text)
    assert "dpp against fifo: goodput" in page.text


def test_flows_that_arrive_by_themselves_are_not_judged_by_their_end(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")

    def arriving(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload["kind"] = "flows"

    edit_trials(path, arriving)
    page = page_of(path)
    assert "sooner" not in page.text
    assert "99th percentile of latency" in page.text.split("Comparison")[1]
    assert "Completion times" not in page.text


def test_a_deadlock_a_storm_and_early_drops_are_seen(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    add_bridging(path)
    text = page_of(path).text
    assert text.index("Deadlock with dpp (trials 1, 2): s0 → s1 → s2 → s0") < text.index("Completion times")
    pauses = text[text.index("Pauses, per trial") : text.index("TCP, per trial")]
    assert re.search(r"leaf1 → client ?3 ?4 ?25 % ?7.00 kB ?0 ?1 ?1", pauses), pauses
    early = text[text.index("Dropped before queueing") :]
    assert re.search(r"leaf1 ?policed ?70 ?70.0 kB", early), early[:200]


def test_a_run_without_losses_says_that_none_were_seen(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")

    def lossless(outcome: dict[str, Any]) -> None:
        for queue in outcome["ports"][0]["queues"]:
            queue["drops"] = {}

    edit_trials(path, lossless)
    assert "No valid trial dropped a frame." in page_of(path).text


def test_a_report_is_replaced_whole(cisco: Path) -> None:
    path = write(cisco)
    assert path == cisco / "report.html"
    assert not list(cisco.glob("*.new"))
    assert write(cisco).read_text() == path.read_text()


FIGURE = re.compile(r"^[+−]?([\d.]+)(?: %)?$")
INTERVAL = re.compile(r"([+−-]?[\d.]+) (?:%? ?)?(?:–|to) ([+−-]?[\d.]+)(?: %)?")
SENTENCE = re.compile(r" ([\d.]+) % \w+ with \w+ than with \w+ \(([+−]?[\d.]+) to ([+−]?[\d.]+) %")


def percents(text: str) -> dict[str, set[tuple[float, ...]]]:
    """Percentages of a page, without signs, and the intervals that stand with each."""
    found: dict[str, set[tuple[float, ...]]] = {}

    def add(figure: str, *ends: str) -> None:
        found.setdefault(figure, set()).add(tuple(sorted(abs(float(end.replace("−", "-"))) for end in ends)))

    for row in re.findall(r"<tr.*?</tr>", text, re.DOTALL):
        cells = [re.sub(r"<.*?>|\s+", " ", cell).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.DOTALL)]
        if "acceleration" not in row and "completion" not in row:
            continue
        for figure, interval in pairwise(cells):
            ends = INTERVAL.fullmatch(interval)
            if ends and (value := FIGURE.match(figure)) and abs(float(value[1])) < 100:
                add(value[1], *ends.groups())
    for figure, *ends in SENTENCE.findall(re.sub(r"<.*?>", "", text)):
        add(figure, *ends)
    return found


def test_a_figure_has_the_same_interval_wherever_it_stands(cisco: Path) -> None:
    text = write(cisco).read_text(encoding="utf-8")
    accelerations = [
        e for e in json.loads(json.dumps(summarise(cisco)))["expectations"] if e["metric"] == "acceleration_percent"
    ]
    assert len(accelerations) >= 5
    found = percents(text)
    for figure in (f"{e['value']:.1f}" for e in accelerations if e["interval"]):
        assert len(found[figure]) == 1, (figure, found[figure])
    assert sum(len(ends) for ends in found.values()) >= 5


def test_the_summary_has_one_interval_for_each_figure(cisco: Path) -> None:
    summary = summarise(cisco)
    effects = {e["workload"]: e for e in summary["comparisons"] if e["metric"] == "completion_s"}
    arms = summary["arms"]
    for judged in (e for e in summary["expectations"] if e["interval"]):
        interval = [judged["interval"][end] / judged["multiplied_by"] for end in ("low", "high")]
        if judged["metric"] == "acceleration_percent":
            other = effects[judged["workload"]]["improvement_interval"]
        elif judged["arm"] in arms:
            other = arms[judged["arm"]]["workloads"][judged["workload"]][judged["metric"]]["interval"]
        else:
            continue
        assert interval == pytest.approx([other["low"], other["high"]]), judged["metric"]


def test_what_was_cut_off_is_in_the_table_of_percentiles(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")
    assert "cut off" not in page_of(path).text

    def cut(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            longest = 2 * workload["latency"]["max_ps"]
            workload["cut_off"] = {"count": 7, "longest_ps": longest, "buckets": [[longest, 7]]}

    edit_trials(path, cut)
    page = page_of(path)
    assert "Kaplan-Meier estimates" in page.text
    assert "cut off" in page.text
    assert "> " in page.text
    # A workload of which nothing was completed has bounds and no curve.
    edit_trials(path, lambda outcome: [workload.update(latency=None) for workload in outcome["workloads"]])
    assert "longest wait" in page_of(path).text


def test_p_values_are_adjusted_and_say_for_what(page: Page) -> None:
    assert "adjusted by Holm's method for the 5 comparisons of main metrics" in page.text
    assert "p adjusted" in page.text
