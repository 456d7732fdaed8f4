"""Real programs of one exact trial: the programs of the guests, and the figures that their logs add
to the outcome."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from tailrace.exact.load import (
    BEGUN_WALL_US,
    Addresses,
    GuestLoad,
    GuestProgram,
    GuestTask,
    Outputs,
)
from tailrace.exact.registry import chosen, loads
from tailrace.experiment.native import Columns, Ran, column, values
from tailrace.outcome.types import Exact, ExactHost, ExactPrograms
from tailrace.programs.command import tail
from tailrace.programs.errors import ProgramError
from tailrace.programs.measured import PS_PER_S, Measured, MeasuredInterval
from tailrace.programs.needed import version_of
from tailrace.programs.series import cut_off_table, goodput_table, transactions_table
from tailrace.programs.templates import Stock
from tailrace.scenario.workloads.planned import PlannedWorkload, planned_workloads

REPORT_CHARACTERS_MAX = 8000
"""Maximum characters of a program's report."""
MEMORY_MIB = 256
"""Of a guest without programs of these: the default of the engine
(`crates/exact/src/commands.rs`)."""


class RealPrograms:
    """The loads of those workloads of a plan that name a program."""

    def __init__(self, plan: Mapping[str, Any], folder: Path, templates: Stock) -> None:
        self._plan = plan
        self._folder = folder
        self._workloads = planned_workloads(plan)
        self._hosts = [str(host["name"]) for host in plan["hosts"]]
        addresses = Addresses(self._hosts, [own.vlan for own in self._workloads if own.vlan])
        is_endless = not any(own.work for own in self._workloads)
        devices = {str(each["name"]): each for each in plan.get("devices") or []}
        self._loads: dict[str, GuestLoad] = {}
        for own in self._workloads:
            name = chosen(own.kind, own.flat)
            if name is not None:
                is_awaited = is_endless or bool(own.work)
                limit_s = plan["stop_at_ps"] / PS_PER_S
                shared = self._sharing(own)
                task = GuestTask(
                    own.flat,
                    plan["seed"],
                    limit_s,
                    is_awaited,
                    folder,
                    addresses,
                    templates,
                    shared,
                    devices,
                )
                self._loads[own.name] = loads()[name](task)
        every = {
            (each.host, each.name): each
            for load in self._loads.values()
            for each in load.programs()
        }
        self.programs: Sequence[GuestProgram] = list(every.values())

    def _sharing(self, own: PlannedWorkload) -> list[Mapping[str, Any]]:
        """Workloads whose real programs use the server of this one."""
        return [
            each.flat for each in self._workloads if self._server_of(each) == self._server_of(own)
        ]

    @staticmethod
    def _server_of(own: PlannedWorkload) -> tuple[str, Any] | None:
        """Host and name of the server of a real program; loads of different names may use one."""
        name = chosen(own.kind, own.flat)
        if name is None:
            return None
        load = loads()[name]
        return load.server_of(own.flat), load.service_of(own.flat) or name

    @property
    def names(self) -> list[str]:
        """Workloads that real programs generate."""
        return list(self._loads)

    @property
    def is_all(self) -> bool:
        """Whether nothing is left for the traffic program."""
        return len(self._loads) == len(self._workloads)

    @property
    def memory_mib(self) -> int:
        """Memory of each guest: unused memory costs nothing."""
        return MEMORY_MIB + sum(load.memory_mib for load in self._loads.values())

    def added_to(self, ran: Ran, exact: Exact) -> Ran:
        """The outcome and the tables of the engine, with the programs' figures added."""
        self._judge(exact.hosts)
        span_ps = exact.span_ps
        warm_up_s = self._plan["observe"].get("warm_up_ps", 0) / PS_PER_S
        interval = MeasuredInterval(BEGUN_WALL_US, span_ps / PS_PER_S, warm_up_s)
        measured = {name: load.measured(interval) for name, load in self._loads.items()}
        every = {one.name: one for one in ran.outcome.workloads}
        every |= {name: one.outcome for name, one in measured.items()}
        workloads = [every[each.name] for each in self._workloads]
        complete = [one.completion_ps for one in workloads if one.completion_ps is not None]
        is_finished = len(complete) == len(workloads)
        outcome = structs.replace(
            ran.outcome,
            workloads=workloads,
            exact=structs.replace(exact, programs=self._record()),
            finished=is_finished,
            end_ps=max(complete) if is_finished else span_ps,
        )
        tables = dict(ran.tables)
        made = self._tables([measured.get(each.name) for each in self._workloads], outcome.end_ps)
        for name, columns in made.items():
            tables[name] = joined(tables[name], columns) if name in tables else columns
        return Ran(outcome, tables)

    def _record(self) -> ExactPrograms:
        """The executed programs: command lines, configurations, and the programs' own reports."""
        loads = self._loads.items()
        loaded = self._loads.values()
        needed = dict.fromkeys(
            each for load in loaded for each in load.needs_with(load.service_of(load.task.raw))
        )
        return ExactPrograms(
            versions={each.program: version_of(each) for each in needed},
            commands={f"{each.host}/{each.name}": list(each.words) for each in self.programs},
            configurations={
                name: text for _, load in loads for name, text in load.configurations.items()
            },
            reports={
                name: text[-REPORT_CHARACTERS_MAX:]
                for name, load in loads
                if (text := load.report())
            },
        )

    def _tables(self, measured: Sequence[Measured | None], end_ps: int) -> dict[str, Columns]:
        observe = self._plan["observe"]
        rows_max = observe["transactions_max"]
        return {
            "transactions": transactions_table(
                [one.rows if one else [] for one in measured], rows_max
            ),
            "cut_off": cut_off_table([one.cut_off if one else [] for one in measured], rows_max),
            "workload_series": goodput_table(
                [one.moved if one else [] for one in measured],
                end_ps,
                observe["series_bin_ps"],
                observe["series_bins"],
            ),
        }

    def _judge(self, hosts: Sequence[ExactHost]) -> None:
        """Raises `ProgramError` for a program that did not end well after its stop. Notes the
        folder of each program's outputs."""
        for host in hosts:
            own = [each for each in self.programs if each.host == host.name]
            codes = host.programs
            first = len(codes) - len(own)
            for number, (program, code) in enumerate(
                zip(own, codes[first:], strict=True), start=first
            ):
                outputs = Outputs(self._folder / "hosts" / program.host / "out", number)
                for load in self._loads.values():
                    load.outputs[program.host, program.name] = outputs
                if code != 0 and not (code is None and program.ends_by_signal):
                    how = "had to be killed" if code is None else f"ended with status {code}"
                    lines = tail(outputs.errors)
                    raise ProgramError(
                        f"host {program.host}: {program.name} {how}: {' | '.join(lines)}"
                    )


def joined(one: Columns, other: Columns) -> Columns:
    """The rows of two tables, in the order of workloads; a column that the second one lacks is 0
    there."""
    rows = [*_rows(one), *_rows(other)]
    rows.sort(key=lambda row: row["workload"])
    return {
        name: column(kind, [row.get(name, 0) for row in rows]) for name, (kind, _) in one.items()
    }


def _rows(table: Columns) -> Iterator[dict[str, Any]]:
    for row in zip(*values(table).values(), strict=True):
        yield dict(zip(table, row, strict=True))
