"""Workloads of a plan: the one reader of their place and layout in JSON, for results, reports and live runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.facts import Ends, Facts
from tailrace.scenario.workloads.kinds import kind_named


@dataclass(frozen=True)
class PlannedWorkload:
    """A workload of a plan."""

    kind: str
    header: Mapping[str, Any]
    """What every kind has."""
    body: Mapping[str, Any]
    """What only its kind has."""

    @property
    def name(self) -> str:
        """Name in results."""
        return str(self.header["name"])

    @property
    def vlan(self) -> int:
        """VLAN of its frames; 0 for none."""
        return int(self.header.get("vlan") or 0)

    @property
    def facts(self) -> Facts:
        """What is true of its kind."""
        return self._class.facts()

    @property
    def ends(self) -> Ends:
        """Its hosts."""
        return self._class.ends_in(self.body)

    @property
    def work(self) -> int:
        """What it does in all, in units of `Facts.noun`; 0 when it is never done."""
        return self._class.work_in(self.body)

    @property
    def crossings(self) -> int | None:
        """How often a transaction crosses a port on its way; None where there are no transactions."""
        return self._class.crossings_in(self.body)

    @property
    def _class(self) -> type[WorkloadKind]:
        return kind_named(self.kind)


def planned_workloads(plan: Mapping[str, Any]) -> list[PlannedWorkload]:
    """The workloads of a plan, in its order."""
    return [_flat(entry) for entry in plan.get("workloads", [])]


HEADER_KEYS = ("name", "priority", "dscp", "vlan", "start_ps")


def _flat(entry: Mapping[str, Any]) -> PlannedWorkload:
    [(kind, own)] = entry.items()
    header = {key: own[key] for key in HEADER_KEYS if key in own}
    return PlannedWorkload(kind, header, {key: value for key, value in own.items() if key not in header})
