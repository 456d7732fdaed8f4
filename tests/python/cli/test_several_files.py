"""Commands that take a scenario take several files of one, and merge them alike."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tailrace.cli import main
from tailrace.scenario.starter import STARTER

VARY = ("--vary", "switches.leaf.buffer=1MB,2MB")
COMMANDS = [
    ("check",),
    ("plan",),
    ("run", "--dry-run"),
    ("advise", "--goal", "orders.p99"),
    ("search", *VARY, "--goal", "orders.p99 < 5ms", "--minimise", "buffer"),
    ("sensitivity", *VARY),
    ("whatif", "-o", "page.html"),
    ("export", "nxos", "-o", "leaf.cfg"),
    ("measure", "switch"),
]
NXOS = """hostname LEAF-101
policy-map type queuing OUT
  class type queuing c-out-8q-q7
    priority level 1
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 100
system qos
  service-policy type queuing output OUT
"""


def ended(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["tailrace", *words])
    with pytest.raises(SystemExit) as end:
        main()
    seen = capsys.readouterr()
    return int(end.value.code or 0), seen.out, seen.err


@pytest.fixture(autouse=True)
def lab(workplace: Path) -> None:
    (workplace / "lab.yaml").write_text(STARTER, encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_a_fault_of_the_second_file_is_told_with_its_line(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("more.yaml").write_text("workloads:\n  orders: {users: none}\n", encoding="utf-8")
    name, *options = command
    subcommand = [options.pop(0)] if name in ("export", "measure") else []
    code, _, told = ended(capsys, monkeypatch, name, *subcommand, "lab.yaml", "more.yaml", *options)
    assert code == 2
    assert "more.yaml:2: workloads.orders.users" in told


def test_an_imported_switch_has_the_name_that_the_scenario_gives_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("leaf.cfg").write_text(NXOS, encoding="utf-8")
    ended(capsys, monkeypatch, "import", "nxos", "leaf.cfg", "-o", "as-it-is.yaml")
    code, _, told = ended(capsys, monkeypatch, "check", "lab.yaml", "as-it-is.yaml")
    assert code == 2
    assert "there is no switch 'LEAF-101'" in told
    assert "tailrace import --name" in told
    ended(capsys, monkeypatch, "import", "nxos", "leaf.cfg", "--name", "leaf", "-o", "leaf.yaml")
    code, found, _ = ended(capsys, monkeypatch, "check", "lab.yaml", "leaf.yaml")
    assert (code, "valid" in found) == (0, True)


def test_out_is_the_place_of_the_output_in_every_command_that_writes() -> None:
    from typer.main import get_command

    from tailrace.cli.app import app

    found = {}
    for name, command in _commands(get_command(app)):
        for option in command.params:
            if {"--out", "-o"} & {*option.opts, *option.secondary_opts}:
                found[name] = {*option.opts}
    assert all({"--out", "-o"} <= names for names in found.values()), found
    assert {
        "run",
        "advise",
        "search",
        "sensitivity",
        "whatif",
        "export",
        "import",
        "trace",
        "compare",
    } <= set(found)


def _commands(group: Any) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command)
        else:
            yield name, command


def test_a_folder_stands_for_the_scenario_in_it(
    workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "shop").mkdir()
    (workplace / "lab.yaml").rename(workplace / "shop" / "scenario.yaml")
    code, out, err = ended(capsys, monkeypatch, "check", "shop")
    assert code == 0, err
    assert out.startswith("shop/scenario.yaml: valid")
