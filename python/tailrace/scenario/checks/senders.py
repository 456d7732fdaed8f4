"""Warnings about senders that ignore the pauses of a lossless class, and senders whose frames
cannot be marked."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from functools import cached_property

from tailrace.errors import KeyPath, few
from tailrace.scenario.checks.classify import traffic_of
from tailrace.scenario.checks.lossless import lossless_priorities, lossless_queues
from tailrace.scenario.classified import matched
from tailrace.scenario.network.host import Host
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.switch import Policy, Switch
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.ports import Traffic

NAMED_MAX = 4
"""Hosts that a message names at most."""

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """Warnings about the senders of lossless classes, once for each switch and priority."""
    sent = _Sent(scenario, graph)
    for node in graph.switches:
        used = _used_policies(scenario, graph, node)
        if not any(lossless_priorities(policy) for policy in used.values()):
            continue
        yield from _unpaused(scenario, sent, node, used)
        yield from _unmarked(scenario, sent, node, used)


class _Sent:
    """The senders of each workload, computed once: computing them at each switch would take too
    long."""

    def __init__(self, scenario: Scenario, graph: Graph) -> None:
        self._scenario = scenario
        self._senders = {
            name: workload.senders(graph) for name, workload in scenario.running.items()
        }
        self._unmarked: dict[tuple[int, str, str], list[str]] = {}
        self._graph = graph

    @cached_property
    def _traffic(self) -> dict[str, list[Traffic]]:
        found: dict[str, list[Traffic]] = {}
        for traffic in traffic_of(self._scenario, self._graph):
            found.setdefault(traffic.workload, []).append(traffic)
        return found

    @cached_property
    def _by_host(self) -> dict[str, list[tuple[int, int, str]]]:
        """The workloads that each host sends: their position, the host's position among their
        senders, their name."""
        sent: dict[str, list[tuple[int, int, str]]] = {}
        for number, (name, hosts) in enumerate(self._senders.items()):
            for index, host in enumerate(hosts):
                sent.setdefault(host, []).append((number, index, name))
        return sent

    def by(self, hosts: Iterable[str]) -> Iterator[tuple[str, WorkloadKind, str]]:
        """The workloads that these hosts send, in the order of workloads and of their senders:
        name, workload, host."""
        found = sorted((*sent, host) for host in hosts for sent in self._by_host.get(host, []))
        return ((name, self._scenario.workloads[name], host) for _, _, name, host in found)

    def unmarked(self, policy_name: str, policy: Policy, queue: str, switch: Switch) -> list[str]:
        """Workloads without ECN whose frames use this queue of a switch."""
        key = id(switch.classify), policy_name, queue
        if key not in self._unmarked:
            self._unmarked[key] = [
                name
                for name, hosts in self._senders.items()
                if (workload := self._scenario.workloads[name])
                and any(
                    self._takes(name, workload, host, policy, queue, switch)
                    for host in dict.fromkeys(hosts)
                )
            ]
        return self._unmarked[key]

    def class_of(self, name: str, host: str, switch: Switch) -> int | None:
        """Class of the frames of a workload that a host sends straight into this switch."""
        return class_of(self._traffic.get(name, []), host, switch, self._graph.host_names)

    def _takes(
        self,
        name: str,
        workload: WorkloadKind,
        host: str,
        policy: Policy,
        queue: str,
        switch: Switch,
    ) -> bool:
        if _is_marked(self._scenario.host(host), workload):
            return False
        own = self.class_of(name, host, switch)
        return own is not None and policy.queue_of(own) == queue


def _used_policies(scenario: Scenario, graph: Graph, node: str) -> dict[str, Policy]:
    """Policy of each port, by neighbour."""
    switch = scenario.switch(node)
    named = {
        towards: switch.ports.get(towards, switch.policy) for towards in graph.neighbours(node)
    }
    return {
        towards: policy
        for towards, name in named.items()
        if (policy := scenario.policy(name)) is not None
    }


def _unpaused(scenario: Scenario, sent: _Sent, node: str, used: dict[str, Policy]) -> Found:
    """Warnings about hosts that send in a lossless class directly into this switch but ignore its
    pauses."""
    deaf: dict[int | None, list[str]] = {}
    misled: dict[str, tuple[int, int]] = {}
    for name, workload, sender in sent.by(used):
        own = sent.class_of(name, sender, scenario.switch(node))
        if own is None or own not in lossless_priorities(used[sender]):
            continue
        # A pause of the link has no priority.
        paused = own if used[sender].pfc is not None else None
        if not _obeys(scenario.host(sender), paused):
            deaf.setdefault(paused, []).append(sender)
        if paused is not None and workload.priority != paused:
            misled[name] = (workload.priority, paused)
    for name, (priority, paused) in misled.items():
        yield _misled(name, priority, paused, node)
    for unheard, hosts in deaf.items():
        yield _deaf(node, unheard, list(dict.fromkeys(hosts)))


def _obeys(host: Host, paused: int | None) -> bool:
    if paused is None:
        return host.nic.link_pause
    return host.nic.pfc is not None and paused in host.nic.pfc.priorities


def _misled(name: str, priority: int, paused: int, node: str) -> tuple[KeyPath, str, str]:
    what = (
        f"its frames have class {paused} at switch '{node}', which pauses priority {paused}; "
        f"they leave their host in priority {priority}, which this pause does not stop"
    )
    return ("workloads", name, "priority"), what, f"write priority: {paused}"


def _deaf(node: str, paused: int | None, hosts: list[str]) -> tuple[KeyPath, str, str]:
    which = "the link" if paused is None else f"priority {paused}"
    key, value = (
        ("link_pause", "true") if paused is None else ("pfc", f"{{priorities: [{paused}]}}")
    )
    ignore = "ignores" if len(hosts) == 1 else "ignore"
    what = (
        f"switch '{node}' pauses {which}, but {few(hosts, NAMED_MAX)} {ignore} its pauses: "
        "frames beyond the headroom are lost"
    )
    at: KeyPath = ("hosts", hosts[0] if len(hosts) == 1 else "defaults", "nic", key)
    return at, what, f"give the interfaces nic: {{{key}: {value}}}"


def _unmarked(scenario: Scenario, sent: _Sent, node: str, used: dict[str, Policy]) -> Found:
    """Warnings about queue management that drops frames of a lossless queue because they cannot be
    marked."""
    switch = scenario.switch(node)
    noted: set[str] = set()
    for towards, policy in used.items():
        policy_name = switch.ports.get(towards, switch.policy)
        marking = {} if policy_name in noted else _marking_queues(policy)
        noted.add(policy_name)
        for queue, kind in marking.items():
            if unmarked := sent.unmarked(policy_name, policy, queue, switch):
                those = few(unmarked, NAMED_MAX)
                what = (
                    f"{kind} drops frames of this lossless queue that cannot "
                    f"be marked: those of {those}"
                )
                yield (
                    ("policies", policy_name, "queues", queue, "aqm"),
                    what,
                    "hosts: {defaults: {tcp: {ecn: true}}}",
                )


def _marking_queues(policy: Policy) -> dict[str, str]:
    """Lossless queues whose management marks ECN-capable frames, and its kind."""
    managed = {name: policy.queues[name].aqm for name in lossless_queues(policy)}
    return {
        name: aqm.kind
        for name, aqm in managed.items()
        if aqm.drops_incapable() and not aqm.drops_capable()
    }


def _is_marked(host: Host, workload: WorkloadKind) -> bool:
    return workload.facts().protocol == "tcp" and (
        host.tcp.ecn or host.tcp.congestion_control == "dctcp"
    )


def class_of(of: Iterable[Traffic], sender: str, switch: Switch, hosts: Set[str]) -> int | None:
    """Class of the frames of a workload that `sender` sends straight into this switch; None where
    they have several, or where the other end decides.
    """
    own = [replace(one, sources=frozenset([sender])) for one in of if sender in one.sources]
    found = list(matched(switch.classify, own, hosts))
    classes = {
        one.traffic.priority if one.rule is None else switch.classify[one.rule].class_
        for one in found
    }
    return classes.pop() if len(classes) == 1 and all(one.is_certain for one in found) else None
