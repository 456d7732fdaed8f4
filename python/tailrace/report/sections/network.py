"""The section about the network: its drawing, its spanning trees, and the policies of its ports,
arm by arm."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from tailrace.outcome.types import Tree
from tailrace.plan.types import Plan
from tailrace.report.charts import port_policy, topology
from tailrace.report.limits import ARMS_DRAWN_MAX
from tailrace.report.policy import switch as policy
from tailrace.report.policy.interfaces import interface_sentences
from tailrace.report.policy.switch import SwitchWords
from tailrace.results import Run
from tailrace.results.ports import trees

# Switches with settings of their own that are drawn; those with the same settings are drawn
# together.
SWITCHES_MAX = 12
# Policies of one switch that are drawn.
POLICIES_MAX = 6
# Spanning trees of one arm that are drawn.
TREES_MAX = 6


@dataclass(frozen=True)
class DrawnPolicy:
    """A policy of ports of a switch."""

    where: str
    sentences: list[str]
    drawing: Markup


@dataclass(frozen=True)
class DrawnSwitch:
    """Switches with the same settings."""

    names: list[str]
    title: str
    rules: list[str]
    policies: list[DrawnPolicy]
    omitted: int
    """Policies that are not drawn."""


@dataclass(frozen=True)
class Policies:
    """The policies of some arms."""

    arms: list[str]
    described: list[SwitchWords]
    interfaces: list[str]
    switches: list[DrawnSwitch]
    omitted: int
    """Switches that are not drawn."""


@dataclass(frozen=True)
class DrawnTree:
    """A spanning tree."""

    words: str
    drawing: Markup


@dataclass(frozen=True)
class Trees:
    """The spanning trees of some arms."""

    arms: list[str]
    found: list[Tree]
    shown: list[DrawnTree]
    omitted: int
    """Trees that are not drawn."""


@dataclass(frozen=True)
class Override:
    """A change of the scenario by an arm."""

    arm: str
    changes: list[str]


@dataclass(frozen=True)
class Network:
    """The section."""

    drawing: Markup
    words: str
    trees: list[Trees]
    policies: list[Policies]
    policies_omitted: int
    """Arms whose policies are not drawn."""
    overrides: list[Override]


def network(run: Run) -> Network | None:
    """Topology and policies, from the plans that the run kept. Arms with the same policies share
    one entry."""
    first: tuple[Markup, str] | None = None
    policies: list[Policies] = []
    drawings: list[Trees] = []
    for arm in run.arms:
        plan = run.plan(arm)
        if not plan:
            continue
        first = first or (topology.topology_chart(plan), topology.topology_words(plan))
        _add_policies(policies, arm, plan)
        _add_trees(drawings, arm, plan, run)
    if first is None:
        return None
    overrides = run.manifest.overrides or {}
    return Network(
        *first,
        trees=drawings,
        policies=policies[:ARMS_DRAWN_MAX],
        policies_omitted=sum(len(entry.arms) for entry in policies[ARMS_DRAWN_MAX:]),
        overrides=[
            Override(arm, _changes(changed)) for arm, changed in overrides.items() if changed
        ],
    )


def _add_policies(policies: list[Policies], arm: str, plan: Plan) -> None:
    described = policy.switch_sentences(plan)
    interfaces = interface_sentences(plan)
    same = next(
        (one for one in policies if (one.described, one.interfaces) == (described, interfaces)),
        None,
    )
    if same:
        same.arms.append(arm)
        return
    drawn = [_drawn(switch) for switch in described[:SWITCHES_MAX]]
    omitted = sum(len(entry.names) for entry in described[SWITCHES_MAX:])
    policies.append(Policies([arm], described, interfaces, drawn, omitted))


def _add_trees(drawings: list[Trees], arm: str, plan: Plan, run: Run) -> None:
    """The spanning trees that carry workloads, with their drawings; arms with the same trees share
    them."""
    found = next((trial.outcome.spanning_trees for trial in run.with_outcome(arm)), None) or []
    used = [tree for tree in found if trees.carries(tree, found, plan)]
    same = next((entry for entry in drawings if entry.found == used), None)
    if same:
        same.arms.append(arm)
    elif used:
        shown = [
            DrawnTree(trees.tree_words(tree, plan), topology.topology_chart(plan, tree.forwards))
            for tree in used[:TREES_MAX]
        ]
        drawings.append(Trees([arm], used, shown, len(used) - len(shown)))


def _drawn(switch: SwitchWords) -> DrawnSwitch:
    """Every different policy with its drawing."""
    shown = [
        DrawnPolicy(own.where, own.sentences, port_policy.policy_chart(own.policy))
        for own in switch.policies[:POLICIES_MAX]
    ]
    return DrawnSwitch(
        switch.names, switch.title, switch.rules, shown, len(switch.policies) - len(shown)
    )


def _changes(overrides: Mapping[str, object]) -> list[str]:
    """`switches.leaf.policy = dpp` for every key that an arm sets."""
    return [
        f"{key} = {json.dumps(value) if not isinstance(value, str) else value}"
        for key, value in overrides.items()
    ]
