"""The same HTTP requests between two virtual machines: over the bridge, Open vSwitch, and Open
vSwitch with DPDK.

The machines are guests of User-Mode Linux (Debian's package `user-mode-linux`), since KVM does not
start everywhere. Over the bridge and Open vSwitch they are connected by TAP interfaces, as with
QEMU; with DPDK by vhost-user: guest and switch share memory, and a core of the machine polls.
Everything is in namespaces of its own and ends with this program. Writes live-guests.json. Usage,
as root: .venv/bin/python reproductions/yahoo-ovs-dpdk/live_guests.py [--trials 3]
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import structs

from tailrace.live.measure.threads import NOTHING, Figures, Spent, figures_of

HERE = Path(__file__).resolve().parent
OUT = HERE / "live-guests.json"
KINDS = ("bridge", "ovs", "ovs-dpdk")
SECONDS = 4
SERVER_UP_S = 60
LIMIT_S = 60.0
BOOT_S = 3.0
"""Two guests that connect to Open vSwitch at the same time were seen to wait for ever."""
POLL_S = 0.02
TRIES = 3
MEMORY = "192M"
RUN = Path("/run/guests")
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
DAEMONS = {
    "ovs": "/usr/lib/openvswitch-switch/ovs-vswitchd",
    "ovs-dpdk": "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk",
}
NEEDED = ("linux.uml", "nginx", "wrk", "ovs-vsctl", *DAEMONS.values())
ADDRESSES = {"client": "10.9.0.1", "server": "10.9.0.2"}
POLLING_CORE = (os.cpu_count() or 1) - 1


def run(*argv: str) -> None:
    """One command, which must succeed."""
    subprocess.run(argv, check=True, timeout=LIMIT_S, stdout=sys.stderr)


@contextmanager
def running(argv: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program that is ended with the block."""
    with log.open("wb") as file:
        program = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        yield program
    finally:
        program.kill()
        program.wait(LIMIT_S)


def wait_for(path: Path, text: str = "") -> None:
    """Until a file is there, and has a text."""
    deadline_s = time.monotonic() + LIMIT_S
    while not (path.exists() and (not text or text in path.read_text(errors="replace"))):
        if time.monotonic() > deadline_s:
            last = path.read_text(errors="replace")[-600:] if path.is_file() else "it is not there"
            raise TimeoutError(f"{path.name}: no {text or 'file'} within {LIMIT_S:g} s: {last}")
        time.sleep(POLL_S)


def switch(kind: str, stack: ExitStack, logs: Path) -> tuple[dict[str, str], list[int]]:
    """Starts a switch; returns the interface of each guest as a word of its command line, and the
    switch's programs."""
    run("ip", "link", "set", "lo", "up")
    if kind == "bridge":
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "link", "set", "br0", "up")
        return {role: _tap(role, "br0") for role in ADDRESSES}, []
    daemon = _open_vswitch(kind, stack, logs)
    found = {}
    for role in ADDRESSES:
        if kind == "ovs":
            found[role] = _tap(role, None)
            _control("add-port", "br0", role)
        else:
            _control("add-port", "br0", role, "--", "set", "interface", role, "type=dpdkvhostuser")
            relay = [
                sys.executable,
                str(HERE / "live_vhost_relay.py"),
                f"{RUN}/{role}.guest",
                f"{RUN}/{role}",
            ]
            stack.enter_context(running(relay, logs / f"relay-{role}.log"))
            wait_for(RUN / f"{role}.guest")
            found[role] = f"virtio_uml.device={RUN}/{role}.guest:1"
    return found, [daemon]


def _tap(role: str, bridge: str | None) -> str:
    run("ip", "tuntap", "add", "mode", "tap", "name", role)
    run("ip", "link", "set", role, "up", *(["master", bridge] if bridge else []))
    return f"eth0=tuntap,{role}"


