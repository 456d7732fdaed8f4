"""A stand-in for the fabric program: speaks its protocol, starts nothing, and lets every program
end at once and well.

What a program would have written is made up from its words and from the plan: pgbench logs
transactions that take a fixed time, iperf3 moves a fixed number of bytes, PostgreSQL says that it
is ready. Faults are asked for by the environment:
`FAKE_FAULT=lost|late|dead|unready|corrupt|remembers`. A trial takes a file away from the folder
`FAKE_LATE`, and is late where it found one. A late trial has frames that took 0.9 ms longer than in
its replay.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from tailrace.programs.work import Work

FAULT = os.environ.get("FAKE_FAULT", "")
WARNINGS = [text for text in [os.environ.get("FAKE_WARNING")] if text]
LACKS = os.environ.get("FAKE_LACKS")
"""Why Open vSwitch cannot be had."""
DRAIN_US = 4000.0
"""Of every port's queue."""
PUNCTUAL_US = {"mean": 300.0, "p99": 2000.0}
"""Delays of a punctual switch."""
LATENCY_US = 900
STREAM_BYTES = 1_250_000


def take_one(folder: str | None) -> bool:
    """Removes a file from a folder; whether there was one."""
    for file in Path(folder).iterdir() if folder else ():
        file.unlink()
        return True
    return False


