"""live.md, from what was measured: runs of cluster.yaml (live-cluster.json), blocks and pings
(rac_blocks.py).

Usage: .venv/bin/python reproductions/oracle-rac-jumbo/rac_page.py [--note TEXT] [RUN] With a run
directory of cluster.yaml it first reads that into live-cluster.json; without, it writes the page
again.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rac_blocks import TOLERANCE
from rac_collapse_page import section
from tailrace.results.directory.run_directory import Run, Trial
from tailrace.statistics import mean

HERE = Path(__file__).resolve().parent
CLUSTER, BLOCKS, PINGS, PAGE = (
    HERE / name for name in ("live-cluster.json", "live-blocks.json", "live-pings.json", "live.md")
)
NODES, USERS = ("node1", "node2"), ("users1", "users2")
PS_PER_S, PS_PER_MS, US_PER_S = 10**12, 10**9, 10**6
PACKETS_SAVED = 5
"""Of a block of 8 KB: six fragments, or one packet."""
PUBLISHED_PACKETS, PUBLISHED_S = (2_500_000, 3_000_000), 4 * 3600
"""Fewer UDP packets in the four hours of the stressed test."""
SHARE = 0.1
"""Of a core, that jumbo frames are to save."""


def read(path: Path) -> dict[str, Any]:
    """Every valid trial of a run, by arm."""
    run = Run.read(path)
    every = [trial for trials in run.trials.values() for trial in trials]
    return {
        "arms": {arm: [cluster_figures(trial) for trial in run.valid(arm)] for arm in run.arms},
        "failed": [
            f"{trial.arm}/{trial.number}: {trial.reason}" for trial in every if trial.status != "ok"
        ],
        "versions": run.manifest.versions,
    }


def cluster_figures(trial: Trial) -> dict[str, Any]:
    """Transactions, packets between the nodes, and what was rolled back, of one trial."""
    outcome = trial.outcome
    live, workloads = outcome.live, outcome.workloads
    assert live is not None, "the trial is live"
    reports = live.programs.reports
    told = {node: reported(reports[f"galera-{node}"]) for node in NODES}
    commits = sum(one["wsrep_local_commits"] for one in told.values())
    failed: dict[str, int] = {}
    for one in workloads:
        for error, count in (one.failed_attempts or {}).items():
            failed[error] = failed.get(error, 0) + count
    span_s = (outcome.end_ps - workloads[0].counted_from_ps) / PS_PER_S
    return {
        "rate_per_s": sum(one.transactions for one in workloads) / span_s,
        "p50_ms": mean([one.latency.p50_ps / PS_PER_MS for one in workloads if one.latency]),
        "p99_ms": mean([one.latency.p99_ps / PS_PER_MS for one in workloads if one.latency]),
        "commits": commits,
        "failed": failed,
        "packets": interconnect_frames(live.counters),
        "replicated_bytes": sum(one["wsrep_replicated_bytes"] for one in told.values()),
        "paused_share": mean(
            [one["wsrep_flow_control_paused_ns"] / 1e9 / live.span_s for one in told.values()]
        ),
    }


def reported(text: str) -> dict[str, int]:
    """The numbers of a node's report."""
    rows = (line.split(maxsplit=1) for line in text.splitlines())
    return {row[0]: int(row[1]) for row in rows if row[1].strip().isdecimal()}


def interconnect_frames(counters: dict[str, dict[str, int]]) -> int:
    """Frames between the nodes: theirs without those to and from their users, each counted at both
    ends."""

    def both_ways(hosts: Sequence[str]) -> int:
        return sum(counters[host]["rx_frames"] + counters[host]["tx_frames"] for host in hosts)

    return (both_ways(NODES) - both_ways(USERS)) // 2


def page(cluster: dict[str, Any], blocks: dict[str, Any], pings: dict[str, Any]) -> str:
    """The whole page."""
    parts = [HEAD, _cluster(cluster), _blocks(blocks), _derived(blocks), section(), _pings(pings)]
    return "\n".join(parts)


