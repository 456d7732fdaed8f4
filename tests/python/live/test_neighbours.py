"""Neighbours of a host and pinned programs: what is started, refused, and told."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lab import sound
from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.exact.refuse import refuse as refuse_exact
from tailrace.experiment.engine import Simulated
from tailrace.live import neighbours
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.machine import doctor
from tailrace.live.neighbours import NeighbourLoad, Neighbours
from tailrace.live.refuse import Machine, refuse_machine
from tailrace.live.trial.live_trial import pins
from tailrace.programs.command import Command, Ended
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower

NOISE = {"noise": {"tasks": 3, "cores": [1], "nice": 5}, "writer": {"kind": "disk"}}


def lowered(**changes: object) -> dict[str, Any]:
    """The plan of the sound scenario with changes."""
    return lower(load_scenario(sound(**changes)).arms["fifo"], "fifo", 1)


def problems(changes: dict[str, object], *, cores: frozenset[int] | None = None) -> list[str]:
    """What is refused, on a machine with these cores or in general."""
    try:
        loaded = load_scenario(sound(**changes))
        refuse_machine(loaded, loaded.arms, Machine(cores=cores))
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: ") for problem in error.problems]
    return []


def test_a_neighbour_is_a_program_of_its_own_group_and_ends_by_itself(tmp_path: Path) -> None:
    lab = cast("Lab", SimpleNamespace(folder=tmp_path))
    plan = lowered(hosts__db={"neighbours": NOISE})
    [db] = [host for host in plan["hosts"] if "neighbours" in host]
    computing, writing = (
        NeighbourLoad(db["name"], raw).command(lab, 10.2) for raw in db["neighbours"]
    )
    assert computing.argv[:9] == [
        "nice",
        "-n",
        "5",
        "stress-ng",
        "--cpu",
        "3",
        "--cpu-method",
        "int64",
        "--timeout",
    ]
    assert (computing.host, computing.cores, computing.group) == (None, [1], "neighbour-db-noise")
    assert writing.argv[:3] == ["stress-ng", "--hdd", "1"]
    assert writing.argv[writing.argv.index("--timeout") + 1] == "70s"
    assert Path(writing.argv[writing.argv.index("--temp-path") + 1]).is_dir()
    assert writing.cores is None


def test_neighbours_of_a_hypervisor_are_started_too(tmp_path: Path) -> None:
    raw = {"name": "vm7", "tasks": 2, "cores": [0], "nice": 0, "work_ps": 5, "wait_ps": 5}
    made = Neighbours({"hosts": [], "hypervisors": [{"switch": "leaf", "neighbours": [raw]}]})
    started: list[Command] = []

    def start(command: Command) -> Any:
        started.append(command)
        return SimpleNamespace(ended=None, command=command)

    made.start(cast("Lab", SimpleNamespace(folder=tmp_path, start=start)), 1)
    assert [(one.name, one.argv[1]) for one in started] == [("neighbour-leaf-vm7", "--hdd")]


def test_a_neighbour_that_ends_early_fails_the_trial_with_its_words() -> None:
    made = Neighbours({"hosts": []})
    ended = Ended(2, None, 0, 0, 0, 0)
    made.programs = [
        cast("Any", SimpleNamespace(ended=ended, complaint=lambda: "neighbour-db-noise: no space"))
    ]
    with pytest.raises(
        FabricError, match=r"neighbour-db-noise: no space \(a neighbour runs until the end"
    ):
        made.require_running()


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        (
            {"hosts__db": {"cpu": {"cores": 2}, "neighbours": {"noise": {"cores": [2]}}}},
            "hosts.db.neighbours.noise.cores.0: there is no core 2: the host has 2 cores",
        ),
        (
            {"hosts__db": {"neighbours": {"noise": {"cores": [1, 1]}}}},
            "hosts.db.neighbours.noise.cores.1: core 1 is named twice",
        ),
        (
            {"hosts__db": {"neighbours": {"noise": {"cores": [0, 7]}}}},
            "hosts.db.neighbours.noise.cores.1: this machine has no core 7 for programs (hint: "
            "write one of: 0, 1)",
        ),
        (
            {"hosts__db": {"cpu": {"cores": 8, "program_cores": [5]}}},
            "hosts.db.cpu.program_cores.0: this machine has no core 5 for programs (hint: "
            "write one of: 0, 1)",
        ),
    ],
)
def test_cores_that_are_not_there_are_refused_with_their_key(
    changes: dict[str, object], refusal: str
) -> None:
    found = problems(changes, cores=frozenset({0, 1}))
    assert [line for line in found if line.startswith(refusal)], found


def test_engines_without_neighbours_refuse_them() -> None:
    loaded = load_scenario(sound(hosts__db={"neighbours": NOISE}))
    for refuse in (Simulated().refuse, refuse_exact):
        with pytest.raises(
            ScenarioError, match=r"hosts\.db\.neighbours: \w+ runs have no neighbours"
        ):
            refuse(loaded, loaded.arms)


def test_a_missing_stress_ng_is_told_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor,
        "path_of",
        lambda needed: None if needed.program == "stress-ng" else Path("/bin/true"),
    )
    with pytest.raises(RunRefusedError, match=r"needs stress-ng .*apt-get install stress-ng"):
        doctor.require([neighbours.NEEDED])


def test_stress_ng_is_needed_only_for_neighbours() -> None:
    without, crowded = (
        load_scenario(sound(**changes)).arms
        for changes in ({}, {"hosts__db": {"neighbours": NOISE}})
    )
    assert neighbours.needs_of(without.values()) == []
    assert neighbours.needs_of(crowded.values()) == [neighbours.NEEDED]


def test_programs_of_a_host_stay_on_its_cores() -> None:
    plan = lowered(
        hosts__db={"cpu": {"cores": 2, "program_cores": [1]}}, hosts__client={"cpu": {"cores": 2}}
    )
    assert pins(plan) == {"db": [1]}
    machines = [{"host": "db", "cores": [[0], [0]]}, {"host": "client", "cores": [[0, 1]]}]
    assert pins({"hosts": [], "hypervisors": [{"cores": 2, "machines": machines}]}) == {"db": [0]}
