"""Spanning trees in words, and which of them carry anything."""

from tailrace.outcome.types import Tree
from tailrace.plan.types import Plan
from tailrace.results.ports.trees import carries, tree_words
from whole import part

LINKS = [{"a": f"leaf{i}", "b": "spine2"} for i in range(1, 9)]
PLAN = part(Plan, links=LINKS)


def tree(instance: int, vlans: list[int], blocked: int = 1) -> Tree:
    """As much of a tree as is looked at."""
    ports = [{"node": f"leaf{i}", "towards": "spine2"} for i in range(1, blocked + 1)]
    return part(Tree, instance=instance, vlans=vlans, roots=["spine1"], blocked=ports)


def test_a_tree_says_its_vlans_its_root_and_what_it_blocks() -> None:
    assert tree_words(tree(0, [], blocked=0), PLAN) == "instance 0: root spine1; no port is blocked"
    assert (
        tree_words(tree(1, [10]), PLAN) == "instance 1 (VLAN 10): root spine1; blocked leaf1>spine2"
    )
    words = tree_words(tree(2, [5, 20, 21, 22], blocked=8), PLAN)
    assert words.startswith("instance 2 (VLANs 5, 20-22): root spine1; blocked leaf1>spine2, ")
    assert words.endswith("leaf6>spine2 and 2 more")


def test_blocked_ports_of_parallel_links_have_their_numbers() -> None:
    ports = [{"node": "leaf1", "towards": "spine2", "port": port} for port in (2, 3)]
    found = part(Tree, instance=1, vlans=[10], roots=["spine1"], blocked=ports)
    links = [*LINKS, {"a": "spine2", "b": "leaf1"}]
    assert tree_words(found, part(Plan, links=links)).endswith(
        "blocked leaf1>spine2 (port 2), leaf1>spine2 (port 3)"
    )


def test_a_tree_carries_the_workloads_of_its_vlans_and_the_first_all_others() -> None:
    def used(*vlans: int) -> list[bool]:
        workloads = [
            {"header": {"vlan": vlan} if vlan else {}, "body": {"stream": {}}} for vlan in vlans
        ]
        plan = part(Plan, workloads=workloads)
        trees = [tree(0, []), tree(1, [10, 11]), tree(2, [20])]
        return [carries(one, trees, plan) for one in trees]

    assert used(10) == [False, True, False]
    assert used(11, 20) == [False, True, True]
    assert used(0) == [True, False, False]
    assert used(30, 20) == [True, False, True]
