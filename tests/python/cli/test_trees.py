"""Spanning trees where people meet them: in what `check` says and in the report."""

import json
import re
import sys
from pathlib import Path

import pytest

import tailrace
from scenario_files import ROOT
from tailrace.cli import main

EXAMPLE = ROOT / "examples" / "spanning-tree.yaml"


def checked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> str:
    """What `tailrace check` prints about the example."""
    monkeypatch.setattr(sys, "argv", ["tailrace", "check", str(EXAMPLE), *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    return capsys.readouterr().out


def test_check_says_the_trees_of_every_arm_that_has_some(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [line.strip() for line in checked(capsys, monkeypatch).splitlines()[1:]]
    assert [line.partition(":")[0] for line in lines] == ["one-tree"] + ["tree-per-vlan"] * 3 + [
        "instances"
    ] * 3
    assert (
        lines[0]
        == "one-tree: instance 0: root spine1; blocked spine2>leaf2, spine2>leaf3, spine2>leaf4"
    )
    assert lines[-1].startswith(
        "instances: instance 2 (VLANs 20-29): root spine2; blocked spine1>leaf2"
    )


def test_check_gives_the_trees_as_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    trees = json.loads(checked(capsys, monkeypatch, "--json"))["spanning_trees"]
    assert list(trees) == ["one-tree", "tree-per-vlan", "instances"]
    assert [tree["instance"] for tree in trees["tree-per-vlan"]] == [0, 10, 20]


def test_the_report_draws_the_trees_that_carry_workloads(workplace: Path) -> None:
    tailrace.run(EXAMPLE, trials=1, out=workplace / "run", set={"experiment.duration": "2ms"})
    page = (workplace / "run" / "report.html").read_text(encoding="utf-8")
    captions: list[str] = re.findall(r"<figcaption>(instance \d[^<]+)</figcaption>", page)
    assert [caption.partition(":")[0] for caption in captions] == [
        *("instance 0",),
        *("instance 10 (VLAN 10)", "instance 20 (VLAN 20)"),
        *("instance 1 (VLAN 10)", "instance 2 (VLANs 20-29)"),
    ]
    # Three of the eight uplinks are blocked in each tree.
    assert page.count('class="link blocked"') == 5 * 3