def _cluster(cluster: dict[str, Any]) -> str:
    rows = [CLUSTER_HEAD]
    for arm, trials in cluster["arms"].items():
        if trials:
            rows.append(_row([arm, *_cluster_cells(trials)]))
    rows += [
        "",
        *_changes(cluster["arms"]),
        CLUSTER_LIMITS.format(note=cluster.get("note") or "nothing else"),
    ]
    rows += [f"- failed: {reason}" for reason in cluster["failed"]]
    return "\n".join(rows) + "\n"


def _cluster_cells(trials: list[dict[str, Any]]) -> list[str]:
    commits = sum(one["commits"] for one in trials)
    failed: dict[str, int] = {}
    for one in trials:
        for error, count in one["failed"].items():
            failed[error] = failed.get(error, 0) + count
    return [
        f"{mean([one['rate_per_s'] for one in trials]):,.0f} "
        f"({_each(trials, 'rate_per_s', '{:,.0f}')})",
        f"{mean([one['p50_ms'] for one in trials]):.1f}",
        f"{mean([one['p99_ms'] for one in trials]):.0f}",
        f"{sum(one['packets'] for one in trials) / commits:.2f}",
        f"{sum(one['replicated_bytes'] for one in trials) / commits:,.0f}",
        f"{sum(failed.values()) / commits * 1000:.1f}",
        ", ".join(f"{error}: {count}" for error, count in sorted(failed.items())) or "none",
        f"{mean([one['paused_share'] for one in trials]) * 100:.0f} %",
    ]


def _each(trials: list[dict[str, Any]], key: str, form: str) -> str:
    return ", ".join(form.format(one[key]) for one in trials)


def _changes(arms: dict[str, list[dict[str, Any]]]) -> list[str]:
    """From 1500 to 9000 bytes, for each load."""
    lines = []
    for load in ("light", "stressed"):
        small, large = arms.get(f"{load}-1500"), arms.get(f"{load}-9000")
        if small and large:
            rate = (
                mean([one["rate_per_s"] for one in large])
                / mean([one["rate_per_s"] for one in small])
                - 1
            )
            packets = _packets(large) / _packets(small) - 1
            lines.append(
                f"- **{load}**, from 1500 to 9000: transactions {rate:+.1%}, packets per "
                f"transaction {packets:+.0%}"
            )
    return lines


def _packets(trials: list[dict[str, Any]]) -> float:
    return float(sum(one["packets"] for one in trials) / sum(one["commits"] for one in trials))


def _blocks(blocks: dict[str, Any]) -> str:
    rows = [BLOCKS_HEAD.format(seconds=blocks["seconds"], load=blocks["load"])]
    for fabric in ("bridge", "tap"):
        for mtu in (1500, 9000):
            own = _of(blocks, fabric, mtu)
            if own:
                cells = [
                    FABRICS[fabric],
                    str(mtu),
                    f"{mean([one['fragments_of_a_block'] for one in own]):g}",
                ]
                for value in ("p50_us", "p99_us"):
                    cells.append(f"{mean([one[value] for one in own]):.0f}")
                for part in ("client", "server"):
                    cells.append(f"{mean([one[part]['cpu_us'] for one in own]):.1f}")
                    cells.append(f"{mean([one[part]['switches'] for one in own]):.2f}")
                rows.append(_row(cells))
    return "\n".join(rows) + "\n"


def _of(blocks: dict[str, Any], fabric: str, mtu: int) -> list[dict[str, Any]]:
    return [one for one in blocks["trials"] if (one["fabric"], one["mtu"]) == (fabric, mtu)]


def saved_us(blocks: dict[str, Any]) -> float:
    """Processor time of both hosts that a block costs less at 9000: a round trip has two blocks."""

    def cost(mtu: int) -> float:
        own = _of(blocks, "bridge", mtu)
        return mean([one["client"]["cpu_us"] + one["server"]["cpu_us"] for one in own]) / 2

    return cost(1500) - cost(9000)


