"""Fair drop whose elephants would be none: flows of bursts with longer silences than the elephant trap allows."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.aqm import Afd
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.switch import Policy
from tailrace.scenario.topology import Graph
from tailrace.scenario.workload import Stream

PS_BITS_PER_BYTE_SECOND = 8 * 10**12
AGE_MARGIN = 2
"""An age of this many rounds, in each of which every connection sends a burst, keeps elephants: rounds are uneven."""
AGE_STEP_PS = 10**7
"""Ages are proposed in steps of 10 us."""

Found = Iterator[tuple[KeyPath, str, str]]


def cautions(scenario: Scenario, graph: Graph) -> Found:
    """One warning for each policy with `afd` where streams take turns of a burst each that are too long."""
    if not any(_has_fair_drop(policy) for policy in scenario.policies.values()):
        return
    told: set[str] = set()
    for (node, towards), streams in _joint_ports(scenario, graph).items():
        switch = scenario.switch(node)
        name = switch.ports.get(towards, switch.policy)
        policy = scenario.policy(name)
        if name in told or policy is None or policy.trap is None or not _has_fair_drop(policy):
            continue
        age_ps, _ = policy.trap.periods_ps()
        bursts = [_burst_bytes(scenario, stream) for stream in streams for _ in range(stream.connections)]
        rate_bps = graph.link_of[node, towards].rate_bps
        silence_ps = _sending_ps(sum(bursts) - max(bursts), rate_bps)
        if silence_ps > age_ps:
            told.add(name)
            hint = _hint(AGE_MARGIN * _sending_ps(sum(bursts), rate_bps))
            yield ("policies", name, "etrap", "age"), _words(bursts, age_ps, silence_ps), hint


def _has_fair_drop(policy: Policy) -> bool:
    return any(isinstance(queue.aqm, Afd) for queue in policy.queues.values())


def _joint_ports(scenario: Scenario, graph: Graph) -> dict[tuple[str, str], list[Stream]]:
    """Streams of each port that they share for certain: towards their host, and between the switches of both hosts."""
    ports: dict[tuple[str, str], list[Stream]] = {}
    for workload in scenario.workloads.values():
        if not isinstance(workload, Stream):
            continue
        [first], [last] = graph.neighbours(workload.source), graph.neighbours(workload.destination)
        ports.setdefault((last, workload.destination), []).append(workload)
        if last in graph.neighbours(first):
            ports.setdefault((first, last), []).append(workload)
    return {port: streams for port, streams in ports.items() if port[0] in graph.switches}


def _burst_bytes(scenario: Scenario, stream: Stream) -> int:
    host = scenario.host(stream.source)
    return max(host.nic.tso, host.mtu)


def _sending_ps(size_bytes: int, rate_bps: int) -> int:
    return size_bytes * PS_BITS_PER_BYTE_SECOND // rate_bps


def _words(bursts: list[int], age_ps: int, silence_ps: int) -> str:
    return (
        f"{len(bursts)} connections that send bursts of up to {max(bursts)} bytes in turn are silent for "
        f"{_us(silence_ps)} us between two, and the elephant trap evicts an elephant that is silent for "
        f"{_us(age_ps)} us: AFD acts on few of their frames"
    )


def _hint(needed_ps: int) -> str:
    age_ps = -(-needed_ps // AGE_STEP_PS) * AGE_STEP_PS
    return f"write etrap: {{age: {_us(age_ps)}us}}, or take the bursts away with nic: {{tso: 0B}}"


def _us(time_ps: int) -> str:
    return f"{time_ps / 10**6:.6g}"
