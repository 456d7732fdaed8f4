"""Blocks of 8 KB over UDP and pings between two real hosts of a lab, with an MTU of 1500 and of
9000.

Writes live-blocks.json (sockperf: round trips, fragments, context switches and processor time of a
block) and live-pings.json. Pings are a blind test in two steps: `pings fit` measures 56 and 8972
bytes and writes what the model then predicts for 1472 and 4000 bytes; `pings test` measures those
later, and judges them by that file. Usage, as root: .venv/bin/python
reproductions/oracle-rac-jumbo/rac_blocks.py blocks|pings fit|pings test|pings curve
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.live.lab.lab import Lab
from tailrace.programs.command import Command, Ended
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.statistics import mean, median

HERE = Path(__file__).resolve().parent
BLOCKS, PINGS = HERE / "live-blocks.json", HERE / "live-pings.json"
MTUS = (1500, 9000)
BLOCK_BYTES = 8192
DATAGRAM_BYTES_MAX = 65_507
"""The server's buffer."""
LIMIT_S = 30.0
PORT = 11111
IP_COUNTERS = (
    "FragOKs",
    "FragFails",
    "FragCreates",
    "ReasmReqds",
    "ReasmOKs",
    "ReasmFails",
    "ReasmTimeout",
)
"""Of /proc/net/snmp (Documentation/networking/snmp_counter.rst)."""
FITTED, TESTED = (56, 8972), (1472, 4000)
"""Bytes of pings: those of the published test, and those between them."""
CURVE = (56, 250, 500, 1000, 1472, 2000, 3000, 4000, 6000, 8972)
"""To show where the model fails; measured after the test."""
TOLERANCE = 0.15
PING_COUNT = 400
PING_EVERY_S = "0.005"
LINE_NS_PER_BYTE = 8
"""At 1 Gbit/s."""
CROSSINGS = {"tap": 4, "bridge": 0}
"""A round trip crosses two links each way, each with a whole frame at a time; the bridge delays no
frame by itself."""
OVERHEAD_BYTES = 8 + 20 + 14 + 4 + 20
"""ICMP, IP and Ethernet headers, checksum, preamble and gap."""


def plan(mtu: int) -> str:
    """Two hosts at a switch of 1 Gbit/s, on which nothing else is sent."""
    data = {
        "tailrace": 1,
        "name": f"blocks-{mtu}",
        "network": {
            "topology": {"kind": "star", "hosts": ["client", "server"]},
            "link": {"rate": "1Gbit/s"},
        },
        "hosts": {"defaults": {"mtu": f"{mtu}B"}},
        "workloads": {
            "none": {"kind": "stream", "source": "client", "destination": "server", "size": "1kB"}
        },
        "experiment": {"duration": "1s"},
    }
    return canonical_json(lower(load_scenario(data).scenario, "base", 1))


def ip_counters(text: str) -> dict[str, int]:
    """Of fragments, from the text of /proc/net/snmp."""
    names, values = (line.split()[1:] for line in text.splitlines() if line.startswith("Ip:"))
    found = dict(zip(names, map(int, values), strict=True))
    return {name: found[name] for name in IP_COUNTERS}


def counted(lab: Lab, host: str, when: str) -> dict[str, int]:
    """Those of a host."""
    return ip_counters(
        lab.run(Command(f"snmp-{when}-{host}", ["cat", "/proc/net/snmp"], host=host), LIMIT_S)
    )


def sockperf_figures(text: str) -> dict[str, float]:
    """Round trips of a run of sockperf, in microseconds, and its messages of the whole run."""
    whole = re.search(r"\[Total Run\].*SentMessages=(\d+); ReceivedMessages=(\d+)", text)
    shares = {
        name: re.search(rf"percentile {share}\s*=\s*([\d.]+)", text)
        for name, share in (("p50", "50.000"), ("p99", "99.000"))
    }
    if whole is None or None in shares.values():
        raise ValueError(f"sockperf did not print its totals and percentiles: {text[-400:]}")
    found = {f"{name}_us": float(one[1]) for name, one in shares.items() if one is not None}
    return found | {"sent": float(whole[1]), "received": float(whole[2])}


def spent(ended: Ended, messages: float) -> dict[str, float]:
    """Processor time and context switches of a program for each message."""
    return {
        "cpu_us": (ended.user_s + ended.system_s) * 1e6 / messages,
        "switches": (ended.voluntary_switches + ended.involuntary_switches) / messages,
    }


def blocks(mtu: int, kind: str, seconds: int, size: int = BLOCK_BYTES) -> dict[str, Any]:
    """One ping-pong of blocks."""
    with tempfile.TemporaryDirectory(prefix="blocks-") as folder:
        options = ["--kind", kind] if kind != "tap" else []
        with Lab(plan(mtu), Path(folder), *options) as lab:
            address = ["-i", lab.address("server", 0), "-p", str(PORT)]
            words = ["sockperf", "server", *address, "--msg-size", str(DATAGRAM_BYTES_MAX)]
            server = lab.start(Command("server", words, host="server"))
            before = {host: counted(lab, host, "before") for host in ("client", "server")}
            words = [
                "sockperf",
                "ping-pong",
                *address,
                "-m",
                str(size),
                "-t",
                str(seconds),
                "--full-rtt",
            ]
            client = lab.start(Command("client", words, host="client"))
            client_end = client.require(seconds + LIMIT_S)
            after = {host: counted(lab, host, "after") for host in ("client", "server")}
            server_end = server.stop("INT")
            figures = sockperf_figures(client.output())
    ip = {
        host: {name: after[host][name] - before[host][name] for name in IP_COUNTERS}
        for host in after
    }
    sent = figures["sent"]
    # What both hosts cut is counted over both; a round trip has one block each way.
    blocks_sent = ip["client"]["FragOKs"] + ip["server"]["FragOKs"]
    fragments = ip["client"]["FragCreates"] + ip["server"]["FragCreates"]
    return {
        "mtu": mtu,
        "fabric": kind,
        **figures,
        "fragments_of_a_block": fragments / blocks_sent if blocks_sent else 0.0,
        "ip": ip,
        "client": spent(client_end, sent),
        "server": spent(server_end, sent),
    }


