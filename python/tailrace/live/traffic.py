"""The traffic program in a live trial: the simulator's programs of one workload, over sockets of
this machine's kernel.

Every host of the workload has a process. Their recordings are merged at the end.
"""

import json
import subprocess
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import structs

from tailrace.files import make_folder, write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Load, Task
from tailrace.outcome.types import TrafficHost, TrafficOutcome, Workload
from tailrace.programs.command import Command
from tailrace.programs.measured import PS_PER_S, Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.series import Moved, Row
from tailrace.scenario.workloads.ports import EPHEMERAL, PORT_MAX

NAME = "tailrace-traffic"
CLIENT_PORTS = 20_000
"""Of all workloads of a trial."""
BEGIN_AFTER_S = 0.1
"""From the moment when every node has opened its sockets to the first transaction."""
READY_LIMIT_S = 60
"""Time limit for a node to open its sockets."""
BEGIN = "begin"
"""A file that says when the first transaction begins."""
MERGE_LIMIT_S = 60


class TrafficLoad(Load):
    """The hosts of one workload, a process for each."""

    needs: ClassVar[tuple[Needed, ...]] = ()
    binds_clients = True
    prefix: ClassVar[str]
    """Of the names of its processes."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.host_reports: Sequence[TrafficHost] = ()
        """The report of each process, after `measured`."""
        self._folder = Path()
        self._plan: dict[str, Any] = {}
        self._nodes: dict[str, Program] = {}
        self._started_s = 0.0
        """Start of the processes, from the start of the trial."""
        self._begun_s: float | None = None
        """First transaction, from the start of the trial."""

    @property
    @abstractmethod
    def nodes(self) -> Sequence[str]:
        """Hosts with a process."""

    @property
    def first_client_port(self) -> int:
        """Ports of clients, from this one on: those of the plan, or ephemeral ones apart from other
        workloads."""
        if own := self.task.raw.get("client_ports"):
            return int(own[0])
        return EPHEMERAL[0] + self.task.first_port % CLIENT_PORTS

    def client_ports(self) -> list[int]:
        """By user, where each has one connection."""
        return []

    def mean_lateness_us(self) -> float | None:
        """Mean lateness of the transactions' starts; None where it is not reported."""
        return None

    def prepare(self, lab: Lab) -> None:
        """Writes the plan with this workload alone."""
        self._folder = (lab.folder / "logs" / f"{self.prefix}-{self.name}").absolute()
        make_folder(self._folder)
        plan = json.loads((lab.folder / "plan.json").read_text(encoding="utf-8"))
        [own] = [each for each in plan["workloads"] if each["header"]["name"] == self.name]
        header = {
            "client_ports": [self.first_client_port, PORT_MAX],
            **own["header"],
            "port": self.task.first_port,
        }
        self._plan = plan | {
            "workloads": [own | {"header": header}],
            "stop_at_ps": round(self.task.limit_s * PS_PER_S),
        }
        write_text(self._folder / "plan.json", json.dumps(self._plan))

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """All nodes start with the trial, and begin when all are ready."""
        if not self._nodes:
            self._started_s = elapsed_s
            vlan = int(self.task.raw.get("vlan") or 0)
            addresses = [
                f"{_address_key(node, vlan)}={lab.address(node, vlan)}" for node in self.nodes
            ]
            self._nodes = {node: lab.start(self._command(node, addresses)) for node in self.nodes}
        elif self._begun_s is None:
            self._begin(elapsed_s)

    def _begin(self, elapsed_s: float) -> None:
        """Announces the start, once every node listens: a connection to a node that does not listen
        would be refused."""
        now_ns = time.monotonic_ns()
        if late := [node for node in self._nodes if not (self._folder / f"{node}.ready").is_file()]:
            if elapsed_s - self._started_s > READY_LIMIT_S:
                raise FabricError(
                    f"{self.name}: {', '.join(late)} did not listen within {READY_LIMIT_S} s"
                )
            return
        self._begun_s = elapsed_s + BEGIN_AFTER_S
        # A line that is not whole is not read, and nothing waits for a disk.
        (self._folder / BEGIN).write_text(
            f"{now_ns + round(BEGIN_AFTER_S * 1e9)}\n", encoding="ascii"
        )

    def _command(self, node: str, addresses: Sequence[str]) -> Command:
        argv = [str(program()), "guest", "--plan", str(self._folder / "plan.json"), "--host", node]
        argv += [
            "--begin-file",
            str(self._folder / BEGIN),
            "--clock",
            "monotonic",
            "--out",
            str(self._folder),
        ]
        argv += ["--congestion", "system"]
        argv += [word for address in addresses for word in ("--address", address)]
        return Command(
            f"{self.prefix}-{self.name}-{node}",
            argv,
            host=node,
            priority=self.task.raw["priority"] or None,
        )

    @property
    def programs(self) -> Sequence[Program]:
        """A process for each node."""
        return list(self._nodes.values())

    @property
    def is_done(self) -> bool:
        """Whether every node has reported that its work is done."""
        finished = [(self._folder / f"{node}.finished").is_file() for node in self._nodes]
        return self.is_finite and bool(finished) and all(finished)

    def stop(self, lab: Lab) -> None:
        """Ends the processes, which then write their recordings."""
        for each in self._nodes.values():
            each.signal("TERM")
        for each in self._nodes.values():
            if not each.wait(STOP_LIMIT_S).is_good:
                raise FabricError(each.complaint())

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the records of all nodes."""
        if self._begun_s is None:
            raise FabricError(f"{self.name}: the trial was over before every node listened")
        begun_ps = round(self._begun_s * PS_PER_S)
        merged = self._merged(interval, begun_ps)
        [own] = merged.workloads
        self.host_reports = merged.hosts
        assert merged.tables is not None, "they are asked for"
        tables: Mapping[str, Mapping[str, Sequence[Any]]] = merged.tables
        # Workloads with an end are timed from their own begin, as in a simulated trial; others
        # count from there on.
        shift_ps = 0 if self.is_finite else begun_ps
        moved, width_ps = (
            tables["workload_series"],
            self._series_width_ps(tables["workload_series"]),
        )
        return Measured(
            _shifted(own, shift_ps),
            _rows(tables["transactions"], "latency_ps", shift_ps),
            [
                Moved(shift_ps + start, shift_ps + start + width_ps, size)
                for start, size in zip(moved["start_ps"], moved["goodput_bytes"], strict=True)
            ],
            begun_ps,
            self.mean_lateness_us(),
            _rows(tables["cut_off"], "waited_ps", shift_ps),
            offset_ps=begun_ps - shift_ps,
            client_ports=self.client_ports(),
        )

    def _series_width_ps(self, series: Mapping[str, Sequence[int]]) -> int:
        """Bins double in width when a trial outgrows them."""
        starts = series["start_ps"]
        return (
            starts[1] - starts[0]
            if len(starts) > 1
            else int(self._plan["observe"]["series_bin_ps"])
        )

    def _merged(self, interval: MeasuredInterval, begun_ps: int) -> TrafficOutcome:
        observe = self._plan["observe"] | {
            "warm_up_ps": max(0, interval.counted_from_ps - begun_ps)
        }
        write_text(self._folder / "merged.json", json.dumps(self._plan | {"observe": observe}))
        end_ps = max(1, round(interval.span_s * PS_PER_S) - begun_ps)
        argv = [
            str(program()),
            "merge",
            "--plan",
            str(self._folder / "merged.json"),
            "--end-ps",
            str(end_ps),
        ]
        argv += [str(self._folder / f"{node}.traffic") for node in self._nodes]
        try:
            done = subprocess.run(
                argv, capture_output=True, text=True, timeout=MERGE_LIMIT_S, check=False
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise FabricError(f"{NAME} merge: {error}") from None
        if done.returncode:
            raise FabricError(f"{NAME} merge: {done.stderr.strip()}")
        return msgspec.json.decode(done.stdout, type=TrafficOutcome)


def program() -> Path:
    """Path of the program; raises `FabricError` if it is not built."""
    path = Path(__file__).parents[1] / "bin" / NAME
    if not path.is_file():
        raise FabricError(f"{NAME} is not built (hint: run `make build`)")
    return path


def _address_key(node: str, vlan: int) -> str:
    return f"{node}.{vlan}" if vlan else node


def _shifted(own: Workload, begun_ps: int) -> Workload:
    """The outcome of a workload, with times from the start of the trial. Linux reports its
    connections itself."""
    return structs.replace(
        own,
        tcp=None,
        limits=None,
        connection_bytes=None,
        completion_ps=None if own.completion_ps is None else own.completion_ps + begun_ps,
        counted_from_ps=own.counted_from_ps + begun_ps,
        user_completion_ps=[None if at is None else at + begun_ps for at in own.user_completion_ps],
    )


def _rows(table: Mapping[str, Sequence[int]], latency: str, begun_ps: int) -> list[Row]:
    columns = (table["user"], table["start_ps"], table[latency])
    return [
        Row(user, start + begun_ps, waited) for user, start, waited in zip(*columns, strict=True)
    ]
