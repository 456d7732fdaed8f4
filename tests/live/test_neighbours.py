"""Neighbours, pinned programs, and what live programs cost, with real programs."""

import sys
from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.live.lab.fabric import FabricError, ask
from tailrace.live.lab.lab import Lab
from tailrace.live.neighbours import Neighbours
from tailrace.programs.command import Command
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("neighbours.yaml")
RUN_LIMIT_S = 120
DONE_LIMIT_S = 20
AFFINITY = [sys.executable, "-c", "import os; print(sorted(os.sched_getaffinity(0)))"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The outcome of every arm of one run, which leaves the machine as it was."""
    out = tmp_path_factory.mktemp("neighbours") / "run"
    before = machine.picture()
    done = machine.tailrace(
        "run", "--live", str(SCENARIO), "--fabric", "bridge", "--out", str(out), limit_s=RUN_LIMIT_S
    )
    machine.assert_ended(done)
    assert "pages/web" in done.stdout, "the table of costs"
    assert machine.wait_until_gone(str(out)) == []
    assert machine.wait_until_gone("stress-ng --") == []
    assert machine.picture() == before
    assert "Processor time and context switches" in (out / "report.html").read_text(
        encoding="utf-8"
    )
    return {arm.name: read_trial(arm / "1.json") for arm in (out / "trials").iterdir()}


@pytest.mark.slow
def test_programs_and_neighbours_are_counted(finished: dict[str, dict[str, Any]]) -> None:
    for arm, outcome in finished.items():
        hosts = {host["name"]: host["programs"] for host in outcome["hosts"]}
        for host in ("client", "web"):
            [row] = hosts[host]
            assert row["name"] == "pages"
            assert row["voluntary_switches"] > 0, "programs that wait for requests"
            assert 0 < row["user_ps"] + row["system_ps"] < outcome["live"]["span_s"] * 2.5e12
        live = outcome["live"]
        assert live["machine"]["context_switches"] >= sum(
            hosts["web"][0][f"{how}voluntary_switches"] for how in ("", "in")
        )
        assert live["machine"]["backlog"]["received"] > 0
        assert live["interfaces"]["hosts"]["web"]["rx_overruns"] == 0
        assert (list(live["neighbours"]) == ["neighbour-web-noise"]) == (arm != "quiet")


@pytest.mark.slow
def test_a_neighbour_computes_for_the_whole_trial(finished: dict[str, dict[str, Any]]) -> None:
    live = finished["noisy"]["live"]
    noise = live["neighbours"]["neighbour-web-noise"]
    assert noise["user_ps"] + noise["system_ps"] > 0.1e12 * live["span_s"]
    assert "stress-ng --cpu 1" in " ".join(live["programs"]["commands"]["neighbour-web-noise"])
    assert "dispatching hogs: 1 cpu" in live["programs"]["reports"]["neighbour-web-noise"]
    assert (
        finished["disk"]["live"]["neighbours"]["neighbour-web-noise"]["voluntary_switches"] > 0
    ), "it waits for the disk"


def plan_of(arm: str) -> dict[str, Any]:
    """The plan of an arm."""
    return lower(load_scenario(SCENARIO).arms[arm], arm, 1)


def test_programs_stay_on_their_cores_and_in_their_groups(tmp_path: Path) -> None:
    with Lab(canonical_json(plan_of("quiet")), tmp_path / "lab", "--kind", "bridge") as lab:
        lab.pins = {"web": [0]}
        assert lab.run(Command("pinned", AFFINITY, host="web"), DONE_LIMIT_S).strip() == "[0]"
        assert lab.run(Command("free", AFFINITY, host="client"), DONE_LIMIT_S).strip() != "[0]"
        assert (
            lab.run(Command("own", AFFINITY, host="client", cores=[0]), DONE_LIMIT_S).strip()
            == "[0]"
        )
        with pytest.raises(FabricError, match="no machine has a core 99999"):
            lab.start(Command("far", AFFINITY, cores=[99999]))
        with pytest.raises(FabricError, match="letters, digits, - and _"):
            lab.start(Command("odd", AFFINITY, group="../odd"))
        if ask("doctor").get("cgroup_usable") is not False:
            groups = lab.run(
                Command("group", ["cat", "/proc/self/cgroup"], group="alone"), DONE_LIMIT_S
            )
            assert "own-alone" in groups


def test_who_only_looks_stays_in_the_group_of_the_lab(tmp_path: Path) -> None:
    if ask("doctor").get("cgroup_usable") is False:
        machine.skip_lacking("control groups")
    look = ["cat", "/proc/self/cgroup"]
    with Lab(canonical_json(plan_of("noisy")), tmp_path / "bridge", "--kind", "bridge") as lab:
        assert "no-host" not in lab.run(Command("works", look, host="web"), DONE_LIMIT_S)
        assert "no-host" in lab.run(Command("looks", look, host="web", observes=True), DONE_LIMIT_S)
    with Lab(canonical_json(plan_of("noisy")), tmp_path / "tap") as lab:
        seen = lab.run(Command("looks", look, host="web", observes=True), DONE_LIMIT_S)
        assert seen == lab.run(Command("works", look, host="web"), DONE_LIMIT_S), (
            "the lab itself is in no group"
        )


def test_a_neighbour_that_is_killed_fails_the_trial(tmp_path: Path) -> None:
    plan = plan_of("noisy")
    with Lab(canonical_json(plan), tmp_path / "lab", "--kind", "bridge") as lab:
        made = Neighbours(plan)
        made.start(lab, 1)
        made.require_running()
        made.programs[0].stop("KILL")
        with pytest.raises(
            FabricError, match="neighbour-web-noise: stress-ng was ended by signal 9"
        ):
            made.require_running()