class Fake:
    """One lab."""

    def __init__(self, plan: dict[str, Any], folder: Path, *, logs: bool = False) -> None:
        self.plan = plan
        self.logs = logs
        self.folder = folder
        self.running: dict[str, dict[str, Any]] = {}
        self.is_late = False

    def say(self, message: dict[str, Any]) -> None:
        """One line."""
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def run(self) -> int:
        """Answers until the end of the input."""
        hosts = [
            {
                "name": host["name"],
                "address": f"10.77.0.{i + 1}",
                "mac": f"02:00:00:00:00:{i + 1:02x}",
                "mtu": 1500,
            }
            for i, host in enumerate(self.plan["hosts"])
        ]
        if FAULT == "unready":
            sys.stderr.write("no /dev/net/tun\n")
            return 1
        self.say(
            {
                "event": "ready",
                "version": "fake",
                "hosts": hosts,
                "warnings": WARNINGS,
                "realtime": False,
                "lab_pid": 0,
            }
        )
        for line in sys.stdin:
            command = json.loads(line)
            try:
                answer = self.answer(command)
            except LookupError as error:
                self.say(
                    {"id": command["id"], "ok": False, "error": f"there is no program {error}"}
                )
                continue
            self.say({"id": command["id"], "ok": True, **answer})
            if command["op"] == "spawn":
                self.after_spawn(command)
            if command["op"] == "down":
                return 0
        return 0

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """What a command gives."""
        match command["op"]:
            case "spawn":
                self.running[command["name"]] = command
                for key in ("stdout", "stderr"):
                    Path(command[key]).write_text("", encoding="utf-8")
                return {"pid": 100 + len(self.running)}
            case "signal":
                if command["name"] == "done-already":
                    self.end(command["name"])
                self.running[command["name"]]
                self.end(command["name"])
                return {}
            case "begin":
                self.is_late = take_one(os.environ.get("FAKE_LATE"))
            case "counters" | "down":
                return {"outcome": self.outcome()}
        return {}

    def end(self, name: str, code: int = 0) -> None:
        """A program ends."""
        command = self.running.pop(name, None)
        if command is None:
            return
        if "--server" in command["argv"]:
            self.write(command, "stdout", json.dumps(iperf_report()))
        status = {"exit": code}
        times = {"user_s": 0.25, "system_s": 0.5, "max_rss_bytes": 10**6, "wall_s": 1.0}
        self.say({"event": "exited", "name": name, "status": status, **times})

    def write(self, command: dict[str, Any], where: str, text: str) -> None:
        """What a program writes."""
        Path(command[where]).write_text(text, encoding="utf-8")

    def after_spawn(self, command: dict[str, Any]) -> None:
        """What a program does at once."""
        name, argv = command["name"], command["argv"]
        match Path(argv[0]).name:
            case "postgres":
                self.write(
                    command, "stderr", "LOG:  database system is ready to accept connections\n"
                )
                return
            case "iperf3" if "--server" in argv:
                return
            case "stdbuf":
                self.write(command, "stdout", CLOSED)
                return
            case "iperf3":
                self.end(name)
                self.end(name.removesuffix("-client") + "-server")
                return
            case "psql" if name.startswith(("facts", "verify")):
                is_wrong = FAULT == "corrupt" and name.startswith("verify")
                self.write(command, "stdout", "0|0|0\n" if is_wrong else "7|126000|42\n")
            case "cp" if name == "keep":
                Path(argv[-1]).mkdir(parents=True)
            case "pgbench":
                self.bench(command)
            case "ss":
                self.write(command, "stdout", SS)
            case "cat" if name.startswith("sysctls"):
                self.write(
                    command,
                    "stdout",
                    "0\n4096\t131072\t6291456\n4096\t16384\t4194304\n1\n3\n0\n1\n1\n",
                )
            case "ip" if name.startswith("metrics") and FAULT == "remembers":
                self.write(command, "stdout", "10.77.0.1 age 4.2sec cwnd 12 source 10.77.0.2\n")
            case "ip" if name.startswith("route"):
                self.write(
                    command, "stdout", "10.77.0.0/16 proto static scope link congctl cubic \n"
                )
            case "ethtool":
                self.write(
                    command, "stdout", "Features for eth0:\ntcp-segmentation-offload: off [fixed]\n"
                )
            case "cat":
                self.write(command, "stdout", COUNTERS)
            case "ping":
                self.write(command, "stdout", "rtt min/avg/max/mdev = 0.050/0.060/0.090/0.010 ms\n")
        self.end(name, 1 if FAULT == "dead" and "pgbench" in name else 0)

    def bench(self, command: dict[str, Any]) -> None:
        """pgbench's log and table of commands."""
        argv = command["argv"]
        [own] = [
            each for each in self.plan["workloads"] if each["header"]["name"] == command["name"][8:]
        ]
        raw = {**own["header"], **own["body"]["oltp"]}
        load = Work(
            raw,
            self.plan["seed"],
            dict.fromkeys([t["response_bytes"] for t in raw["round_trips"]], 7),
        )
        prefix = argv[argv.index("--log-prefix") + 1]
        lines = []
        now_us = time.time_ns() // 1000
        for user in range(raw["users"]):
            for number in range(1, (raw["transactions"] or 5) + 1):
                took_us = load.pause_us(user, number) + LATENCY_US
                clock_us = now_us + number  # all within the trial, which is short
                lines.append(f"{user} {number} {took_us} 0 {clock_us // 10**6} {clock_us % 10**6}")
        Path(f"{prefix}.1").write_text("\n".join(lines) + "\n", encoding="ascii")
        self.write(
            command,
            "stdout",
            f"         {LATENCY_US / 1000 - 0.1:.3f}           0  SELECT d FROM pay\n",
        )

    def outcome(self) -> dict[str, Any]:
        """What a fabric on which little happened counts."""
        lost = {
            host["name"]: {"tx_dropped": 0, "rx_dropped": 0, "write_failed": 0}
            for host in self.plan["hosts"]
        }
        if FAULT == "lost":
            lost[self.plan["hosts"][0]["name"]]["tx_dropped"] = 3
        is_late = FAULT == "late" or self.is_late
        late, added_us = (5000.0, 900.0) if is_late else (80.0, 60.0)
        happened = {"frames": 1000, **{key: value + added_us for key, value in PUNCTUAL_US.items()}}
        log = self.folder / "ingress.log" if self.logs else None
        if log is not None:
            log.write_bytes(b"")
        sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
        from whole import whole

        told = {
            "name": self.plan["name"],
            "seed": self.plan["seed"],
            "digest": "0123456789abcdef",
            "end_ps": 10**12,
            "conservation": {"sent": 100, "delivered": 98, "dropped": 2, "in_network": 0},
            "ports": [
                port(node, towards, self.plan) for node, towards in self.plan["observe"]["ports"]
            ],
            "switches": [],
            "netstat": [],
            "fabric": {
                "cpu": {},
                "lateness_us": {
                    "p50": 20.0,
                    "p90": 40.0,
                    "p99": 60.0,
                    "p99_9": late,
                    "max": 9000.0,
                },
                "rate_error_ppm": {"leaf>client": 12.0},
                "frames_lost_outside": lost,
                "foreign_frames": 0,
                "delay_us": {
                    f"{node}>{towards}": happened for node, towards in self.plan["observe"]["ports"]
                },
                "replay_log": None if log is None else str(log),
            },
            "tables": {
                "port_series": {
                    "port": [0],
                    "bin": [0],
                    "start_ps": [0],
                    "queue_mean_bytes": [1.5],
                    "queue_max_bytes": [9000],
                    "tx_bytes": [1000],
                    "drop_frames": [2],
                    "mark_frames": [0],
                },
                "queue_depth": {"port": [0], "depth_bytes": [0], "time_ps": [10**12]},
            },
        }
        return whole(told, "NetworkOutcome")


