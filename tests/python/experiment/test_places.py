"""`tailrace search` and `tailrace sensitivity` on the workers of a real Dask scheduler: the answer
is that of this machine.
"""

import json
import signal
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from dask_processes import START_S, Cluster, cluster, start_command, wait_for_outcomes
from lab import sound
from tailrace.experiment.points import Points
from tailrace.experiment.pool import Running
from tailrace.experiment.reporter import Silent
from tailrace.experiment.schedule import Keys
from tailrace.scenario.loading import load_scenario
from trial_files import read_trial

USERS = "workloads.orders.users"
COMMANDS = {
    "search": ("--vary", f"{USERS}=1,2,4", "--goal", "orders.p50 < 5ms", "--maximise", "users"),
    "grid": (
        "--vary",
        f"{USERS}=1,2",
        "--vary",
        "switches.leaf.buffer=1MB,2MB",
        "--goal",
        "orders.p50 < 5ms",
        "--maximise",
        "users",
        "--sampler",
        "grid",
    ),
    "sensitivity": (
        "--vary",
        "network.link.delay=1us..5us",
        "--figure",
        "orders.p99",
        "--trajectories",
        "2",
        "--samples",
        "0",
        "--checks",
        "0",
    ),
}
LONGER = [what for what in COMMANDS if what != "search"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a scenario."""
    YAML().dump(sound(), tmp_path / "lab.yaml")
    return tmp_path


def run_words(what: str, out: str, place: Cluster | None = None) -> tuple[str, ...]:
    command = "sensitivity" if what == "sensitivity" else "search"
    return (
        command,
        "lab.yaml",
        *COMMANDS[what],
        "--out",
        out,
        *(("--on", place.address) if place else ()),
    )


def outcomes(run: Path) -> dict[str, str]:
    files = run.glob("points/*/trials/*/*.json")
    return {str(file.relative_to(run)): read_trial(file)["digest"] for file in files}


@pytest.mark.parametrize(
    "what", ["search", *(pytest.param(what, marks=pytest.mark.slow) for what in LONGER)]
)
def test_the_answer_of_workers_is_that_of_this_machine(folder: Path, what: str) -> None:
    with cluster(folder, wall_s=0.01) as place:
        for out, there in (("run", place), ("local", None)):
            code = start_command(folder, *run_words(what, out, there)).wait(START_S)
            assert code == 0, (folder / "command.log").read_text("utf-8")
    assert outcomes(folder / "run") == outcomes(folder / "local") != {}
    name = f"{'sensitivity' if what == 'sensitivity' else 'search'}.json"
    found, local = (
        json.loads((folder / out / name).read_text("utf-8")) for out in ("run", "local")
    )
    assert found == local
    [manifest, *_] = (folder / "run" / "points").glob("*/manifest.json")
    assert json.loads(manifest.read_text("utf-8"))["on"].startswith("dask://127.0.0.1:")
    assert list((folder / "run").glob("points/*/trials/*/*.attempt-*")) == [], "no trial ran twice"


@pytest.mark.slow
def test_an_interrupted_study_continues_on_this_machine(folder: Path) -> None:
    with cluster(folder, wall_s=0.5) as place:
        command = start_command(folder, *run_words("grid", "run", place))
        wait_for_outcomes(folder / "run" / "points" / "users=1,buffer=1MB", 1, command)
        command.send_signal(signal.SIGINT)
        assert command.wait(START_S) == 130, (folder / "command.log").read_text("utf-8")
    held = outcomes(folder / "run")
    assert held
    assert start_command(folder, *run_words("grid", "run")).wait(START_S) == 0
    assert held.items() < outcomes(folder / "run").items()


class Recording:
    """An executor that runs nothing and records what it was asked for."""

    name, slots = "local", 2

    def __init__(self) -> None:
        self.lists: list[list[str]] = []

    def run_all(self, keys: Keys, _plan_of: object, watcher: "Watching") -> bool:
        self.lists.append([str(key) for key in keys])
        watcher.tick([])
        return False


class Watching:
    """The part of a watcher that is called."""

    def tick(self, running: list[Running]) -> None: ...


@pytest.mark.usefixtures("fake")
def test_trials_of_many_settings_are_one_list(tmp_path: Path) -> None:
    executor = Recording()
    document = load_scenario(sound()).document
    points = Points(document, ["dpp"], tmp_path, Silent(), executor=executor)  # type: ignore[arg-type]
    points.run_ahead([({USERS: users}, f"users={users}") for users in (1, 2, 2)], 2)
    assert [sorted(one) for one in executor.lists] == [
        ["users=1/dpp/1", "users=1/dpp/2", "users=2/dpp/1", "users=2/dpp/2"]
    ]