def _derived(blocks: dict[str, Any]) -> str:
    saved = saved_us(blocks)
    low, high = (packets / PUBLISHED_S for packets in PUBLISHED_PACKETS)
    rates = [rate / PACKETS_SAVED for rate in (low, high)]
    return DERIVED.format(
        saved=saved,
        low=low,
        high=high,
        low_blocks=rates[0],
        high_blocks=rates[1],
        low_core=rates[0] * saved / US_PER_S * 100,
        high_core=rates[1] * saved / US_PER_S * 100,
        rate=SHARE * US_PER_S / saved,
        mbit=SHARE * US_PER_S / saved * 8192 * 8 / 1e6,
    )


def _pings(pings: dict[str, Any]) -> str:
    rows = [PINGS_HEAD]
    for fabric in ("tap", "bridge"):
        if own := pings.get(fabric):
            rows += [_row([FABRICS[fabric], *cells]) for cells in _ping_cells(own)]
    curve = pings["tap"]["curve_us"]
    shown = ", ".join(
        f"{size}: {us:.0f}" for size, us in sorted(curve.items(), key=lambda one: int(one[0]))
    )
    costs = {
        f"{fabric}_{key}": value
        for fabric, own in pings.items()
        for key, value in own["fit"].items()
    }
    return "\n".join([*rows, PINGS_LAST.format(curve=shown, again=curve["56"], **costs)]) + "\n"


def _ping_cells(own: dict[str, Any]) -> list[list[str]]:
    found = []
    for size in sorted({*own["fitted_us"], *own["predicted_us"]}, key=int):
        if size in own["fitted_us"]:
            found.append([size, f"{own['fitted_us'][size]:.1f}", "–", "fitted"])
        elif "measured_us" in own:
            predicted, error = own["predicted_us"][size], own["errors"][size]
            mark = "✓" if abs(error) <= TOLERANCE else "✗"
            found.append(
                [
                    size,
                    f"{own['measured_us'][size]:.1f}",
                    f"{predicted:.1f}",
                    f"{error:+.1%} {mark}",
                ]
            )
        else:
            found.append([size, "not yet", f"{own['predicted_us'][size]:.1f}", "–"])
    return found


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


FABRICS = {"bridge": "kernel's bridge, no rate", "tap": "1 Gbit/s"}

HEAD = """# Measured: a real cluster, blocks and pings

`rac_page.py` writes this page. All hosts are network namespaces of **one virtual machine with two cores**, so that processor times are those of
this machine and programs compete for it. Interfaces have no offloads: a packet that is counted is one on the wire.

```sh
make live-deps; apt-get install sockperf iptables
tailrace run --live reproductions/oracle-rac-jumbo/cluster.yaml --out runs/cluster
.venv/bin/python reproductions/oracle-rac-jumbo/rac_blocks.py blocks
.venv/bin/python reproductions/oracle-rac-jumbo/rac_blocks.py pings fit    # then, with the prediction kept: pings test
for e in "" --exact --live; do tailrace run $e reproductions/oracle-rac-jumbo/collapse.yaml --out runs/collapse$e; done
.venv/bin/python reproductions/oracle-rac-jumbo/rac_collapse.py; .venv/bin/python reproductions/oracle-rac-jumbo/rac_collapse_page.py runs/collapse*
.venv/bin/python reproductions/oracle-rac-jumbo/rac_page.py runs/cluster
```
"""  # noqa: E501  lines of a page

CLUSTER_HEAD = """## Two nodes that replicate to each other

MariaDB with Galera on two nodes, sysbench users of their own at each (`cluster.yaml`): four reads and one write of 8 kB in each transaction; 4 users for each
node with pauses of 20 ms (light), or 16 without (stressed). The MTU of the nodes is set before they start; that of the users' hosts is
always 1500. Packets are those between the nodes by the counters of their interfaces, without those of the users. Every trial starts
from the same stopped data directory, compared byte by byte, with cold caches.

| arm | transactions/s (trials) | p50, ms | p99, ms | packets per transaction | replicated bytes | failed per 1000 | failed, by error | paused by flow control |
|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  lines of a page

CLUSTER_LIMITS = """
- **It replicates over TCP**, which cuts a block into segments and acknowledges them, and not over UDP in fragments; a write goes to the other node once, where
  Oracle moves blocks that are read. It shows what an MTU does to a real cluster, not what it did to the published one.
