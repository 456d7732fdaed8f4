"""The report is readable whatever the run holds."""

import re
import shutil
from pathlib import Path
from typing import Any

from fake_bridging import add_bridging
from fake_hypervisor import add_hypervisor
from fake_run import FakeRun
from report_page import edit_trials, page_of

ROOT = Path(__file__).parents[3]


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
    assert (
        "; 2 trials cannot decide 5 comparisons: 5 would. All 4 others are undecided" in page.text
    )


def test_a_sweep_of_many_arms_stays_below_the_limit(tmp_path: Path) -> None:
    arms = ("fifo", *(f"buffer-{size}" for size in range(1, 40)))
    page = page_of(FakeRun(trials=1, arms=arms, with_solo=False).write(tmp_path / "run"))
    assert "32 more arms are shown only in the tables." in page.text
    assert "buffer-39" in page.text


def test_a_run_with_one_arm_tells_what_its_workloads_took(tmp_path: Path) -> None:
    page = page_of(FakeRun(trials=1, arms=("fifo",), with_solo=False).write(tmp_path / "run"))
    assert re.search(
        r"With fifo, XS took 5[67]\d s, S took 58\d s.*\(completion times at full scale\)\.",
        page.text,
    )
    assert "against" not in page.text.split("Completion times")[0]


def test_names_from_a_scenario_cannot_become_markup(tmp_path: Path) -> None:
    path = FakeRun(name="<img src=x onerror=alert(1)>", trials=1, with_solo=False).write(
        tmp_path / "run"
    )
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
    assert sections == {
        "outcome",
        "completion",
        "why",
        "latency",
        "drops",
        "counters",
        "assumptions",
        "provenance",
    }


def test_streams_without_an_end_have_goodput_and_no_completion(tmp_path: Path) -> None:
    path = FakeRun(trials=1, arms=("fifo",), with_solo=False).write(tmp_path / "run")

    def endless(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload |= {
                "kind": "stream",
                "completion_ps": None,
                "latency": None,
                "user_completion_ps": [],
            }

    edit_trials(path, endless)
    shutil.rmtree(path / "plans")  # they have workloads of another kind
    page = page_of(path)
    assert "L1 carried" in page.text
    assert not [
        a
        for tag, a in page.elements
        if tag == "section" and a.get("id") in ("completion", "latency")
    ]
    assert "goodput, Gbit/s" in page.text


def test_latency_alone_is_compared_where_nothing_completes(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")

    def endless(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload["completion_ps"] = None

    edit_trials(path, endless)
    page = page_of(path)
    assert "transactions per second" in page.text.partition("rate or time")[0]
    assert "Change of rate against fifo" in page.text


def test_endless_streams_are_compared_by_their_goodput(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")

    def endless(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload |= {
                "kind": "stream",
                "completion_ps": None,
                "latency": None,
                "user_completion_ps": [],
            }
            if workload["name"] == "M" and "dpp" in outcome["name"].split("/"):
                workload["goodput_bytes"] //= 2

    edit_trials(path, endless)
    shutil.rmtree(path / "plans")  # they have workloads of another kind
    page = page_of(path)
    # Half of the bytes in a run that was a little shorter.
    assert re.search(
        r"the goodput of M falls from [\d.e−]+ to [\d.e−]+ Gbit/s \(−4\d\.\d %\)", page.text
    )
    assert "Change of goodput against fifo" in page.text


def test_flows_that_arrive_by_themselves_are_not_judged_by_their_end(tmp_path: Path) -> None:
    path = FakeRun(with_solo=False).write(tmp_path / "run")

    def arriving(outcome: dict[str, Any]) -> None:
        for workload in outcome["workloads"]:
            workload["kind"] = "flows"

    edit_trials(path, arriving)
    shutil.rmtree(path / "plans")  # they have workloads of another kind
    page = page_of(path)
    assert "sooner" not in page.text
    assert "99th percentile of latency" in page.text.split("Comparison")[1]
    assert "Completion times" not in page.text


def test_a_deadlock_a_storm_and_early_drops_are_seen(tmp_path: Path) -> None:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path / "run")
    add_bridging(path)
    text = page_of(path).text
    assert text.index("Deadlock with dpp (trials 1, 2): s0 → s1 → s2 → s0") < text.index(
        "Completion times"
    )
    pauses = text[text.index("Pauses, per trial") : text.index("TCP, per trial")]
    assert re.search(r"leaf1 → client ?3 ?4 ?25 % ?7.00 kB ?0 ?1 ?1", pauses), pauses
    early = text[text.index("Table: dropped before queueing") :]
    assert re.search(r"leaf1 ?policed ?70 ?70.0 kB", early), early[:200]


def test_a_run_without_losses_says_that_none_were_seen(tmp_path: Path) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")

    def lossless(outcome: dict[str, Any]) -> None:
        for queue in outcome["ports"][0]["queues"]:
            queue["drops"] = {}

    edit_trials(path, lossless)
    assert "No valid trial dropped a frame." in page_of(path).text


def test_hypervisors_have_a_table(tmp_path: Path) -> None:
    made = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    assert "Hypervisors" not in page_of(made).text
    add_hypervisor(made)
    text = page_of(made).text
    assert "polling for nothing" in text
    assert "fifoleaf2" in text


def test_interfaces_of_bonds_have_a_table(tmp_path: Path) -> None:
    made = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    assert "Interfaces of bonds" not in page_of(made).text

    def bond(outcome: dict[str, Any]) -> None:
        interface = {"sent_frames": 300, "sent_bytes": 450_000, "received_frames": 40}
        outcome["hosts"][0]["name"] = "store"
        outcome["hosts"][0]["bond"] = [
            interface,
            interface | {"sent_frames": 100, "sent_bytes": 150_000},
        ]

    edit_trials(made, bond)
    text = page_of(made).text
    assert "Interfaces of bonds" in text
    assert "fifostore130075 %40" in text
    assert "fifostore210025 %40" in text


def test_counters_that_no_trial_has_are_no_column(tmp_path: Path) -> None:
    text = page_of(FakeRun(trials=1, with_solo=False).write(tmp_path / "run")).text
    assert "limited by" not in text
    assert "retransmits" in text
