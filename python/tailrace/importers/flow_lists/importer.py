"""Converts a list of flows to a scenario with workloads of the kind `flows`."""

from dataclasses import dataclass, field
from pathlib import Path

from tailrace.importers.flow_lists.formats import PRIORITIES, UNIT, Flow, flows_of
from tailrace.importers.records.lines import Record
from tailrace.importers.records.sample import Sample
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import size, time
from tailrace.importers.storage.values import name_of
from tailrace.importers.whole import WholeScenario, Yaml

GROUP = "list"
"""All flows of a list, which results also have in one row; the name of the workload of a long
one."""
COUNT = "flows"
"""Key of the number of flows."""
EXACT_MAX = 2048
"""Flows of a list that are kept one by one; of more, sizes and gaps are kept as distributions."""
HOSTS_MAX = 5000
LINK_RATE_BPS = 100 * 10**9
LINK: Yaml = {"rate": "100Gbit/s", "delay": "1us"}
"""Of both simulators' examples; the list names none."""
SPARE = 10
"""The trial ends when all flows are complete; at the latest after this many times the transmission
time of the busiest host's bytes on its link, and a second, after the last start."""
SPARE_PS = 10**12
ENDLESS_PS = 10**10
"""With streams that have no end, 10 ms after the last start."""


@dataclass
class _Seen:
    """The stored facts about a list of any length."""

    flows: list[Flow] = field(default_factory=list)
    """Those of a short list."""
    count: int = 0
    endless: int = 0
    sizes: Sample = field(default_factory=Sample)
    gaps: Sample = field(default_factory=Sample)
    first_ps: int = 0
    last_ps: int = 0
    before_ps: int | None = None
    is_ordered: bool = True
    sources: dict[int, int] = field(default_factory=dict)
    destinations: dict[int, int] = field(default_factory=dict)
    priorities: set[int] = field(default_factory=set)

    def add(self, flow: Flow, record: Record) -> None:
        """Takes one flow."""
        self.count += 1
        if self.count <= EXACT_MAX:
            self.flows.append(flow)
        if flow.size_bytes:
            self.sizes.add(flow.size_bytes)
        else:
            self.endless += 1
        self.first_ps = flow.start_ps if self.count == 1 else min(self.first_ps, flow.start_ps)
        self.last_ps = max(self.last_ps, flow.start_ps)
        if self.before_ps is not None:
            self.is_ordered = self.is_ordered and flow.start_ps >= self.before_ps
            self.gaps.add(max(0, flow.start_ps - self.before_ps))
        self.before_ps = flow.start_ps
        for ends, host in ((self.sources, flow.source), (self.destinations, flow.destination)):
            ends[host] = ends.get(host, 0) + 1
            if len(ends) > HOSTS_MAX:
                record.refuse(f"more than {HOSTS_MAX} hosts", "a list of fewer hosts")
        self.priorities.add(flow.priority)

    @property
    def hosts(self) -> list[int]:
        """All of them, in order."""
        return sorted({*self.sources, *self.destinations})


def import_flows(path: Path, variables: dict[str, str]) -> tuple[WholeScenario | None, Remarks]:
    """The scenario, and remarks about the lines; None if there is no flow.

    Raises `ScenarioError` for a file in neither format, a truncated one, and invalid values.
    """
    record, seen = Record(path), _Seen()
    for flow in flows_of(record, variables.get(UNIT)):
        seen.add(flow, record)
    if not seen.count:
        return None, record.remarks("flows")
    scenario = WholeScenario(name_of(path.name.split(".")[0], "flows", ()), link=dict(LINK))
    scenario.hosts = [_host(number) for number in seen.hosts]
    if len(scenario.hosts) < 2:
        record.refuse("all flows are of one host", "a list with two hosts", line=0)
    scenario.workloads = _each(seen) if seen.count <= EXACT_MAX else _together(seen, record)
    busiest = max([*seen.sources.values(), *seen.destinations.values()]) / seen.count
    work_ps = round(seen.sizes.total * 8 * busiest * 10**12 / LINK_RATE_BPS)
    scenario.duration_ps = seen.last_ps + (
        ENDLESS_PS if seen.endless else SPARE * work_ps + SPARE_PS
    )
    scenario.check(str(path))
    remarks = record.remarks("flows")
    remarks.add(0, "network", "assumed", "one switch and links of 100 Gbit/s: the list names none")
    remarks.add(
        0,
        "transport",
        "assumed",
        "flows are TCP connections; ns-3's and htsim's transports are others",
    )
    words = (
        "10 ms after the last start"
        if seen.endless
        else "a limit: the trial ends when all flows are complete"
    )
    remarks.add(0, "experiment.duration", "assumed", words)
    return scenario, remarks


def _host(number: int) -> str:
    return f"h{number}"


def _each(seen: _Seen) -> dict[str, Yaml]:
    """Every flow with its own start, ends and size."""
    found: dict[str, Yaml] = {}
    for number, flow in enumerate(seen.flows, 1):
        start = {"start": time(flow.start_ps)} if flow.start_ps else {}
        same = {"group": GROUP} | _priority(flow.priority) | start
        source, destination = _host(flow.source), _host(flow.destination)
        if flow.size_bytes:
            found[f"flow{number}"] = {
                "kind": "flows",
                "sources": [source],
                "destinations": [destination],
                "sizes": size(flow.size_bytes),
                "interarrival": "1s",
                COUNT: 1,
                "first_at_start": True,
                **same,
            }
        else:
            found[f"flow{number}"] = {
                "kind": "stream",
                "source": source,
                "destination": destination,
                **same,
            }
    return found


def _together(seen: _Seen, record: Record) -> dict[str, Yaml]:
    """One workload with the distributions of a long list."""
    if seen.endless:
        words = f"more than {EXACT_MAX} flows, of which {seen.endless} have no end"
        record.refuse(words, "give each a size, or write a shorter list", line=0)
    words = (
        f"more than {EXACT_MAX} flows: their sizes and gaps are "
        "distributions, and their ends are drawn"
    )
    record.say("assumed", words, "", line=record.lines, lines=0)
    if seen.is_ordered and seen.gaps.mean >= 1:
        gaps = seen.gaps.stated(time)
    else:
        # Without the order, or for simultaneous flows, only the mean is known.
        gaps = time(max(1, round((seen.last_ps - seen.first_ps) / (seen.count - 1))))
        record.say(
            "assumed", "starts are not in order, or equal: the mean gap stands for all", "", lines=0
        )
    for ends, noun in ((seen.sources, "source"), (seen.destinations, "destination")):
        share = max(ends.values()) / seen.count
        if share > 2 / len(ends):
            words = (
                f"the busiest {noun} has {share:.0%} of the flows; here "
                "all hosts are equally likely"
            )
            record.say("not-modelled", words, "", lines=0)
    flows: Yaml = {
        "kind": "flows",
        "sources": [_host(number) for number in sorted(seen.sources)],
        "destinations": [_host(number) for number in sorted(seen.destinations)],
        "sizes": seen.sizes.stated(size),
        "interarrival": gaps,
        COUNT: seen.count,
        "first_at_start": True,
    }
    if seen.first_ps:
        flows["start"] = time(seen.first_ps)
    if len(seen.priorities) == 1:
        flows |= _priority(next(iter(seen.priorities)))
    return {GROUP: flows}


def _priority(priority: int) -> Yaml:
    return {"priority": priority} if priority and priority in PRIORITIES else {}
