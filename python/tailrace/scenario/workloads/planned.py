"""Workloads of a plan: the only reader of their bodies, for results, reports and live runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import to_builtins

from tailrace.plan.types import Plan
from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.kinds import kind_named
from tailrace.scenario.workloads.ports import EPHEMERAL, Traffic

HEADER_DEFAULTS = {"dscp": 0, "vlan": 0, "start_ps": 0}
"""Defaults for missing keys of a header."""
FIRST_HEADER_KEYS = ("name", "priority", "dscp", "vlan", "start_ps")
"""Keys that plans of version 1 have among those of the kind."""


@dataclass(frozen=True)
class PlannedWorkload:
    """A workload of a plan."""

    kind: str
    header: Mapping[str, Any]
    """Keys that every kind has."""
    body: Mapping[str, Any]
    """Keys of its kind."""

    @property
    def name(self) -> str:
        """Name in results."""
        return str(self.header["name"])

    @property
    def vlan(self) -> int:
        """VLAN of its frames; 0 for none."""
        return int(self.header.get("vlan") or 0)

    @property
    def flat(self) -> dict[str, Any]:
        """All of its keys, including those for live runs only."""
        return {**HEADER_DEFAULTS, **self.header.get("live", {}), **self.header, **self.body}

    @property
    def facts(self) -> Facts:
        """Facts about its kind."""
        return self._class.facts()

    @property
    def ends(self) -> Ends:
        """Its hosts."""
        return self._class.ends_in(self.body)

    @property
    def work(self) -> int:
        """Its total work, in units of `Facts.noun`; 0 for an endless workload."""
        return self._class.work_in(self.body)

    @property
    def crossings(self) -> int | None:
        """Number of times that a transaction crosses a port of its path; None for a kind without
        transactions."""
        return self._class.crossings_in(self.body)

    @property
    def are_datagrams(self) -> bool:
        """Whether all of its packets are datagrams, which have no connection."""
        return self._class.are_datagrams_in(self.body)

    @property
    def endless_connections(self) -> int | None:
        """Number of its connections that carry bulk data without an end; None without any."""
        return self._class.endless_connections_in(self.body)

    @property
    def traffic(self) -> list[Traffic]:
        """Its frames, by server and direction."""
        header, found = self.header, list[Traffic]()
        for serving in self._class.servings_in(self.body, int(header.get("port") or 0)):
            asking = Traffic(
                workload=self.name,
                priority=int(header["priority"]),
                dscp=int(header.get("dscp") or 0),
                vlan=self.vlan,
                protocol=serving.protocol,
                sources=frozenset(serving.clients),
                destinations=frozenset(serving.hosts),
                source_ports=tuple(header.get("client_ports") or EPHEMERAL),
                destination_ports=(serving.port, serving.port),
                is_answer=False,
            )
            found += (
                [asking, asking.answer()] if self._class.is_answered_in(self.body) else [asking]
            )
        return found

    @property
    def _class(self) -> type[WorkloadKind]:
        return kind_named(self.kind)


def planned_workloads(plan: Mapping[str, Any]) -> list[PlannedWorkload]:
    """The workloads of a plan, in its order. Also reads plans of version 1 from older run
    directories."""
    return [_planned(entry) for entry in plan.get("workloads", [])]


def workloads_of(plan: Plan) -> list[PlannedWorkload]:
    """The workloads of a plan that was read as its type, in its order."""
    return [
        PlannedWorkload(kind, to_builtins(own.header), body)
        for own in plan.workloads
        for kind, body in own.body.items()
    ]


def _planned(entry: Mapping[str, Any]) -> PlannedWorkload:
    if "header" in entry:
        [(kind, body)] = entry["body"].items()
        return PlannedWorkload(kind, entry["header"], body)
    [(kind, own)] = entry.items()
    header = {key: own[key] for key in FIRST_HEADER_KEYS if key in own}
    return PlannedWorkload(
        kind, header, {key: value for key, value in own.items() if key not in header}
    )
