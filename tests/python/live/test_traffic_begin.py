"""When the traffic program's nodes begin: all of them listen by then."""

import time
from pathlib import Path
from typing import Any, cast

import pytest

from tailrace.live import traffic
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Task
from tailrace.live.programs.replay import ReplayProgram
from tailrace.programs.command import Command
from tailrace.programs.measured import MeasuredInterval

RAW: dict[str, Any] = {
    "name": "shop",
    "client": "a",
    "server": "b",
    "connections": [],
    "priority": 0,
}
NS_PER_S = 10**9


class FakeLab:
    """Starts nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[Command] = []
        (folder / "plan.json").write_text('{"workloads": [{"header": {"name": "shop"}}]}')

    def address(self, node: str, vlan: int) -> str:
        """Some."""
        return f"10.0.{vlan}.{ord(node)}"

    def start(self, command: Command) -> Command:
        """Keeps the command."""
        self.started.append(command)
        return command


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ReplayProgram, FakeLab]:
    """A prepared load."""
    monkeypatch.setattr(traffic, "program", lambda: Path("tailrace-traffic"))
    lab, load = FakeLab(tmp_path), ReplayProgram(Task(RAW, 1, 4.0))
    load.prepare(cast(Lab, lab))
    return load, lab


def begin_file(lab: FakeLab) -> Path:
    """The one that the nodes were told of."""
    [found] = {
        command.argv[list(command.argv).index("--begin-file") + 1] for command in lab.started
    }
    return Path(found)


def test_nodes_begin_when_the_last_of_them_listens(load: tuple[ReplayProgram, FakeLab]) -> None:
    shop, lab = load
    shop.tick(cast(Lab, lab), 0.01)
    begin = begin_file(lab)
    folder = begin.parent
    (folder / "a.ready").touch()
    for elapsed_s in (0.03, 3.0):
        shop.tick(cast(Lab, lab), elapsed_s)
        assert not begin.exists(), "the server does not listen yet"
    (folder / "b.ready").touch()
    before_ns = time.monotonic_ns()
    shop.tick(cast(Lab, lab), 3.5)
    told_ns = int(begin.read_text())
    assert before_ns <= told_ns - traffic.BEGIN_AFTER_S * NS_PER_S <= time.monotonic_ns()
    shop.tick(cast(Lab, lab), 4.0)
    assert int(begin.read_text()) == told_ns, "it is said once"
    assert len(lab.started) == 2


def test_a_node_that_never_listens_ends_the_trial_in_words(
    load: tuple[ReplayProgram, FakeLab],
) -> None:
    shop, lab = load
    shop.tick(cast(Lab, lab), 1.0)
    (begin_file(lab).parent / "a.ready").touch()
    shop.tick(cast(Lab, lab), 1.0 + traffic.READY_LIMIT_S)
    with pytest.raises(FabricError, match="shop: b did not listen within 60 s"):
        shop.tick(cast(Lab, lab), 1.1 + traffic.READY_LIMIT_S)
    with pytest.raises(FabricError, match="shop: the trial was over before every node listened"):
        shop.measured(MeasuredInterval(0, 4.0))
