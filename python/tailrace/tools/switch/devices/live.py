"""A switch between two network namespaces of this machine, and the generator that sends frames
through it."""

import json
import socket
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.live.public import (
    POLLING,
    FabricError,
    Lab,
    Program,
    fabric_program,
    kind_of,
    prepare_machine,
)
from tailrace.programs.command import Command
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.text.units import RATE, QuantityError, parse
from tailrace.tools.switch.frames import SIZES, mtu_of
from tailrace.tools.switch.trial import Latency, Trial, TrialRequest

SENDER, RECEIVER = "sender", "receiver"
"""Hosts of the lab, in the order in which the generator expects them."""
VHOST = "ovs-vhost"
"""The kind of lab with Open vSwitch and DPDK whose ports are memory of the generator."""
VHOST_SOCKETS = ("/run/tailrace-ovs/vhost-0", "/run/tailrace-ovs/vhost-1")
"""Of sender and receiver, in the lab's own memory."""
NO_SWITCH = "ports"
"""The kind of lab whose hosts nothing joins."""
ALONE_S = 0.3
"""Length of the trial that measures the sender without a switch."""
ANSWER_S = 30.0
"""Time of a trial beside its length: what is under way, and a busy machine."""
OPEN_S = 30.0
"""Open vSwitch looks for a port once in a second, and must have forwarded a frame."""
POLL_S = 0.02
STOLEN_SHARE_MAX = 0.01
"""A trial in which a hypervisor gave more of the cores to others is invalid."""
NS_PER_S = 10**9
PS_PER_NS = 1_000
FRAMES_MAX = 10**12
TRIALS = 2**16
"""Numbers of trials begin again after so many."""
SENDER_CORES = [0]
"""Open vSwitch polls on the last core. The thread of the built-in switch may run anywhere, and
comes first there."""


class LiveSwitch:
    """A fabric of this machine. A context manager: the lab is up while it is entered."""

    is_simulated = False

    def __init__(self, kind: str, rate: str, mtu: int | None = None) -> None:
        self._kind = kind_of(kind)
        try:
            self.rate_bps = parse(rate, RATE)
        except QuantityError as error:
            raise RunRefusedError(f"--rate: {error.what} (hint: {error.hint})") from None
        self._lab_kind = VHOST if self._kind.name == POLLING else self._kind.name
        self.mtu = mtu or mtu_of(SIZES[-1])
        self._plan = _plan(rate, self.mtu)
        self._stack = ExitStack()
        self._generator: Generator | None = None
        self._alone: dict[int, float] = {}

    @property
    def title(self) -> str:
        """The fabric."""
        where = (
            "two programs' memory (vhost-user)"
            if self._lab_kind == VHOST
            else "two network namespaces"
        )
        return f"{self._kind.words} (--fabric {self._kind.name}), between {where}"

    @property
    def facts(self) -> dict[str, Any]:
        """What the result file keeps."""
        return {"fabric": self._kind.name, "mtu_bytes": self.mtu}

    def prepare(self, say: Any) -> None:
        """Raises `RunRefusedError` if this machine lacks something; removes what a killed run
        left."""
        prepare_machine(self._kind, say)

    def __enter__(self) -> "LiveSwitch":
        self._generator = self._stack.enter_context(Generator(self._lab_kind, self._plan))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
        self._generator = None

    def run(self, request: TrialRequest) -> Trial:
        """One trial."""
        assert self._generator is not None, "the lab is up"
        return self._generator.run(request)

    def sender_fps(self, frame_bytes: int) -> float | None:
        """What the sender reaches where no switch takes its frames, measured once for each size."""
        if self._lab_kind in (TAP, VHOST):
            return None
        if frame_bytes not in self._alone:
            request = TrialRequest.at(frame_bytes, 1, ALONE_S)
            request = TrialRequest(frame_bytes, 0, min(request.frames, 2**30))
            with Generator(NO_SWITCH, self._plan) as alone:
                answer = alone.ask(request, ALONE_S, residue=False)
            self._alone[frame_bytes] = answer["sent"] * NS_PER_S / max(answer["sending_ns"], 1)
        return self._alone[frame_bytes]

    def latency_ns(self, frame_bytes: int) -> float | None:
        """What the kernels of both ends take cannot be told from the switch's part."""
        return None