def ping_us(text: str) -> float:
    """Mean of the middle half of the round trips that ping printed, in whole microseconds each."""
    trips = [float(found) * 1000 for found in re.findall(r"time=([\d.]+) ms", text)]
    if len(trips) < PING_COUNT // 2:
        raise ValueError(f"only {len(trips)} of {PING_COUNT} pings were answered: {text[-300:]}")
    quarter = len(trips) // 4
    return mean(sorted(trips)[quarter : len(trips) - quarter])


def pings(fabric: str, sizes: Sequence[int]) -> dict[str, float]:
    """Round trip for each size in microseconds, the median of five turns. Sizes take turns, on the
    same machine."""
    found: dict[str, list[float]] = {str(size): [] for size in sizes}
    options = ["--kind", fabric] if fabric != "tap" else []
    with (
        tempfile.TemporaryDirectory(prefix="pings-") as folder,
        Lab(plan(max(MTUS)), Path(folder), *options) as lab,
    ):
        for turn in range(5):
            for size in sizes:
                argv = [
                    "ping",
                    "-n",
                    "-M",
                    "do",
                    "-s",
                    str(size),
                    "-c",
                    str(PING_COUNT),
                    "-i",
                    PING_EVERY_S,
                ]
                command = Command(
                    f"ping-{turn}-{size}", [*argv, lab.address("server", 0)], host="client"
                )
                found[str(size)].append(ping_us(lab.run(command, LIMIT_S)))
    return {size: round(median(values), 2) for size, values in found.items()}


def fitted(small_us: float, large_us: float, crossings: int = CROSSINGS["tap"]) -> dict[str, float]:
    """Cost of a round trip and of each of its bytes at the hosts, from pings of the two published
    sizes.

    A round trip is the time of so many frames on lines of 1 Gbit/s, a cost for the packets and one
    for each byte.
    """
    small, large = FITTED
    line = crossings * LINE_NS_PER_BYTE / 1000
    byte_us = (large_us - small_us) / (large - small) - line
    packet_us = small_us - line * (small + OVERHEAD_BYTES) - byte_us * small
    return {"packet_us": packet_us, "byte_ns": byte_us * 1000}


def predicted(costs: Mapping[str, float], size: int, crossings: int = CROSSINGS["tap"]) -> float:
    """The round trip of a ping of this size, in microseconds."""
    line = crossings * LINE_NS_PER_BYTE / 1000 * (size + OVERHEAD_BYTES)
    return line + costs["packet_us"] + costs["byte_ns"] / 1000 * size


def predictions(small_us: float, large_us: float, crossings: int) -> dict[str, Any]:
    """The fit, and what it predicts."""
    costs = fitted(small_us, large_us, crossings)
    return {
        "fit": costs,
        "predicted_us": {str(size): round(predicted(costs, size, crossings), 2) for size in TESTED},
    }


def judged(found: dict[str, Any]) -> dict[str, Any]:
    """How far measured pings are from the predictions."""
    errors = {
        size: found["measured_us"][size] / found["predicted_us"][size] - 1
        for size in map(str, TESTED)
    }
    return {"errors": errors, "holds": all(abs(error) <= TOLERANCE for error in errors.values())}


def _write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(json.dumps(data, sort_keys=True))


def _blocks(chosen: argparse.Namespace) -> None:
    found = [
        blocks(mtu, kind, chosen.seconds)
        for _ in range(chosen.trials)
        for kind in ("bridge", "tap")
        for mtu in MTUS
    ]
    _write(
        BLOCKS,
        {
            "block_bytes": BLOCK_BYTES,
            "seconds": chosen.seconds,
            "load": os.getloadavg()[0],
            "trials": found,
        },
    )


def _pings(step: str, fabric: str) -> None:
    every = json.loads(PINGS.read_text(encoding="utf-8")) if PINGS.exists() else {}
    if step == "fit":
        fit = pings(fabric, FITTED)
        small_us, large_us = (fit[str(size)] for size in FITTED)
        every[fabric] = every.get(fabric, {}) | {
            "fitted_us": fit,
            **predictions(small_us, large_us, CROSSINGS[fabric]),
        }
    elif step == "curve":
        every[fabric] |= {"curve_us": pings(fabric, CURVE)}
    else:
        found = every[fabric] | {"measured_us": pings(fabric, TESTED)}
        every[fabric] = found | judged(found)
    _write(PINGS, every)


def main(arguments: Sequence[str]) -> int:
    """Measures what is asked for, or refuses in words."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("what", choices=("blocks", "pings"))
    parser.add_argument("step", choices=("fit", "test", "curve"), nargs="?", default="fit")
    parser.add_argument("--fabric", choices=tuple(CROSSINGS), default="tap", help="of pings")
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=3)
    chosen = parser.parse_args(arguments)
    program = "sockperf" if chosen.what == "blocks" else "ping"
    if shutil.which(program) is None:
        print(
            f"refused: {program} is not installed (hint: apt-get install {program})",
            file=sys.stderr,
        )
        return 2
    if chosen.what == "blocks":
        _blocks(chosen)
    else:
        _pings(chosen.step, chosen.fabric)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
