"""Fabrics: tailrace's built-in switch, and others for comparison.

Settings that the latter do not support are rejected or reported.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailrace.errors import KeyPath, Problem, RunRefusedError, ScenarioError
from tailrace.experiment.real_kernel import Found, problems_of
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.host import Host
from tailrace.scenario.network.topology import Graph, expand
from tailrace.scenario.policies.switch import Policy, Queue, Switch
from tailrace.scenario.scenario import DEFAULTS, Scenario

DELAY_MAX_PS = 20 * 10**6
"""20 us, the time of a wake-up between two cores of a small virtual machine; shorter delays have no
effect."""
DPDK_MTU_MAX = 1500
"""DPDK's net_af_packet accepts frames of up to 1518 bytes."""
PS_PER_US = 10**6
POLLING = "ovs-dpdk"
"""The fabric that takes a core whole."""
WHOLE_SCENARIO = "use --fabric tap"


@dataclass(frozen=True)
class Kind:
    """A fabric with its name on the command line."""

    name: str
    words: str
    """Description."""
    mtu_max: int | None = None

    @property
    def is_foreign(self) -> bool:
        """Whether a foreign switch joins the hosts, with the rates of the scenario but no other
        setting of its switches.
        """
        return self.name != TAP

    @property
    def is_open_vswitch(self) -> bool:
        """Whether the programs of Open vSwitch are needed."""
        return self.name.startswith("ovs")


KINDS = {
    kind.name: kind
    for kind in (
        Kind(TAP, "tailrace's built-in switch"),
        Kind("bridge", "the kernel's bridge"),
        Kind("ovs", "Open vSwitch, datapath in user space"),
        Kind(POLLING, "Open vSwitch with DPDK", DPDK_MTU_MAX),
    )
}


def kind_of(name: str) -> Kind:
    """The fabric of this name; raises `RunRefusedError` for an unknown name."""
    if name not in KINDS:
        raise RunRefusedError(f"there is no fabric '{name}' (hint: {', '.join(KINDS)})")
    return KINDS[name]


def require(kind: Kind, found: Mapping[str, Any]) -> None:
    """Raises `RunRefusedError` if this machine lacks requirements of the fabric, with the packages
    to install.

    `found` is the output of the fabric's doctor.
    """
    lacks = (found.get("fabrics") or {}).get(kind.name) if kind.is_foreign else None
    if lacks:
        hint = f'`make live-deps WITH="{kind.name}"`, or --fabric bridge'
        raise RunRefusedError(f"--fabric {kind.name}: {lacks} (hint: {hint})")


def refuse(kind: Kind, loaded: Loaded, arms: Mapping[str, Scenario]) -> None:
    """Raises `ScenarioError` with everything that a comparison fabric does not support."""
    problems = (
        sorted(problems_of(loaded, arms, lambda scenario: _refused(kind, scenario)))
        if kind.is_foreign
        else []
    )
    if problems:
        raise ScenarioError(problems)


def ignored(kind: Kind, loaded: Loaded, arms: Mapping[str, Scenario]) -> Sequence[Problem]:
    """Settings of the scenario that a comparison fabric ignores, with their paths."""
    if not kind.is_foreign:
        return []
    return sorted(problems_of(loaded, arms, lambda scenario: _ignored(kind, scenario)))


def _refused(kind: Kind, scenario: Scenario) -> Found:
    graph = expand(scenario.network)
    if len(graph.switches) != 1:
        what = (
            f"--fabric {kind.name} supports one switch with hosts around it, but this network "
            f"has {len(graph.switches)}"
        )
        yield ("network", "topology"), what, "use a star, or --fabric tap"
        return
    for host in graph.hosts:
        if len(graph.neighbours(host)) != 1:
            what = (
                f"--fabric {kind.name} needs one link for each host; '{host}' has "
                f"{len(graph.neighbours(host))}"
            )
            yield ("network", "links"), what, "use a star, or --fabric tap"
    yield from _delays(kind, graph)
    for name, workload in scenario.running.items():
        if workload.vlan:
            what = f"--fabric {kind.name} joins all hosts to one network, without VLANs"
            yield ("workloads", name, "vlan"), what, "omit vlan, or use --fabric tap"
    for host in graph.hosts:
        mtu = scenario.host(host).mtu
        if kind.mtu_max is not None and mtu > kind.mtu_max:
            what = (
                f"DPDK's ports to the kernel support an MTU of at most {kind.mtu_max}B, not {mtu}B"
            )
            yield (
                _stated_at(scenario.hosts, "hosts", host, "mtu"),
                what,
                "lower it, or use --fabric ovs",
            )