def _open_vswitch(kind: str, stack: ExitStack, logs: Path) -> int:
    os.environ.update(
        {f"OVS_{name}": str(RUN) for name in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")}
    )
    run("ovsdb-tool", "create", f"{RUN}/conf.db", SCHEMA)
    words = [
        "ovsdb-server",
        f"{RUN}/conf.db",
        f"--remote=punix:{RUN}/db.sock",
        f"--unixctl={RUN}/db.ctl",
    ]
    stack.enter_context(running(words, logs / "ovsdb-server.log"))
    wait_for(RUN / "db.sock")
    _control("--no-wait", "init")
    if kind == "ovs-dpdk":
        extra = 'other_config:dpdk-extra="--no-pci --no-huge --legacy-mem -m 256"'
        mask = f"other_config:pmd-cpu-mask={1 << POLLING_CORE:#x}"
        _control(
            "--no-wait", "set", "Open_vSwitch", ".", "other_config:dpdk-init=true", mask, extra
        )
    words = [DAEMONS[kind], f"unix:{RUN}/db.sock", f"--unixctl={RUN}/switch.ctl"]
    daemon = stack.enter_context(running(words, logs / "ovs-vswitchd.log"))
    _control("add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=netdev")
    return daemon.pid


def _control(*words: str) -> None:
    run("ovs-vsctl", f"--db=unix:{RUN}/db.sock", "--timeout=20", *words)


def guest(role: str, interface: str) -> list[str]:
    """The command line of a guest."""
    own = {"role": role, "address": ADDRESSES[role], "peer": ADDRESSES["server"]}
    own |= {"seconds": str(SECONDS), "up_s": str(SERVER_UP_S)}
    words = [
        "linux.uml",
        f"mem={MEMORY}",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
    ]
    words += [
        f"init={HERE / 'live_guest.sh'}",
        "con=null",
        "con0=fd:0,fd:1",
        f"umid={role}",
        f"uml_dir={RUN}/",
    ]
    return [*words, interface, *(f"guest_{key}={value}" for key, value in own.items())]


def threads(pids: Sequence[int]) -> dict[str, Figures]:
    """Every thread of these programs and of what they have started."""
    found, waiting = {}, list(pids)
    while waiting:
        for task in Path(f"/proc/{waiting.pop()}/task").glob("*"):
            if (figures := figures_of(task)) is not None:
                found[str(task)] = figures
                waiting += map(int, (task / "children").read_text().split())
    return found


def between(before: dict[str, Figures], after: dict[str, Figures]) -> Spent:
    """What was spent in between by threads that are there at the end."""
    return sum((now.since(before.get(name, NOTHING)).spent for name, now in after.items()), Spent())


def inside(kind: str) -> dict[str, Any]:
    """One trial, in namespaces of its own."""
    run("mount", "-t", "tmpfs", "none", "/run")
    RUN.mkdir()
    with ExitStack() as stack:
        logs = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="guests-")))
        interfaces, daemons = switch(kind, stack, logs)
        pids = {}
        for role in ("server", "client"):
            program = stack.enter_context(
                running(guest(role, interfaces[role]), logs / f"{role}.log")
            )
            pids[role] = [program.pid]
            time.sleep(BOOT_S)
        told = logs / "client.log"
        wait_for(told, "GUEST BEGINS")
        every = pids | ({"switch": daemons} if daemons else {})
        begun_s, before = time.monotonic(), {name: threads(own) for name, own in every.items()}
        wait_for(told, "GUEST ENDS")
        span_s = time.monotonic() - begun_s
        spent = {name: between(before[name], threads(own)) for name, own in every.items()}
        text = told.read_text(errors="replace")
    return read(text) | {
        "span_s": span_s,
        "spent": {name: structs.asdict(own.times) for name, own in spent.items()},
    }


def read(text: str) -> dict[str, float]:
    """The figures of wrk and ping in the output of a client."""
    found = {
        "requests": _number(r"(\d+) requests in", text),
        "rate_per_s": _number(r"Requests/sec:\s+([\d.]+)", text),
    }
    found["p50_ms"], found["p99_ms"] = _latency("50", text), _latency("99", text)
    found["round_trip_ms"] = _number(r"= [\d.]+/([\d.]+)/", text)
    found["client_switches"] = _number(r"GUEST ENDS switches (\d+)", text)
    return found


def _number(pattern: str, text: str) -> float:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"the client did not print {pattern}: {text[-400:]}")
    return float(found[1])


def _latency(percent: str, text: str) -> float:
    found = re.search(rf"^\s+{percent}%\s+([\d.]+)(us|ms|s)", text, re.MULTILINE)
    if found is None:
        raise ValueError(f"wrk did not print {percent}%: {text[-400:]}")
    return float(found[1]) * {"us": 0.001, "ms": 1, "s": 1000}[found[2]]


def outside(kind: str) -> dict[str, Any]:
    """One trial, in a process of its own, with all that it starts.

    Where a guest does not come up (seen on busy machines: the switch refuses its interface), it is
    tried again.
    """
    words = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    words += [sys.executable, __file__, "--inside", kind]
    for attempt in range(1, TRIES + 1):
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=2 * LIMIT_S, check=False
        )
        if done.returncode == 0:
            trial: dict[str, Any] = json.loads(done.stdout)
            return trial
        print(f"{kind}, try {attempt} of {TRIES}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    raise SystemExit(f"{kind}: no trial of {TRIES} came to an end")


def missing() -> list[str]:
    """Programs that are not there."""
    folders = [*os.get_exec_path(), "/usr/sbin", "/sbin"]
    return [
        name
        for name in NEEDED
        if not any((Path(folder) / name).exists() for folder in ["/", *folders])
    ]


def main() -> None:
    """Every switch in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--inside", choices=KINDS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside:
        print(json.dumps(inside(chosen.inside)))
        return
    if lacking := missing():
        packages = "user-mode-linux nginx-light wrk openvswitch-switch openvswitch-switch-dpdk"
        raise SystemExit(f"missing: {', '.join(lacking)} (hint: apt-get install {packages})")
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for _ in range(chosen.trials):
        for kind in KINDS:
            trial = outside(kind)
            found[kind].append(trial)
            print(
                kind,
                {key: trial[key] for key in ("rate_per_s", "p50_ms", "p99_ms", "round_trip_ms")},
                flush=True,
            )
    OUT.write_text(
        json.dumps({"seconds": SECONDS, "trials": found}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
