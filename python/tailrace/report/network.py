"""The section about the network: its drawing, its spanning trees, and the policies of its ports, arm by arm."""

import json
from typing import Any

from tailrace.report import policy
from tailrace.report.charts import port_policy, topology
from tailrace.report.interfaces import interface_sentences
from tailrace.results import Run, trees

# Policies of one switch that are drawn.
POLICIES_MAX = 6
# Spanning trees of one arm that are drawn.
TREES_MAX = 6


def network(run: Run) -> dict[str, Any] | None:
    """Topology and policies, from the plans that the run kept. Arms with the same policies share one entry."""
    plans = [(arm, plan) for arm in run.arms if (plan := run.plan(arm))]
    if not plans:
        return None
    policies: list[dict[str, Any]] = []
    for arm, plan in plans:
        described = {"switches": _drawn(policy.switch_sentences(plan)), "interfaces": interface_sentences(plan)}
        same = next((entry for entry in policies if entry | described == entry), None)
        if same:
            same["arms"].append(arm)
        else:
            policies.append({"arms": [arm], **described})
    first = plans[0][1]
    overrides = run.manifest.get("overrides") or {}
    return {
        "drawing": topology.topology_chart(first),
        "words": topology.topology_words(first),
        "trees": _tree_drawings(run, dict(plans)),
        "policies": policies,
        "overrides": [{"arm": arm, "changes": _changes(changed)} for arm, changed in overrides.items() if changed],
    }


def _tree_drawings(run: Run, plans: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The spanning trees that carry workloads, with their drawings; arms with the same trees share them."""
    drawings: list[dict[str, Any]] = []
    for arm, plan in plans.items():
        found = next((trial.outcome.get("spanning_trees") for trial in run.valid(arm)), None) or []
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
    return drawings


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
