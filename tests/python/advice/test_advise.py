"""`tailrace advise`: what it writes, continues and refuses."""

import json
import re
from pathlib import Path

import pytest

from command_line import tailrace
from tailrace.advice.candidates import candidates
from tailrace.advice.combining import together
from tailrace.advice.judging import judged
from tailrace.advice.situation import Situation
from tailrace.importers.nxos.importer import import_nxos
from tailrace.results import Run
from tailrace.scenario.goal import Goal
from tailrace.scenario.loading import document_of, load_scenario, try_changes
from trial_files import read_trial

CASES = Path(__file__).parent / "cases"
SMALL = ("--only", "dpp-120", "--only", "rto-min-10ms", "--screening", "2", "--trials-max", "6")


@pytest.fixture(scope="module")
def advised(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("advise") / "advice"
    done = tailrace(
        "advise",
        str(CASES / "prioritise.yaml"),
        *SMALL,
        "--goal",
        "orders.p99 < 1ms",
        "--out",
        str(out),
    )
    assert done.returncode == 0, done.stderr
    return out, done.stdout


def test_the_answer_names_the_goal_and_the_best(advised: tuple[Path, str]) -> None:
    _, text = advised
    answer = " ".join(text.split())
    assert re.match(
        r"At present orders' 99th percentile of latency is [\d.]+ ms, which misses the goal\. Best: The"  # noqa: E501
        r" first 120 packets .* \(dpp-120\): [\d.]+ ms",
        answer,
    )
    assert "Where the time goes at present (the p99 band): 9" in answer
    assert "Others:" in answer
    assert "Costs: Needs a switch with DPP" in answer


def test_its_figures_are_those_of_the_runs(advised: tuple[Path, str]) -> None:
    out, _ = advised
    data = json.loads((out / "advice.json").read_text())
    result = json.loads((out / "confirmed" / "result.json").read_text())
    [effect] = [
        one
        for one in result["comparisons"]
        if (one["arm"], one["workload"], one["metric"]) == ("dpp-120", "orders", "latency_p99_ms")
    ]
    [best] = [one for one in data["confirmed"] if one["name"] == "dpp-120"]
    assert best["effect"]["arm_value"] == effect["arm_value"]
    # The trials were looked at, and the tests are those of all looks.
    looks = json.loads((out / "confirmed" / "manifest.json").read_text())["auto"]["looks"]
    assert [look["trials"] for look in looks] == [6]
    assert effect["test"].startswith("sequential")
    assert [best["effect"][key] for key in ("p_value", "p_adjusted")] == [
        effect["p_value"],
        effect["p_adjusted"],
    ]
    assert best["effect"]["baseline_value"] == effect["baseline_value"] == data["present"]["value"]
    # The goal is judged by the percentile of all transactions of all trials.
    pooled = result["arms"]["dpp-120"]["workloads"]["orders"]["latency_ms"]["p99"]
    assert best["figure"]["value"] == pooled
    assert data["end"] == "misses"
    # Of six short trials the percentile has no interval: that it is short enough takes more.
    assert best["figure"]["interval"] is None
    assert best["end"] == "undecided"
    assert (
        best["takes"]
        == f"about {best['figure']['trials_needed']} trials of this length for an interval"
    )


def test_others_are_every_workload_although_the_goal_is_the_headline(
    advised: tuple[Path, str],
) -> None:
    out, _ = advised
    run = Run.read(out / "confirmed")
    assert [one.workload for one in run.manifest.headline] == ["orders"]
    [one] = judged(run, ["dpp-120"], Goal("orders", "latency_p99_ms"))
    assert {effect.workload for effect in one.others} == {"orders", "nightly"}


def test_confirmation_has_other_random_numbers_than_the_screening(
    advised: tuple[Path, str],
) -> None:
    out, _ = advised
    seeds = [
        {read_trial(file)["seed"] for file in (out / part / "trials" / "present").glob("*.json")}
        for part in ("screening", "confirmed")
    ]
    assert not seeds[0] & seeds[1]
    assert [len(found) for found in seeds] == [2, 6]


def test_the_configuration_to_apply_means_the_simulated_policy(advised: tuple[Path, str]) -> None:
    out, text = advised
    lines = (out / "apply" / "dpp-120" / "left.nxos").read_text()
    section = import_nxos(lines)[0].data()
    [policy] = section["policies"].values()
    assert policy["dpp"]["max_packets"] == 120
    assert "checkpoint tailrace" in text
    assert "rollback running-config checkpoint tailrace" in text
    # SONiC has no DPP: what its lines would mean is another policy, so that there are none, and the
    # reason is told.
    assert not list((out / "apply" / "dpp-120").glob("*.sonic.json"))
    assert "SONiC" in text


def test_the_same_command_continues(advised: tuple[Path, str]) -> None:
    out, text = advised
    again = tailrace(
        "advise",
        str(CASES / "prioritise.yaml"),
        *SMALL,
        "--goal",
        "orders.p99 < 1ms",
        "--out",
        str(out),
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout == text
    assert "trials are complete already" in again.stderr


def test_a_candidate_is_dismissed_by_a_trial_or_because_the_scenario_cannot_express_it(
    tmp_path: Path,
) -> None:
    out = tmp_path / "advice"
    words = (
        "--goal",
        "orders.p99",
        "--screening",
        "1",
        "--trials-max",
        "6",
        "--set",
        "experiment.duration=200ms",
        "--json",
    )
    done = tailrace("advise", str(CASES / "nothing-server.yaml"), *words, "--out", str(out))
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    tried = [one["name"] for one in data["screened"]]
    # The latency has no part of a queue: that is known from trials, and those that act elsewhere
    # come last.
    assert "dpp-120" in tried
    assert "rto-min-10ms" in tried
    assert not {one["name"] for one in data["not_possible"]} & {*tried}
    assert all(
        one["reason"].startswith(("nothing to change", "not possible"))
        for one in data["not_possible"]
    )
    [text] = [one.read_text() for one in (tmp_path / "advice").glob("advice.txt")]
    assert "and dismissed because the figure improved by less than 3 %" in " ".join(text.split())
    assert data["screening"]["trials"] == 1
    assert data["makeup"]["shares"]["server_work"] > 0.9


def test_a_run_is_advised_on_by_its_scenario(advised: tuple[Path, str], tmp_path: Path) -> None:
    out, _ = advised
    done = tailrace(
        "advise",
        str(out / "confirmed"),
        "--only",
        "dpp-20",
        "--trials-max",
        "6",
        "--out",
        str(tmp_path / "a"),
        "--json",
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert (data["arm"], data["goal"]["text"]) == ("present", "orders.p99")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--goal", "nightly.p99 < 1ms"),
            "'nightly' is of kind stream, which has no p99 (hint: nightly has",
        ),
        (("--arm", "bass"), "there is no arm 'bass'"),
        (("--only", "magic"), "--only magic: there is no such candidate here"),
        (("--scale", "0"), "--scale 0 is outside"),
        (("--set", "workloads.orders.users=none"), "workloads.orders.users"),
    ],
)
def test_what_cannot_be_advised_is_refused(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    only = () if "--only" in words else ("--only", "dpp-120")
    done = tailrace(
        "advise", str(CASES / "prioritise.yaml"), *words, *only, "--out", str(tmp_path / "advice")
    )
    assert done.returncode == 2, done.stdout
    assert message in done.stderr


def situation(name: str, *targets: str) -> Situation:
    loaded = load_scenario(CASES / f"{name}.yaml")
    return Situation(document_of(loaded, "base"), loaded.scenario, targets, "latency_p99_ms")


def test_every_candidate_of_the_cases_is_sound_or_says_why() -> None:
    for file in sorted(CASES.glob("*.yaml")):
        loaded = load_scenario(file)
        arm = next(iter(loaded.arms))
        for target in loaded.arms[arm].running:
            here = Situation(
                document_of(loaded, arm), loaded.arms[arm], (target,), "latency_p99_ms"
            )
            for one in candidates(here):
                _, scenario, problems = try_changes(here.document, one.changes)
                assert scenario is not None or problems, f"{file.name} {one.name}"
                assert all(problem.what for problem in problems)
                assert one.costs.endswith("."), one.name
                assert one.evidence, one.name


def test_two_changes_of_one_policy_are_both_in_force() -> None:
    here = situation("prioritise", "orders")
    found = {one.name: one for one in candidates(here)}
    both = together(here, found["dpp-120"], found["afd-ecn"])
    assert both is not None
    _, scenario, problems = try_changes(here.document, both.changes)
    assert scenario is not None
    assert not problems
    policy = scenario.policies["deep"]
    assert policy.dpp is not None
    assert policy.queues["all"].aqm.kind == "afd"
    assert scenario.host("client").tcp.ecn


def test_a_change_that_leaves_nothing_for_the_second_is_not_combined() -> None:
    here = situation("prioritise", "orders")
    found = {one.name: one for one in candidates(here)}
    assert together(here, found["dpp-120"], found["dpp-20"]) is None
    assert together(here, found["afd"], found["codel"]) is None


def test_workloads_of_all_hosts_are_advised_on(tmp_path: Path) -> None:
    spine = CASES.parents[3] / "examples" / "leaf-spine.yaml"
    words = (
        "--scale",
        "0.05",
        "--only",
        "rto-min-10ms",
        "--screening",
        "1",
        "--out",
        str(tmp_path / "advice"),
    )
    done = tailrace("advise", str(spine), *words)
    assert done.returncode == 0, done.stderr
    loaded = load_scenario(spine)
    arm = next(iter(loaded.arms))
    here = Situation(
        document_of(loaded, arm),
        loaded.arms[arm],
        tuple(loaded.arms[arm].running),
        "latency_p99_ms",
    )
    assert here.hosts == loaded.arms[arm].graph.hosts
    assert here.hosts_text(here.hosts) == f"all {len(here.hosts)} hosts"


def test_an_empty_file_with_the_name_of_a_capture_is_refused_as_a_capture(tmp_path: Path) -> None:
    empty = tmp_path / "night.pcap"
    empty.write_bytes(b"")
    done = tailrace("advise", str(empty))
    assert done.returncode == 2
    assert "the file is empty" in done.stderr
    assert "scenario" not in done.stderr