def _delays(kind: Kind, graph: Graph) -> Found:
    for link in graph.links:
        if link.delay_ps > DELAY_MAX_PS:
            path: KeyPath = (
                (*link.path, "delay")
                if link.path[:2] == ("network", "links")
                else ("network", "link", "delay")
            )
            most = f"{DELAY_MAX_PS // PS_PER_US}us"
            what = (
                f"--fabric {kind.name} adds no delay: links above {most} "
                "would differ from the scenario"
            )
            yield path, what, f"write at most {most}, or use --fabric tap"


def _ignored(kind: Kind, scenario: Scenario) -> Found:
    graph = expand(scenario.network)
    for name in graph.switches:
        switch = scenario.switch(name)
        if switch.classify:
            what = f"ignored by --fabric {kind.name}: {len(switch.classify)} classification rules"
            yield _stated_at(scenario.switches, "switches", name, "classify"), what, WHOLE_SCENARIO
        if kind.name == POLLING and (switch.mtu is not None or switch.port_mtu):
            key = "mtu" if switch.mtu is not None else "port_mtu"
            what = (
                f"ignored by --fabric {kind.name}: MTUs of ports, which DPDK's ports to the "
                "kernel do not check"
            )
            yield _stated_at(scenario.switches, "switches", name, key), what, "use --fabric ovs"
        used = {switch.ports.get(host, switch.policy) for host in graph.neighbours(name)}
        for policy_name in sorted(used):
            policy = scenario.policy(policy_name)
            assert policy is not None, "checks reject unknown policies"
            yield from _of_policy(kind, ("policies", policy_name), policy)
    for link in graph.links:
        if link.loss_ppb:
            what = f"ignored by --fabric {kind.name}: loss on links"
            yield (*link.path, "loss"), what, WHOLE_SCENARIO
    for name in graph.hosts:
        if scenario.host(name).nic.is_lossless:
            what = f"ignored by --fabric {kind.name}: pauses, QCN and ETS of hosts"
            yield _stated_at(scenario.hosts, "hosts", name, "nic"), what, WHOLE_SCENARIO
    for name, workload in scenario.running.items():
        if workload.priority:
            what = (
                f"ignored by --fabric {kind.name}: priority {workload.priority}, since each "
                "port has one queue"
            )
            yield ("workloads", name, "priority"), what, WHOLE_SCENARIO


def _stated_at(
    entries: Mapping[str, Host] | Mapping[str, Switch], section: str, name: str, field: str
) -> KeyPath:
    """Path of a field of a host or switch: in its own entry, or in `defaults`."""
    own = entries.get(name)
    return (section, name if own is not None and field in own.model_fields_set else DEFAULTS, field)


def _of_policy(kind: Kind, at: KeyPath, policy: Policy) -> Found:
    mechanisms = {
        "dpp": policy.dpp,
        "etrap": policy.etrap,
        "pfc": policy.pfc,
        "link_pause": policy.link_pause,
        "police": policy.police,
    }
    for key, mechanism in mechanisms.items():
        if mechanism is not None:
            yield (*at, key), f"ignored by --fabric {kind.name}: {key}", WHOLE_SCENARIO
    if len(policy.queues) > 1:
        names = ", ".join(policy.queues)
        what = (
            f"ignored by --fabric {kind.name}: queues {names} become one queue with the sum of "
            "their limits"
        )
        yield (*at, "queues"), what, WHOLE_SCENARIO
    for name, queue in policy.queues.items():
        for key, words in _of_queue(queue):
            yield (
                (*at, "queues", name, key),
                f"ignored by --fabric {kind.name}: {words}",
                WHOLE_SCENARIO,
            )


def _of_queue(queue: Queue) -> Iterator[tuple[str, str]]:
    if queue.aqm.kind != "none":
        yield "aqm", f"queue management {queue.aqm.kind}"
    if queue.qcn is not None:
        yield "qcn", "qcn"
    if queue.shape is not None:
        yield "shape", "the shape of a queue"
