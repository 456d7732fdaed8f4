"""A running lab: hosts joined by the fabric, programs started in them. All of it ends with the
block."""

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal

from msgspec import convert

from tailrace.files import make_folder, require_plain, write_text
from tailrace.live.lab.clean import clean
from tailrace.live.lab.fabric import FabricError, program
from tailrace.live.lab.program import STOP_GRACE_S, Program
from tailrace.outcome.types import NetworkOutcome
from tailrace.programs.command import Command, Ended, tail

READY_LIMIT_S = 30.0
"""Time limit for the start of the fabric; twenty hosts take 12 ms."""
ANSWER_LIMIT_S = 20.0
"""The fabric answers a command in milliseconds."""
PLAIN_HINT = "choose a folder of letters, digits and . _ + = - / alone"


class Lab:
    """The hosts of one plan. A context manager: creates them on entry and always removes them on
    exit."""

    def __init__(self, plan_json: str, folder: Path, *options: str) -> None:
        require_plain("the folder of the lab", folder, PLAIN_HINT)
        self.folder = folder
        self._plan_json = plan_json
        self._options = options
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._changed = threading.Condition()
        self._answers: dict[int, dict[str, Any]] = {}
        self._ended: dict[str, Ended] = {}
        self._is_over = False
        self._next_id = 0
        self._ready: queue.Queue[dict[str, Any]] = queue.Queue()
        self.ready: dict[str, Any] = {}
        self.pins: Mapping[str, Sequence[int]] = {}
        """By host, the cores of the machine that its programs may use; hosts that are missing may
        use all."""

    def __enter__(self) -> "Lab":
        make_folder(self.folder / "logs")
        plan = self.folder / "plan.json"
        write_text(plan, self._plan_json)
        command = [
            str(program()),
            "lab",
            "--plan",
            str(plan),
            "--dir",
            str(self.folder),
            *self._options,
        ]
        with (self.folder / "fabric.log").open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, args=[self._process.stdout], daemon=True)
        self._reader.start()
        try:
            self.ready = self._ready.get(timeout=READY_LIMIT_S)
        except queue.Empty:
            self.close()
            raise FabricError(
                f"the fabric was not ready within {READY_LIMIT_S:g} s: {self._last_words()}"
            ) from None
        if self.ready.get("event") != "ready":
            self.close()
            raise FabricError(f"the fabric did not start: {self._last_words()}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def addresses(self) -> dict[str, str]:
        """IPv4 address of every host."""
        return {host["name"]: host["address"] for host in self.ready["hosts"]}

    def address(self, host: str, vlan: int) -> str:
        """IPv4 address of a host in a VLAN; 0 for none."""
        if not vlan:
            return self.addresses[host]
        [found] = [one for one in self.ready["hosts"] if one["name"] == host]
        return str(found["vlans"][str(vlan)])

    @property
    def has_vlans(self) -> bool:
        """Whether one of its hosts has addresses in VLANs."""
        return any(host.get("vlans") for host in self.ready["hosts"])

    @property
    def scratch(self) -> str:
        """Memory file system that is visible only to the programs of this lab, and disappears with
        them."""
        return str(self.ready.get("scratch", "/run/tailrace"))

    @property
    def is_nested(self) -> bool:
        """Whether an ordinary user created it, so that other accounts of the machine do not exist
        in it."""
        return bool(self.ready.get("nested"))

    def out_path(self, name: str) -> Path:
        """File with the stdout of a program."""
        return self.folder / "logs" / f"{name}.out"

    def err_path(self, name: str) -> Path:
        """File with the stderr of a program."""
        return self.folder / "logs" / f"{name}.err"

    def start(self, command: Command) -> Program:
        """Starts a program."""
        answer = self.call(
            "spawn",
            name=command.name,
            host=command.host,
            argv=list(command.argv),
            env=dict(command.env),
            cwd=command.cwd,
            user=command.user,
            stdin=command.stdin,
            stdout=str(self.out_path(command.name)),
            stderr=str(self.err_path(command.name)),
            cpus=command.cpus,
            cores=command.cores if command.cores is not None else self.pins.get(command.host or ""),
            group=command.group,
            priority=command.priority,
            dscp=command.dscp,
            observes=command.observes,
            io=command.io,
        )
        return Program(self, command, int(answer.get("pid", 0)))

    def run(self, command: Command, limit_s: float) -> str:
        """Runs a program until it ends successfully; returns its stdout."""
        started = self.start(command)
        started.require(limit_s)
        return started.output()

    def ended(self, name: str) -> Ended | None:
        """How a program ended."""
        with self._changed:
            return self._ended.get(name)

    def wait(self, programs: Sequence[Program], limit_s: float) -> list[Ended]:
        """Waits until all of these programs have ended."""
        names = [each.command.name for each in programs]
        deadline = time.monotonic() + limit_s
        with self._changed:
            while missing := [name for name in names if name not in self._ended]:
                left_s = deadline - time.monotonic()
                if self._is_over:
                    raise FabricError(f"the fabric ended before {missing[0]}: {self._last_words()}")
                if left_s <= 0:
                    raise FabricError(f"{missing[0]} did not end within {limit_s:g} s")
                self._changed.wait(left_s)
            return [self._ended[name] for name in names]

    def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Sends a command to the fabric; raises `FabricError` with its message when it is
        rejected."""
        process = self._process
        if process is None or process.stdin is None:
            raise FabricError(f"{op}: the lab is down")
        deadline = time.monotonic() + ANSWER_LIMIT_S
        with self._changed:
            self._next_id += 1
            number = self._next_id
            try:
                process.stdin.write(json.dumps({"id": number, "op": op, **arguments}) + "\n")
                process.stdin.flush()
            except (BrokenPipeError, ValueError):
                raise FabricError(f"{op}: the fabric has ended: {self._last_words()}") from None
            while number not in self._answers:
                left_s = deadline - time.monotonic()
                if self._is_over or left_s <= 0:
                    why = (
                        "the fabric has ended"
                        if self._is_over
                        else f"no answer within {ANSWER_LIMIT_S:g} s"
                    )
                    raise FabricError(f"{op}: {why}: {self._last_words()}")
                self._changed.wait(left_s)
            answer = self._answers.pop(number)
        if not answer.get("ok"):
            raise FabricError(f"{op}: {answer.get('error', 'rejected without a reason')}")
        return answer

    def counters(self, op: Literal["counters", "down"] = "counters") -> NetworkOutcome:
        """Counters of the fabric until now, or until it ended."""
        return convert(self.call(op)["outcome"], NetworkOutcome)

    def close(self) -> None:
        """Stops the lab; also removes the remains of a killed guardian."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            with suppress(OSError):  # it may have ended already
                process.stdin.close()  # the fabric ends at the end of its input
        for last_word in (None, process.terminate, process.kill):
            if last_word is not None:
                last_word()
            try:
                process.wait(STOP_GRACE_S)
                break
            except subprocess.TimeoutExpired:
                continue
        if self._reader is not None:
            self._reader.join(STOP_GRACE_S)  # it ends with the output of the fabric
        if process.returncode:
            with suppress(FabricError):  # `tailrace lab clean` says why
                clean()

    def _read(self, lines: IO[str]) -> None:
        """Reads answers and events until the fabric ends; runs in a separate thread."""
        with lines:
            for line in lines:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue  # not a message of the protocol
                self._take(message)
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        self._ready.put({"event": "over"})

    def _take(self, message: dict[str, Any]) -> None:
        if message.get("event") == "ready":
            self._ready.put(message)
            return
        with self._changed:
            if message.get("event") == "exited":
                self._ended[message["name"]] = Ended.read(message)
            elif "id" in message:
                self._answers[message["id"]] = message
            self._changed.notify_all()

    def _last_words(self) -> str:
        return " | ".join(tail(self.folder / "fabric.log")) or "it printed nothing"
