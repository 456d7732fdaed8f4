"""The sender of `tailrace blast` for a workload of a scenario, and the program that counts its
frames where they arrive.
"""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import convert

from tailrace.files import write_text
from tailrace.live.lab.fabric import FabricError, program
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Load, Refusals, Task
from tailrace.live.measure.closings import Meant
from tailrace.outcome.types import DatagramCounts, Latency, Workload
from tailrace.programs.command import Command
from tailrace.programs.latency import cut_off_outcome
from tailrace.programs.marked_frame import HEADER_BYTES, End, marked_frame
from tailrace.programs.measured import PS_PER_S, Measured, MeasuredInterval
from tailrace.programs.needed import Needed
from tailrace.programs.series import Moved, Row, bytes_after
from tailrace.scenario.workloads.frames import Frames

INTERFACE = "eth0"
BEGIN_AFTER_S = 0.2
"""From the start of the trial to the first frame: both programs have opened their sockets by
then."""
NS_PER_S = 10**9
BINS_MIN = 1000
"""Also where no series is recorded: the goodput of the measured interval is that of its bins."""
PS_PER_NS = 1000
DELAY_NS_MAX = 10 * NS_PER_S
"""Longest pause of a thread (`crates/fabric/src/blast/order.rs`)."""


class Blast(Load):
    """Threads of one program that send frames, and one that receives them."""

    load_name = "blast"
    sort = "raw-frames"
    needs: ClassVar[tuple[Needed, ...]] = ()
    marks_itself = True
    writes_headers = True

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._plan: dict[str, Any] = {}
        self._sink: Program | None = None
        self._sender: Program | None = None
        self._frame = b""
        self._origin_ns = 0
        """Start of the trial (CLOCK_REALTIME)."""
        self._is_over = False

    @classmethod
    def refusals(cls, workload: Frames) -> Refusals:
        """A pause that its threads would not wake from in the trial."""
        if workload.delay > DELAY_NS_MAX * PS_PER_NS:
            yield (
                ("delay",),
                "threads of a live run pause for at most 10 s",
                "write at most 10s, or a `rate`",
            )

    @property
    def ends(self) -> tuple[str, str]:
        """From source to destination."""
        return str(self.task.raw["source"]), str(self.task.raw["destination"])

    @property
    def opens(self) -> tuple[str, str]:
        """The source sends."""
        return self.ends

    @property
    def waiting(self) -> int:
        """Its threads."""
        return int(self.task.raw["threads"])

    def exposed(self, send_buffer_bytes: int) -> float:
        """Zero: no user waits for a frame, and the sender reports when its threads were off their
        cores."""
        return 0.0

    @property
    def is_finite(self) -> bool:
        """Never: a lost frame is not sent again."""
        return False

    @property
    def ports(self) -> int:
        """That of the receiver."""
        return 1

    @property
    def _begin_s(self) -> float:
        """First frame, from the start of the trial."""
        return max(BEGIN_AFTER_S, float(self.task.raw["start_ps"]) / PS_PER_S)

    def prepare(self, lab: Lab) -> None:
        """Makes the frame."""
        self._plan = json.loads((lab.folder / "plan.json").read_text(encoding="utf-8"))
        raw = self.task.raw
        indices = {host["name"]: index for index, host in enumerate(self._plan["hosts"])}
        vlan = int(raw.get("vlan") or 0)
        source, destination = (End(indices[host], lab.address(host, vlan)) for host in self.ends)
        size = int(raw["payload_bytes"]) + HEADER_BYTES
        self._frame = marked_frame(
            source, destination, self.task.first_port, size, int(raw.get("dscp") or 0)
        )

    def tick(self, lab: Lab, elapsed_s: float) -> None:
        """Starts the receiver with the trial, and the sender as soon as it listens."""
        if self._sink is None:
            self._origin_ns = time.time_ns() - round(elapsed_s * NS_PER_S)
            self._sink = lab.start(self._command(lab, "catch", self.ends[1], self._catch_order()))
        elif self._sender is None and self._sink.output().startswith("ready"):
            self._sender = lab.start(self._command(lab, "blast", self.ends[0], self._blast_order()))

    def _command(self, lab: Lab, word: str, host: str, order: Mapping[str, Any]) -> Command:
        name = f"{word}-{self.name}"
        path = (lab.folder / "logs" / f"{name}.json").absolute()
        write_text(path, json.dumps(order))
        return Command(name, [str(program()), word], host=host, stdin=str(path))

    def _catch_order(self) -> dict[str, Any]:
        observe = self._plan["observe"]
        until_ns = self._origin_ns + round(self.task.limit_s * NS_PER_S)
        return {
            "interface": INTERFACE,
            "port": self.task.first_port,
            "origin_ns": self._origin_ns,
            "from_ns": min(until_ns, self._origin_ns + observe.get("warm_up_ps", 0) // PS_PER_NS),
            "until_ns": until_ns,
            "bins_max": max(BINS_MIN, observe["series_bins"]),
            "bin_ps": observe["series_bin_ps"],
            "rows_max": observe["transactions_max"],
        }

    def _blast_order(self) -> dict[str, Any]:
        raw = self.task.raw
        return {
            "namespace": None,
            "interface": INTERFACE,
            "is_machine_allowed": False,
            "rounds": [[self._frame.hex()]],
            "threads": raw["threads"],
            "delay_ns": raw["delay_ps"] // PS_PER_NS,
            "interval_ps": raw["interval_ps"],
            "count": raw["count"],
            "limit_ns": max(1, round((self.task.limit_s - self._begin_s) * NS_PER_S)),
            "is_queued": False,
            "workload": {
                "name": self.name,
                "seed": self.task.seed,
                "begin_ns": self._origin_ns + round(self._begin_s * NS_PER_S),
                "priority": raw["priority"],
                "cost": raw["cost"],
                "locked": raw["locked"],
            },
        }

    @property
    def programs(self) -> Sequence[Program]:
        """Sender and receiver."""
        return [each for each in (self._sender, self._sink) if each is not None]

    @property
    def is_done(self) -> bool:
        """Whether the sender has ended."""
        return self._sender is not None and self._sender.ended is not None

    def stop(self, lab: Lab) -> None:
        """Ends the sender, then the receiver, which waits for frames in flight."""
        if self._sender is None:
            raise FabricError(f"blast-{self.name}: the trial was over before its receiver listened")
        for each in self.programs:
            each.signal("TERM")
            if not each.wait(STOP_LIMIT_S).is_good:
                raise FabricError(each.complaint())

    def connections(self, lab: Lab) -> Meant | None:
        """Frames have none."""
        return None

    def report(self) -> str:
        """The counts of the sender and the receiver."""
        sent, received = self._sent(), self._received()
        late = (
            f"; threads were away for more than 1 ms {sent['gaps']} times" if sent["gaps"] else ""
        )
        missed = (
            f"; {received['overruns']} not counted for want of memory"
            if received["overruns"]
            else ""
        )
        return (
            f"{sent['sent']} sent, {sent['refused']} refused, {received['received']} "
            f"received{missed}{late}\n"
        )

    def measured(self, interval: MeasuredInterval) -> Measured:
        """From the counts of both ends."""
        sent, received = self._sent(), self._received()
        if received["overruns"]:
            raise FabricError(
                f"catch-{self.name}: {received['overruns']} frames came "
                "faster than it could count them"
            )
        span_ps = round(interval.span_s * PS_PER_S)
        payload, bin_ps = int(self.task.raw["payload_bytes"]), int(received["bin_ps"])
        bins = enumerate(received["bins"])
        moved = [
            Moved(n * bin_ps, (n + 1) * bin_ps, count * payload).until(span_ps)
            for n, count in bins
            if count
        ]
        outcome = Workload(
            name=self.name,
            kind="frames",
            counted_from_ps=interval.counted_from_ps,
            completion_ps=None,
            transactions=0,
            goodput_bytes=bytes_after(moved, interval.counted_from_ps),
            latency=convert(received["latency"], Latency | None),
            user_completion_ps=[],
            cut_off=cut_off_outcome([]),
            datagrams=DatagramCounts(
                sent=sent["sent"],
                delivered=min(sent["sent"], received["received"]),
                refused=sent["refused"],
            ),
        )
        rows = [Row(0, start_ps, delay_ps) for start_ps, delay_ps in received["rows"]]
        return Measured(
            outcome,
            rows,
            moved,
            round(self._begin_s * PS_PER_S),
            refused={self.ends[0]: sent["refused"]},
        )

    def _sent(self) -> Any:
        assert self._sender is not None, "`stop` has looked"
        return _answer(self._sender.out_path)

    def _received(self) -> Any:
        assert self._sink is not None, "it was started before the sender"
        return _answer(self._sink.out_path)


def _answer(path: Path) -> Any:
    """The last line of a program's output."""
    try:
        return json.loads(path.read_text(encoding="utf-8").splitlines()[-1])
    except (IndexError, ValueError):
        raise FabricError(f"{path.name}: the program reported nothing") from None
