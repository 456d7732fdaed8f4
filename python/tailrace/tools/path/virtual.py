"""Probes in virtual time: the network of a scenario without its workloads, simulated or with real
kernels."""

from collections.abc import Callable, Mapping
from typing import Any

from tailrace.outcome.types import Outcome
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.kinds import kind_named
from tailrace.tools.path.path import Asked, Direction, Located, probe
from tailrace.tools.path.search import HEADERS_BYTES, Attempt
from tailrace.tools.path.where import Counted, located

GAP_PS = 10**10
"""10 ms between probes, as on real paths."""
WAIT_PS = 10**12
"""A second for the last of them."""
BITS_PER_BYTE = 8
PS_PER_S = 10**12
WORKLOAD = "probe"
SENT = "datagrams"
"""The kind of workload that probes are."""

Run = Callable[[str], Outcome]
"""Runs a plan."""


class VirtualWay:
    """From one host of a scenario to another. Each burst is a trial of its own, with a seed of its
    own."""

    def __init__(self, run: Run, scenario: Scenario, ends: tuple[str, str]) -> None:
        self._run = run
        self._scenario = scenario
        self._ends = ends
        self._trials = 0
        self.plan: Mapping[str, Any] = {}
        self.counted = Counted()

    def __call__(self, payload_bytes: int, count: int) -> Attempt:
        """Runs a trial. What is above the MTU of the sender, its kernel refuses."""
        own_mtu = self._scenario.host(self._ends[0]).mtu
        if payload_bytes + HEADERS_BYTES > own_mtu:
            return Attempt(payload_bytes, 0, 0, own_mtu=own_mtu)
        self._trials += 1
        self.plan = lower(self._probing(payload_bytes, count), WORKLOAD, self._trials)
        outcome = self._run(canonical_json(self.plan))
        self.counted = Counted.of(outcome)
        [workload] = outcome.workloads
        return Attempt(payload_bytes, count, workload.transactions)

    def _probing(self, payload_bytes: int, count: int) -> Scenario:
        source, destination = self._ends
        slowest_bps = min(link.rate_bps for link in self._scenario.graph.links)
        gap_ps = max(
            GAP_PS, 2 * (payload_bytes + HEADERS_BYTES) * BITS_PER_BYTE * PS_PER_S // slowest_bps
        )
        sent = {
            "kind": SENT,
            "source": source,
            "destination": destination,
            "sizes": f"{payload_bytes}B",
            "interarrival": f"{gap_ps}ps",
            "count": count,
        }
        duration = count * gap_ps + WAIT_PS
        experiment = self._scenario.experiment.model_copy(
            update={"duration": duration, "warm_up": 0}
        )
        observe = self._scenario.observe.model_copy(
            update={"ports": [], "windows": None, "interfaces": None}
        )
        workloads = {WORKLOAD: kind_named(SENT).model_validate(sent)}
        return self._scenario.model_copy(
            update={"workloads": workloads, "experiment": experiment, "observe": observe}
        )


def probe_virtual(
    run: Run, scenario: Scenario, ends: tuple[str, str], asked: Asked
) -> list[Direction]:
    """Both directions between two hosts of a scenario."""
    found = []
    for names in (ends, (ends[1], ends[0])):
        way = VirtualWay(run, scenario, names)
        found.append(probe(names, way, asked, _locate(way, names)))
    return found


def _locate(way: VirtualWay, ends: tuple[str, str]) -> Located:
    """The counters of a trial are those of its probes alone."""

    def locate(send: Callable[[], None], probes: int) -> dict[str, Any] | None:
        send()
        return located(way.plan, ends, way.counted, probes)

    return locate
