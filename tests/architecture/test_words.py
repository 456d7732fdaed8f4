"""Words and limits that both languages have: scenarios are refused where plans are, in the same words."""

import re
from pathlib import Path

import pytest

from tailrace.scenario import vocabulary
from tailrace.scenario.checks import trees
from tailrace.scenario.network import spanning_tree

CRATES = Path(__file__).resolve().parents[2] / "crates"

# Name in Rust, its file, and the value that the lab has.
LIMITS = {
    "SWITCHES_MAX": ("plan/src/tree/choice.rs", trees.CHOSEN_SWITCHES_MAX),
    "LINKS_MAX": ("plan/src/tree/choice.rs", trees.CHOSEN_LINKS_MAX),
    "TREES_MAX": ("plan/src/tree/mod.rs", 1 + spanning_tree.INSTANCES_MAX),
    "PATH_COST_MAX": ("plan/src/tree/mod.rs", spanning_tree.PATH_COST_MAX),
    "BRIDGE_PRIORITY_STEP": ("plan/src/tree/mod.rs", spanning_tree.BRIDGE_PRIORITY_STEP),
    "PORT_PRIORITY_STEP": ("plan/src/tree/mod.rs", spanning_tree.PORT_PRIORITY_STEP),
    "VLAN_MAX": ("plan/src/tree/mod.rs", spanning_tree.VLAN_MAX),
}


def test_an_expectation_can_name_every_cause_of_drops() -> None:
    text = (CRATES / "dataplane" / "src" / "counters.rs").read_text(encoding="utf-8")
    named = re.findall(r'DropCause::\w+ => "([\w-]+)"', text)
    assert named == list(vocabulary.DROP_CAUSES)


@pytest.mark.parametrize("name", LIMITS)
def test_a_scenario_is_refused_where_its_plan_would_be(name: str) -> None:
    file, value = LIMITS[name]
    found = re.search(rf"const {name}: \w+ = ([\d_]+);", (CRATES / file).read_text(encoding="utf-8"))
    assert found
    assert int(found[1].replace("_", "")) == value
