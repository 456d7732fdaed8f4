"""How often what passes through the program enters one module: a concept is visited, left, and not
visited again and again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENTRIES_MAX = 3
COUNT = """
import collections, json, sys
MODULES = sys.argv[1].split(",")
entries = collections.Counter()

def module(frame):
    name = frame.f_globals.get("__name__", "") if frame is not None else ""
    return name if name.partition(".")[0] == "tailrace" else None

def count(frame, event, arg):
    if event != "call" or module(frame) not in MODULES or frame.f_code.co_name == "<module>":
        return
    before = frame.f_back
    while before is not None and module(before) is None:
        before = before.f_back
    if module(before) != module(frame):
        entries[module(frame)] += 1

sys.argv = ["tailrace", *sys.argv[2:]]
from tailrace.cli.app import app
sys.setprofile(count)
try:
    app()
except SystemExit:
    pass
sys.setprofile(None)
print(json.dumps(entries), file=sys.stderr)
"""


def entries(modules: list[str], *words: str) -> dict[str, int]:
    """How often a command enters each module from another."""
    done = subprocess.run(
        [sys.executable, "-c", COUNT, ",".join(modules), *words],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=100,
    )
    found: dict[str, int] = json.loads(done.stderr.splitlines()[-1])
    return found


@pytest.mark.parametrize("scenario", ["examples/dpp.yaml", "examples/pfc.yaml"])
def test_a_scenario_becomes_a_plan_by_few_visits(scenario: str) -> None:
    modules = ["tailrace.scenario.loading", "tailrace.scenario.lowering.plan"]
    found = entries(modules, "plan", scenario)
    assert set(found) == set(modules)
    assert max(found.values()) <= ENTRIES_MAX, found
