"""Warnings about AFD whose elephants would be evicted: flows with longer silences than the elephant
trap allows.

Streams that share a link send in turns: a segmentation-offload burst each, or, where it is smaller,
the whole window once per round trip. With the queue at its desired depth, that round trip is the
time in which the queue drains.
"""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.aqm.afd import Afd
from tailrace.scenario.policies.switch import Policy
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import LongFlows

PS_BITS_PER_BYTE_SECOND = 8 * 10**12
AGE_MARGIN = 3
"""Rounds, in each of which every connection sends a burst, that an age must span to keep elephants;
rounds are uneven.
"""
AGE_STEP_PS = 10**7
"""Proposed ages are multiples of 10 us."""

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """A warning for each policy with `afd` whose elephant trap evicts streams between two of their
    bursts."""
    if not any(_has_fair_drop(policy) for policy in scenario.policies.values()):
        return
    noted: set[str] = set()
    for (node, towards), streams in _joint_ports(scenario, graph).items():
        switch = scenario.switch(node)
        name = switch.ports.get(towards, switch.policy)
        policy = scenario.policy(name)
        if name in noted or policy is None or policy.trap is None or not _has_fair_drop(policy):
            continue
        age_ps, _ = policy.trap.periods_ps()
        connections = sum(stream.connections for stream in streams)
        round_ps = _round_ps(scenario, policy, streams, graph.link_of[node, towards].rate_bps)
        silence_ps = round_ps - round_ps // connections
        if silence_ps > age_ps:
            noted.add(name)
            yield (
                ("policies", name, "etrap", "age"),
                _words(connections, age_ps, silence_ps),
                _hint(round_ps),
            )


def _has_fair_drop(policy: Policy) -> bool:
    return any(isinstance(queue.aqm, Afd) for queue in policy.queues.values())


def _joint_ports(scenario: Scenario, graph: Graph) -> dict[tuple[str, str], list[LongFlows]]:
    """Streams by port that they are certain to share: towards their host, and between the switches
    of both hosts."""
    ports: dict[tuple[str, str], list[LongFlows]] = {}
    for workload in scenario.running.values():
        stream = workload.long_flows()
        if stream is None:
            continue
        if (
            len(graph.neighbours(stream.source)) > 1
            or len(graph.neighbours(stream.destination)) > 1
        ):
            continue  # a bond spreads its connections
        [first], [last] = graph.neighbours(stream.source), graph.neighbours(stream.destination)
        ports.setdefault((last, stream.destination), []).append(stream)
        if last in graph.neighbours(first):
            ports.setdefault((first, last), []).append(stream)
    return {port: streams for port, streams in ports.items() if port[0] in graph.switches}


def _round_ps(scenario: Scenario, policy: Policy, streams: list[LongFlows], rate_bps: int) -> int:
    """Time in which every connection sends one burst."""
    desired = max(
        queue.aqm.desired for queue in policy.queues.values() if isinstance(queue.aqm, Afd)
    )
    bursts = sum(stream.connections * _burst_bytes(scenario, stream) for stream in streams)
    return max(desired, bursts) * PS_BITS_PER_BYTE_SECOND // rate_bps


def _burst_bytes(scenario: Scenario, stream: LongFlows) -> int:
    host = scenario.host(stream.source)
    return max(host.nic.tso, host.mtu)


def _words(connections: int, age_ps: int, silence_ps: int) -> str:
    return (
        f"each of {connections} connections that take turns may be idle for {_us(silence_ps)} us, "
        f"and the elephant trap evicts elephants that are idle for {_us(age_ps)} us: AFD then sees "
        "only part of their bytes"
    )


def _hint(round_ps: int) -> str:
    age_ps = -(-AGE_MARGIN * round_ps // AGE_STEP_PS) * AGE_STEP_PS
    return f"write etrap: {{age: {_us(age_ps)}us}}, three rounds of the connections"


def _us(time_ps: int) -> str:
    return f"{time_ps / 10**6:.6g}"
