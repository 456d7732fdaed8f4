"""Fabrics that stay up: hosts and switches of a scenario for programs of the user, until they are
stopped."""

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import convert

from tailrace.errors import closest
from tailrace.files import make_folder, read_json, write_text
from tailrace.live.lab.fabric import FabricError, program
from tailrace.outcome.types import NetworkOutcome
from tailrace.programs.command import tail
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.text.quantities import NAME_PATTERN

UP_LIMIT_S = 30.0
ANSWER_LIMIT_S = 20.0
DOWN_LIMIT_S = 10.0
POLL_S = 0.05
STATE = "lab.json"
SOCKET = "control.sock"
LOG = "fabric.log"
PRIVATE_MODE = 0o700
"""Of the folder of a fabric."""
SWITCH_LOGS = ("ovsdb-server.log", "ovs-vswitchd.log")
"""Output of Open vSwitch, where it is the switch."""
ANSWER_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True)
class Standing:
    """A fabric that is up."""

    name: str
    folder: Path
    state: dict[str, Any]

    @property
    def hosts(self) -> list[dict[str, Any]]:
        """Name, address, MAC and MTU of every host."""
        return list(self.state.get("hosts", []))

    def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        """Sends a command over its socket; raises `FabricError` when it is rejected or the fabric
        has ended."""
        deadline = time.monotonic() + ANSWER_LIMIT_S
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(ANSWER_LIMIT_S)
            try:
                line.connect(str(self.folder / SOCKET))
                line.sendall((json.dumps({"id": 1, "op": op, **arguments}) + "\n").encode())
                return _answer(line, op, deadline)
            except OSError as error:
                raise FabricError(
                    f"fabric '{self.name}' does not answer: {error.strerror or error}"
                ) from None

    def counters(self) -> NetworkOutcome:
        """Its counters until now."""
        return convert(self.call("counters")["outcome"], NetworkOutcome)


def _answer(line: socket.socket, op: str, deadline: float) -> dict[str, Any]:
    """The answer among the events that come over the same socket."""
    held = b""
    while len(held) < ANSWER_BYTES_MAX and time.monotonic() < deadline:
        part = line.recv(65_536)
        if not part:
            break
        *lines, held = (held + part).split(b"\n")
        for text in lines:
            message = json.loads(text)
            if message.get("id") == 1:
                if not message.get("ok"):
                    raise FabricError(f"{op}: {message.get('error', 'rejected without a reason')}")
                return dict(message)
    raise FabricError(f"{op}: no answer within {ANSWER_LIMIT_S:g} s")


def home() -> Path:
    """Parent of the folders of fabrics: the user's state directory (XDG Base Directory
    Specification)."""
    state = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "tailrace" / "fabrics"


def standing() -> list[Standing]:
    """Every fabric that is up."""
    found = []
    for folder in sorted(home().glob("*")) if home().is_dir() else []:
        try:
            state = read_json(folder / STATE)
        except (OSError, ValueError):
            continue  # not up yet, or no longer up
        if _is_alive(state):
            found.append(Standing(folder.name, folder, state))
    return found


def _is_alive(state: dict[str, Any]) -> bool:
    pid = state.get("lab_pid") or 0
    return pid > 0 and Path(f"/proc/{pid}").exists()


def chosen(name: str | None) -> Standing:
    """The fabric of this name, or the only one."""
    found = standing()
    names = [each.name for each in found]
    if name is None and len(found) == 1:
        return found[0]
    if name is None:
        if not found:
            raise FabricError("no fabric is up (hint: `tailrace lab up SCENARIO`)")
        raise FabricError(
            f"{len(found)} fabrics are up: {', '.join(names)} (hint: choose one with --fabric NAME)"
        )
    for each in found:
        if each.name == name:
            return each
    raise FabricError(f"there is no fabric '{name}' (hint: {closest(name, names, 'fabrics')})")


def bring_up(name: str, plan_json: str, metrics_port: int | None, kind: str = TAP) -> Standing:
    """Starts a fabric that outlives this process; returns once it is ready."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise FabricError(f"'{name}' is not a valid name (hint: use letters, digits, - and _)")
    if any(each.name == name for each in standing()):
        raise FabricError(
            f"fabric '{name}' is up already (hint: choose another --name, or `tailrace lab "
            f"down {name}`)"
        )
    folder = home() / name
    make_folder(folder)
    folder.chmod(
        PRIVATE_MODE
    )  # before the first file: the socket gives commands to a program that runs as root
    for left in (STATE, SOCKET):
        (folder / left).unlink(missing_ok=True)  # left by a killed fabric
    write_text(folder / "plan.json", plan_json)
    command = [
        str(program()),
        "lab",
        "--detach",
        "--plan",
        str(folder / "plan.json"),
        "--dir",
        str(folder),
    ]
    command += ["--metrics", str(metrics_port)] if metrics_port else []
    command += ["--kind", kind] if kind != TAP else []
    with (folder / LOG).open("w", encoding="utf-8") as log:
        # The program returns when the fabric is ready, or fails with the reason.
        subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            timeout=UP_LIMIT_S,
            check=False,
        )
    for each in standing():
        if each.name == name:
            return each
    raise FabricError(
        f"fabric '{name}' is not up: {' | '.join(tail(folder / LOG)) or 'it printed nothing'}"
    )


def take_down(fabric: Standing) -> NetworkOutcome:
    """Stops a fabric and all programs in it; returns its final counters."""
    outcome = convert(fabric.call("down")["outcome"], NetworkOutcome)
    deadline = time.monotonic() + DOWN_LIMIT_S
    while _is_alive(fabric.state) and time.monotonic() < deadline:
        time.sleep(POLL_S)
    for left in (STATE, SOCKET, LOG, "plan.json", "lab.log", *SWITCH_LOGS):
        (fabric.folder / left).unlink(missing_ok=True)
    if not any(fabric.folder.iterdir()):
        fabric.folder.rmdir()
    return outcome


def exec_words(fabric: Standing, host: str, words: Sequence[str]) -> list[str]:
    """The command line that runs a program on a host with this terminal."""
    names = [str(each["name"]) for each in fabric.hosts]
    if host not in names:
        raise FabricError(
            f"there is no host '{host}' in '{fabric.name}' (hint: {closest(host, names, 'hosts')})"
        )
    if not words:
        raise FabricError("no program given (hint: tailrace lab exec HOST -- PROGRAM ARGUMENTS)")
    return [str(program()), "exec", "--dir", str(fabric.folder), host, "--", *words]