def port(node: str, towards: str, plan: dict[str, Any]) -> dict[str, Any]:
    """Counters of one port."""
    switch = next(s for s in plan["switches"] if s["name"] == node)
    own = next(
        (p["policy"] for p in switch["port_policies"] if p["towards"] == towards), switch["policy"]
    )
    queues = [
        {
            "name": queue["name"],
            "tx_frames": 10,
            "tx_bytes": 9000,
            "drops": {"tail_drop": {"frames": 2, "bytes": 3000}},
            "marked_frames": 0,
            "depth_bytes": 0,
            "depth_max_bytes": 5000,
            "depth_mean_bytes": 100.0,
        }
        for queue in own["queues"]
    ]
    place = {"node": node, "towards": towards, "rate_bps": 10**9, "tx_frames": 10, "tx_bytes": 9000}
    return {**place, "queues": queues, "dpp": None}


def iperf_report() -> dict[str, Any]:
    """A server's report: two intervals of half a second."""
    return {
        "intervals": [
            {"sum": {"start": 0.0, "end": 0.5, "bytes": STREAM_BYTES}},
            {"sum": {"start": 0.5, "end": 1.0, "bytes": STREAM_BYTES}},
        ]
    }


SS = """ESTAB 0 0 10.77.0.2:5432 10.77.0.1:40000
\t cubic wscale:7,7 rto:204 rtt:0.9/0.1 mss:8948 cwnd:10 bytes_sent:1000
"""
CLOSED = """UNCONN 0 0 10.77.0.3:40002 10.77.0.1:5201
\t cubic rtt:1.5/0.1 bytes_retrans:3000 segs_out:400 retrans:0/2 minrtt:0.5
"""
COUNTERS = """Tcp: RtoAlgorithm OutSegs RetransSegs
Tcp: 1 500 3
TcpExt: TCPTimeouts TCPLossProbes TCPOFOQueue
TcpExt: 1 2 4
  eth0: 1000 20 0 0 0 0 0 0 2000 30 0 0 0 0 0 0
"""


def measured_port(late_us: float, own_us: float, machine_us: float) -> dict[str, Any]:
    """The 99.9th percentiles of a port's lateness."""
    return {
        "lateness_us": {"p99_9": late_us},
        "own_lateness_us": {"p99_9": own_us},
        "machine": {"lateness_us": {"p99_9": machine_us}},
    }


def effect(plan: dict[str, Any]) -> dict[str, Any]:
    """What a replay tells of a port with little on it."""

    def one(drops: int, added_us: float) -> dict[str, Any]:
        delay = {"frames": 1000, **{key: value + added_us for key, value in PUNCTUAL_US.items()}}
        return {"drops": drops, "delay_us": delay}

    ports = {}
    for node, towards in plan["observe"]["ports"]:
        drops = 2 * len(port(node, towards, plan)["queues"])
        passes = {"punctual": one(drops, 0.0), "stopped": one(drops, 55.0)}
        ports[f"{node}>{towards}"] = {"drain_us": DRAIN_US, **passes}
    return {
        "ports": ports,
        "stops": {"stop_us": 1000.0, "every_us": 10000.0, "added_mean_us": 50.0},
    }


def main() -> int:
    """The commands that the lab uses."""
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "lab":
        plan = json.loads(
            Path(arguments[arguments.index("--plan") + 1]).read_text(encoding="utf-8")
        )
        folder = Path(arguments[arguments.index("--dir") + 1])
        return Fake(plan, folder, logs="--log-ingress" in arguments).run()
    answers: dict[str, dict[str, Any]] = {
        "limits": {
            "frames": {"frames_per_second_max": float(os.environ.get("FAKE_FRAMES_PER_S", "1e9"))},
            "ports": [measured_port(90.0, 60.0, 40.0), measured_port(860.0, 64.0, 240.0)],
        },
        "doctor": {
            "capabilities": {"lab": True, "realtime": True},
            "tun": FAULT != "no-tun",
            "tun_is_missing": FAULT == "no-tun",
            "realtime": True,
            "fabrics": {"tap": None, "bridge": None, "ovs": LACKS, "ovs-dpdk": LACKS},
        },
        "clean": {"removed": ["tailrace-7-42"], "left": []},
        "replay": {"digest": "0123456789abcdef"},
    }
    if "--effect" in arguments:
        plan = json.loads(
            Path(arguments[arguments.index("--plan") + 1]).read_text(encoding="utf-8")
        )
        answers["replay"]["effect"] = effect(plan)
    sys.stdout.write(json.dumps(answers[command]) if command in answers else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