class Generator:
    """A lab with the generator in it."""

    def __init__(self, kind: str, plan_json: str) -> None:
        self._kind, self._plan = kind, plan_json
        self._stack = ExitStack()
        self._trial = 0
        self._program: Program | None = None
        self._line: socket.socket | None = None
        self._answers: Any = None

    def __enter__(self) -> "Generator":
        try:
            self._open()
        except BaseException:
            self._stack.close()
            raise
        return self

    def _open(self) -> None:
        folder = Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="tailrace-measure-"))
        )
        # The built-in switch is told that this machine sustains what is about to be measured.
        options = (
            ["--frames-per-second-max", str(FRAMES_MAX)]
            if self._kind == TAP
            else ["--kind", self._kind, "--unshaped"]
        )
        lab = self._stack.enter_context(Lab(self._plan, folder, *options))
        state = json.loads((folder / "lab.json").read_text(encoding="utf-8"))
        listen = folder / "generator.sock"
        argv = [
            str(fabric_program()),
            "generator",
            "--listen",
            str(listen),
            *_ends(self._kind, state),
        ]
        cores = None if self._kind == TAP else SENDER_CORES
        self._program = lab.start(Command("generator", argv, host=SENDER, cores=cores))
        self._line = self._stack.enter_context(self._connected(listen))
        self._answers = self._stack.enter_context(self._line.makefile("r", encoding="utf-8"))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def _connected(self, path: Path) -> socket.socket:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        deadline = time.monotonic() + OPEN_S
        while True:
            try:
                line.connect(str(path))
            except OSError:
                if self._program is not None and self._program.ended is not None:
                    line.close()
                    raise FabricError(self._program.complaint()) from None
                if time.monotonic() > deadline:
                    line.close()
                    raise FabricError(f"the generator did not listen within {OPEN_S:g} s") from None
                time.sleep(POLL_S)
            else:
                return line

    def run(self, request: TrialRequest) -> Trial:
        """One trial."""
        answer = self.ask(request, request.duration_s)
        latency = answer["latency_ns"]
        return Trial(
            request,
            offered=answer["sent"],
            forwarded=answer["received"],
            sending_s=answer["sending_ns"] / NS_PER_S,
            duplicates=answer["duplicates"],
            reordered=answer["reordered"],
            latency=None if latency is None else Latency(**latency),
            paused_s=answer["gaps_ns"] / NS_PER_S,
            blocked_share=answer["blocked_share"],
            invalid=_invalid(answer),
        )

    def ask(self, request: TrialRequest, limit_s: float, *, residue: bool = True) -> dict[str, Any]:
        """Sends a request to the generator and waits for its report."""
        assert self._line is not None, "it is open"
        self._trial = (self._trial + 1) % TRIALS
        order = {
            "frame_bytes": request.frame_bytes,
            "interval_ps": request.interval_ps,
            "frames": request.frames,
            "limit_ns": max(1, round(limit_s * NS_PER_S)),
            "trial": self._trial,
            "awaits": residue,
        }
        self._line.settimeout(limit_s + ANSWER_S)
        try:
            self._line.sendall((json.dumps(order) + "\n").encode())
            text = self._answers.readline()
        except TimeoutError:
            raise FabricError(
                f"the generator did not answer within {limit_s + ANSWER_S:g} s"
            ) from None
        except OSError as error:
            raise FabricError(f"the generator does not answer: {error.strerror or error}") from None
        if not text:
            raise FabricError(
                self._program.complaint() if self._program else "the generator has ended"
            )
        answer: dict[str, Any] = json.loads(text)
        if "error" in answer:
            raise FabricError(f"the generator: {answer['error']}")
        return answer


def _ends(kind: str, state: Mapping[str, Any]) -> list[str]:
    """Where the generator sends and receives."""
    if kind == VHOST:
        return [word for path in VHOST_SOCKETS for word in ("--vhost", path)]
    # The lab is the first process of its namespace.
    receiver = ["--receiver", f"/proc/1/fd/{state['network_files'][RECEIVER]}"]
    # The built-in switch needs the times that the queue of the sending interface puts into frames.
    return [*receiver, "--queued"] if kind == TAP else receiver


def _invalid(answer: Mapping[str, Any]) -> str:
    """What the machine did to a trial; empty for nothing."""
    if answer["gaps"]:
        return f"the sender was paused for {answer['longest_gap_ns'] / 1e6:.1f} ms"
    if answer["stolen_share"] > STOLEN_SHARE_MAX:
        return f"{answer['stolen_share']:.1%} of the cores' time was taken by the hypervisor"
    if answer["overruns"]:
        return f"the receiver had no room for {answer['overruns']} frames"
    return ""


def _plan(rate: str, mtu: int) -> str:
    """Two hosts at one switch."""
    data = {
        "tailrace": 1,
        "name": "measure",
        "network": {
            "topology": {"kind": "star", "hosts": [SENDER, RECEIVER]},
            "link": {"rate": rate, "delay": "0us"},
        },
        "hosts": {"defaults": {"mtu": f"{mtu}B"}},
        "workloads": {
            "frames": {"kind": "stream", "source": SENDER, "destination": RECEIVER, "size": "1kB"}
        },
        "experiment": {"duration": "1s"},
    }
    return canonical_json(lower(load_scenario(data).scenario, "base", 1))
