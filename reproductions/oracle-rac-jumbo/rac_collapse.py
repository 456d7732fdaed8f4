"""The collapse of reassembly on real kernels: 8 KB blocks over UDP while 1 % of their later
fragments are lost.

Two hosts of a lab, MTU 1500. The receiving one loses fragments (iptables) and puts datagrams
together with Linux's defaults (30 s, 4 MiB), or with 1 s and 64 MB. What was sent and delivered is
read every second from the kernels' counters, not from what the programs say. Writes
live-collapse.json. Usage, as root: .venv/bin/python reproductions/oracle-rac-jumbo/rac_collapse.py
[--seconds 75] [--rate 2000]
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rac_blocks import BLOCK_BYTES, DATAGRAM_BYTES_MAX, LIMIT_S, PORT, counted, plan
from tailrace.live.lab.lab import Lab
from tailrace.programs.command import Command

HERE = Path(__file__).resolve().parent
OUT = HERE / "live-collapse.json"
LOSS = 0.01
"""Of each later fragment."""
LATER_FRAGMENTS = 5
"""Of a block at an MTU of 1500: iptables' `-f` does not match the first."""
DELIVERED_LEAST = 0.01
"""A second in which less than this share of its blocks arrives is silent."""
NEEDED = {"sockperf": "sockperf", "iptables": "iptables", "sysctl": "procps"}


class Arm(NamedTuple):
    """How the receiving host puts datagrams together."""

    timeout_s: int
    memory_bytes: int


ARMS = {"defaults": Arm(30, 4 * 2**20), "short": Arm(1, 64 * 2**20)}


def expected_loss() -> float:
    """Share of blocks of which a fragment is lost."""
    return 1 - (1 - LOSS) ** LATER_FRAGMENTS


def prepare(lab: Lab, arm: Arm) -> None:
    """Settings and loss of the receiving host."""
    settings = [
        f"net.ipv4.ipfrag_high_thresh={arm.memory_bytes}",
        f"net.ipv4.ipfrag_time={arm.timeout_s}",
    ]
    lab.run(Command("sysctl", ["sysctl", "--quiet", "--write", *settings], host="server"), LIMIT_S)
    words = ["iptables", "-t", "raw", "-A", "PREROUTING", "-f", "-m", "statistic"]
    words += ["--mode", "random", "--probability", str(LOSS), "-j", "DROP"]
    lab.run(Command("loss", words, host="server"), LIMIT_S)


def measured(arm: Arm, rate: int, seconds: int) -> dict[str, Any]:
    """Blocks that were sent and delivered in each second."""
    with (
        tempfile.TemporaryDirectory(prefix="collapse-") as folder,
        Lab(plan(1500), Path(folder)) as lab,
    ):
        prepare(lab, arm)
        address = ["-i", lab.address("server", 0), "-p", str(PORT)]
        words = ["sockperf", "server", *address, "--msg-size", str(DATAGRAM_BYTES_MAX)]
        server = lab.start(Command("server", words, host="server"))
        words = [
            "sockperf",
            "throughput",
            *address,
            "-m",
            str(BLOCK_BYTES),
            "-t",
            str(seconds),
            f"--mps={rate}",
        ]
        lab.start(Command("client", words, host="client"))
        before = {host: counted(lab, host, "0") for host in ("client", "server")}
        begun_s, sent, delivered = time.monotonic(), [], []
        last = before
        for second in range(1, seconds + 1):
            time.sleep(max(0.0, begun_s + second - time.monotonic()))
            now = {host: counted(lab, host, str(second)) for host in last}
            sent.append(now["client"]["FragOKs"] - last["client"]["FragOKs"])
            delivered.append(now["server"]["ReasmOKs"] - last["server"]["ReasmOKs"])
            last = now
        server.stop("INT")
    whole = {
        host: {name: last[host][name] - before[host][name] for name in last[host]} for host in last
    }
    return {
        "timeout_s": arm.timeout_s,
        "memory_bytes": arm.memory_bytes,
        "sent": sent,
        "delivered": delivered,
    } | {
        "counters": whole,
        **judged(sent, delivered),
    }


def judged(sent: Sequence[int], delivered: Sequence[int]) -> dict[str, float]:
    """Share of the blocks that were lost, and the longest time without any."""
    longest = silent = 0
    for was_sent, arrived in zip(sent, delivered, strict=True):
        silent = silent + 1 if was_sent and arrived < DELIVERED_LEAST * was_sent else 0
        longest = max(longest, silent)
    return {"block_loss": 1 - sum(delivered) / sum(sent), "silence_s": longest}


def main(arguments: Sequence[str]) -> int:
    """Both arms in turn, or a refusal in words."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=int, default=75)
    parser.add_argument("--rate", type=int, default=2000, help="blocks per second")
    chosen = parser.parse_args(arguments)
    lacking = [package for program, package in NEEDED.items() if shutil.which(program) is None]
    if lacking:
        print(
            f"refused: programs are missing (hint: apt-get install {' '.join(lacking)})",
            file=sys.stderr,
        )
        return 2
    found = {name: measured(arm, chosen.rate, chosen.seconds) for name, arm in ARMS.items()}
    shown = {"rate": chosen.rate, "expected_loss": expected_loss(), "arms": found}
    OUT.write_text(json.dumps(shown, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    for name, arm in found.items():
        print(
            f"{name}: {arm['block_loss']:.1%} of the blocks lost, {arm['silence_s']} s without any"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
