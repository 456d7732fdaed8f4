"""The section about the network: its drawing, its spanning trees, and the policies of its ports, arm by arm."""

import json
from typing import Any

from tailrace.report.charts import port_policy, topology
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.report.policy import switch as policy
from tailrace.report.policy.interfaces import interface_sentences
from tailrace.results import Run
from tailrace.results.ports import trees

# Switches with settings of their own that are drawn; those with the same settings are drawn together.
SWITCHES_MAX = 12
# Policies of one switch that are drawn.
POLICIES_MAX = 6
# Spanning trees of one arm that are drawn.
TREES_MAX = 6


def network(run: Run) -> dict[str, Any] | None:
    """Topology and policies, from the plans that the run kept. Arms with the same policies share one entry.

    Plans are read one after the other: that of a large network takes much memory.
    """
    first: dict[str, Any] | None = None
    policies: list[dict[str, Any]] = []
    drawings: list[dict[str, Any]] = []
    for arm in run.arms:
        plan = run.plan(arm)
        if not plan:
            continue
        first = first or {"drawing": topology.topology_chart(plan), "words": topology.topology_words(plan)}
        _add_policies(policies, arm, plan)
        _add_trees(drawings, arm, plan, run)
    if first is None:
        return None
    overrides = run.manifest.get("overrides") or {}
    return {
        **first,
        "trees": drawings,
        "policies": policies[:ARMS_DRAWN_MAX],
        "policies_omitted": sum(len(entry["arms"]) for entry in policies[ARMS_DRAWN_MAX:]),
        "overrides": [{"arm": arm, "changes": _changes(changed)} for arm, changed in overrides.items() if changed],
    }


def _add_policies(policies: list[dict[str, Any]], arm: str, plan: dict[str, Any]) -> None:
    described = policy.switch_sentences(plan)
    interfaces = interface_sentences(plan)
    key = json.dumps([described, interfaces], sort_keys=True)
    same = next((entry for entry in policies if entry["key"] == key), None)
    if same:
        same["arms"].append(arm)
        return
    drawn = _drawn(described[:SWITCHES_MAX])
    omitted = sum(len(entry["names"]) for entry in described[SWITCHES_MAX:])
    policies.append({"arms": [arm], "key": key, "switches": drawn, "omitted": omitted, "interfaces": interfaces})


def _add_trees(drawings: list[dict[str, Any]], arm: str, plan: dict[str, Any], run: Run) -> None:
    """The spanning trees that carry workloads, with their drawings; arms with the same trees share them."""
    found = next((trial.outcome.get("spanning_trees") for trial in run.told(arm)), None) or []
    used = [tree for tree in found if trees.carries(tree, found, plan)]
    same = next((entry for entry in drawings if entry["found"] == used), None)
    if same:
        same["arms"].append(arm)
    elif used:
        shown = [
            {"words": trees.tree_words(tree, plan), "drawing": topology.topology_chart(plan, tree["forwards"])}
            for tree in used[:TREES_MAX]
        ]
        drawings.append({"arms": [arm], "found": used, "shown": shown, "omitted": len(used) - len(shown)})


def _drawn(switches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every different policy with its drawing."""
    for switch in switches:
        shown = switch["policies"][:POLICIES_MAX]
        switch["omitted"] = len(switch["policies"]) - len(shown)
        switch["policies"] = [entry | {"drawing": port_policy.policy_chart(entry["policy"])} for entry in shown]
    return switches


def _changes(overrides: dict[str, Any]) -> list[str]:
    """`switches.leaf.policy = dpp` for every key that an arm sets."""
    return [f"{key} = {json.dumps(value) if not isinstance(value, str) else value}" for key, value in overrides.items()]