- There are no bonds: this kernel has none. Two cores run both nodes, all users and the switch: the stressed arms measure the machine, and
  a change of transactions there is within what repeats differ by unless it is larger than the trials in the column.
- What ran beside: {note}."""  # noqa: E501  lines of a page

BLOCKS_HEAD = """## Blocks of 8192 bytes over UDP

sockperf, one block each way after the other, {seconds} s; processor time and context switches of each program for a round trip, means over trials.
Over the bridge a sender's time includes what the kernel does to deliver: cutting, and putting together at the other host. Over emulated lines that is done in the
time of whichever program runs then, the switch's too, so that these times cannot be added. **Other work ran beside**: the load average at the end was {load:.1f} on two cores.

| network | MTU | fragments of a block | round trip p50, µs | p99, µs | client, µs of CPU | switches | server, µs of CPU | switches |
|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  lines of a page

DERIVED = """## What follows for the published figures

- Jumbo frames save **{saved:.1f} µs of processor time a block** here, of both hosts together, by the table above (bridge).
- "2.5 to 3 million fewer packets in 4 hours" are {low:.0f} to {high:.0f} packets a second, and with five packets saved for each block **{low_blocks:.0f} to
  {high_blocks:.0f} blocks a second**. At the time of a block above that is {low_core:.3f} to {high_core:.3f} % of one core.
- **About 200 packets a second cannot explain the published fall of the load**, whatever a packet costs: to save a tenth of one core with {high:.0f} packets a
  second, each would have to cost half a millisecond.
- Jumbo frames save a tenth of one core from **{rate:,.0f} blocks a second** on ({mbit:,.0f} Mbit/s of blocks).
"""  # noqa: E501  lines of a page

PINGS_HEAD = """## Pings between the published sizes

Round trips at an MTU of 9000. A round trip is four whole frames on lines of 1 Gbit/s (two links each way; none over the bridge), a cost of the
packets and one of each byte. 56 and 8972 bytes **fit** the two costs; 1472 and 4000 bytes were predicted from them, the prediction was
committed, and then they were measured.

| network | bytes | measured, µs | predicted, µs | error, within 15 % |
|---|---|---|---|---|"""  # noqa: E501  lines of a page

PINGS_LAST = """
- The fits: {tap_packet_us:.0f} µs for the packets and {tap_byte_ns:.1f} ns a byte over emulated lines, {bridge_packet_us:.1f} µs and {bridge_byte_ns:.2f} ns over the bridge.
- **Over emulated lines the model fails for 1472 bytes.** The switch of the lab is a program, and what it needs to wake up varies by more than small frames
  take on the line: measured again after the test, 56 bytes took {again:.0f} µs, and the curve falls before it rises (bytes: µs): {curve}. A lab
  with emulated lines cannot test this model below about 3000 bytes on this machine.
- **Over the kernel's bridge it holds.** No line is emulated there, and hosts' costs are alone. It is a second test, made because the first had failed.
- Both are costs of this machine's kernel; those of the published hosts are fitted in [README.md](README.md) and tested by nothing.
"""  # noqa: E501  lines of a page


def main() -> None:
    """Reads a run, if there is one, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--note", default="", help="what else ran on the machine")
    parser.add_argument("run", nargs="?", type=Path)
    chosen = parser.parse_args()
    if chosen.run:
        found = read(chosen.run) | {"note": chosen.note}
        CLUSTER.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    texts = (path.read_text(encoding="utf-8") for path in (CLUSTER, BLOCKS, PINGS))
    PAGE.write_text(page(*map(json.loads, texts)), encoding="utf-8")


if __name__ == "__main__":
    main()
