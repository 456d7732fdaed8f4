"""Class by mix: what each class has of the bandwidth and keeps of its own, with other values of what is assumed, as tables and as a heat map.

.venv/bin/python reproductions/hagen-converged/matrix.py [--out FOLDER]

Writes the tables between the markers of README.md, and heatmap.svg.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from tailrace.experiment.native import make_trial, run_trial
from tailrace.files import write_text
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

HERE = Path(__file__).resolve().parent
CLASSES = ("tcp", "udp", "read", "write")
MIXES = [mix for number in (1, 2, 3) for mix in combinations(CLASSES, number)]
TRIPLES_WITH_WRITE = [mix for mix in MIXES if len(mix) == 3 and "write" in mix]
PS_PER_S = 10**12
SHARE_LIMIT = 25.0
"""Percent of the bandwidth below which the thesis says that iSCSI write is, in each mix of three."""

Rates = Mapping[tuple[str, ...], Mapping[str, float]]
"""Gbit/s of each class in each mix."""


@dataclass(frozen=True)
class Variation:
    """Other values of the scenario."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)


def storage(**keys: Any) -> dict[str, Any]:
    """Keys of both storage workloads."""
    return {f"workloads.{name}.{key}": value for name in ("read", "write") for key, value in keys.items()}


VARIATIONS = [
    Variation("as it is"),
    Variation("TCP: 1 connection", {"workloads.tcp.connections": 1}),
    Variation("TCP: 2 connections", {"workloads.tcp.connections": 2}),
    Variation("TCP: 16 connections", {"workloads.tcp.connections": 16}),
    Variation("UDP: 3 Gbit/s", {"workloads.udp.interarrival": "exponential(3733ns)"}),
    Variation("UDP: 8 Gbit/s", {"workloads.udp.interarrival": "exponential(1400ns)"}),
    Variation("UDP: 9.55 Gbit/s, the line", {"workloads.udp.interarrival": "exponential(1172.8ns)"}),
    Variation("UDP: 6 Gbit/s at even distances", {"workloads.udp.interarrival": "1866.7ns"}),
    Variation("iSCSI: depth 1", storage(depth=1)),
    Variation("iSCSI: depth 32", storage(depth=32)),
    Variation("iSCSI: 64 KiB", storage(block="64KiB")),
    Variation("iSCSI: 1 MiB", storage(block="1MiB")),
    Variation("iSCSI: a SATA SSD", storage(device="sata-ssd")),
    Variation("iSCSI: 4 sessions", storage(jobs=4, depth=2)),
    Variation("source's queue: 256 kB", {"hosts.defaults.nic.queue": "256kB"}),
    Variation("source's queue: 16 MB", {"hosts.defaults.nic.queue": "16MB"}),
    Variation("TCP without small queues (before Linux 3.6)", {"hosts.defaults.tcp.small_queue": "0s"}),
    Variation("MTU 9000", {"hosts.defaults.mtu": "9000B"}),
    Variation("the mechanism off: writes without R2T (NBD)", storage(protocol="nbd")),
    Variation("the mechanism off: classes of 25 % at the source", {
        "hosts.source.nic.ets": {
            "tcp": {"priorities": [1], "share": "25%"},
            "udp": {"priorities": [3], "share": "25%"},
            "san": {"priorities": [6], "share": "50%"},
        }
    }),
]  # fmt: skip


def rates(changes: Mapping[str, Any]) -> dict[tuple[str, ...], dict[str, float]]:
    """Gbit/s of each class in each mix: one trial, seed 1."""
    arms = load_scenario(HERE / "scenario.yaml", changes).arms
    found: dict[tuple[str, ...], dict[str, float]] = {}
    for mix in MIXES:
        name = "-".join(mix)
        data = run_trial(make_trial(canonical_json(lower(arms[name], name, 1)))).data
        seconds = (data["end_ps"] - data["counted_from_ps"]) / PS_PER_S
        own = {workload["name"]: workload["goodput_bytes"] * 8 / seconds / 1e9 for workload in data["workloads"]}
        found[mix] = {name: own[name] for name in mix}
    return found


def shares(found: Rates, mix: tuple[str, ...]) -> dict[str, float]:
    """Percent of what all classes of a mix have together."""
    total = sum(found[mix].values())
    return {name: 100 * rate / total for name, rate in found[mix].items()}


def kept(found: Rates, mix: tuple[str, ...], name: str) -> float:
    """Percent of what the class has alone."""
    return 100 * found[mix][name] / found[(name,)][name]


def losers_first(found: Rates) -> tuple[int, int, list[str]]:
    """How many pairs of read and a one-way class, in mixes with both, have read keep at least as much; out of how many; the others."""
    pairs = [(mix, other) for mix in MIXES if "read" in mix for other in mix if other != "read"]
    against = [f"{'-'.join(mix)} ({other})" for mix, other in pairs if kept(found, mix, "read") < kept(found, mix, other)]
    return len(pairs) - len(against), len(pairs), against


def matrix_table(found: Rates) -> str:
    """Rows: mixes. Columns: Gbit/s, share and what is kept, of each class."""
    lines = ["| mix | " + " | ".join(CLASSES) + " | together, Gbit/s |", "|---|" + "---|" * (len(CLASSES) + 1)]
    for mix in MIXES:
        share = shares(found, mix)
        cells = [
            f"{found[mix][name]:.2f} ({share[name]:.0f} %, keeps {kept(found, mix, name):.0f} %)" if name in mix else ""
            for name in CLASSES
        ]
        lines.append(f"| {', '.join(mix)} | " + " | ".join(cells) + f" | {sum(found[mix].values()):.2f} |")
    return "\n".join(lines)


def sensitivity_table(all_found: Mapping[str, Rates]) -> str:
    """Rows: variations. The share of writes in each mix of three, and how often read keeps at least as much as the others."""
    heads = [", ".join(mix) for mix in TRIPLES_WITH_WRITE]
    lines = [
        "| value | write's share in " + " | ".join(heads) + " | below 25 % | read keeps at least as much as |",
        "|---|" + "---|" * (len(heads) + 2),
    ]
    for name, found in all_found.items():
        own = [shares(found, mix)["write"] for mix in TRIPLES_WITH_WRITE]
        good, of, _ = losers_first(found)
        below = sum(share < SHARE_LIMIT for share in own)
        cells = " | ".join(f"{share:.1f} %" for share in own)
        lines.append(f"| {name} | {cells} | {below} of {len(own)} | {good} of {of} one-way classes |")
    return "\n".join(lines)


CELL, HIGH, LEFT, TOP = 92, 30, 190, 46
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b1f24 }
.none { fill: #eceff2 }
.cell { fill: #1d6fb8 }
.light { fill: #ffffff }
.back { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e9ec }
  .none { fill: #2a2f36 }
  .back { fill: #14171a }
  .cell { fill: #4c9ae0 }
  .light { fill: #0c0e10 }
}
"""
DARK_FROM = 0.55
"""Opacity of a cell from which its text is of the other colour."""


def heat_map(found: Rates) -> str:
    """What each class keeps in each mix of what it has alone: the darker, the less is left."""
    mixes = [mix for mix in MIXES if len(mix) > 1]
    width, height = LEFT + CELL * len(CLASSES) + 12, TOP + HIGH * len(mixes) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>What each class keeps in each mix of its goodput alone, in percent</title>",
        f'<style>{STYLE}</style><rect class="back" width="{width}" height="{height}"/>',
        '<text x="12" y="20">Goodput kept of that alone, %</text>',
    ]
    parts += [
        f'<text x="{LEFT + CELL * (column + 0.5)}" y="{TOP - 8}" text-anchor="middle">{name}</text>'
        for column, name in enumerate(CLASSES)
    ]
    for row, mix in enumerate(mixes):
        y = TOP + HIGH * row
        parts.append(f'<text x="12" y="{y + 20}">{" + ".join(mix)}</text>')
        for column, name in enumerate(CLASSES):
            x = LEFT + CELL * column
            box = f'x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{HIGH - 2}" rx="3"'
            if name not in mix:
                parts.append(f'<rect class="none" {box}/>')
                continue
            value = kept(found, mix, name)
            lost = min(1.0, max(0.0, 1 - value / 100))
            kind = ' class="light"' if lost > DARK_FROM else ""
            parts.append(f'<rect class="none" {box}/><rect class="cell" {box} fill-opacity="{lost:.2f}"/>')
            parts.append(f'<text{kind} x="{x + CELL / 2}" y="{y + 20}" text-anchor="middle">{value:.0f}</text>')
    return "\n".join([*parts, "</svg>", ""])


def between(text: str, name: str, inner: str) -> str:
    """The page with what is between the markers of a name replaced."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = text.split(first, 1)
    return f"{before}{first}\n{inner}\n{last}{rest.split(last, 1)[1]}"


def main() -> None:
    """Runs all and writes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=HERE, help="folder of README.md and heatmap.svg")
    out = arguments.parse_args().out
    all_found = {variation.name: rates(variation.changes) for variation in VARIATIONS}
    as_it_is = all_found[VARIATIONS[0].name]
    page = (out / "README.md").read_text(encoding="utf-8")
    page = between(page, "matrix", matrix_table(as_it_is))
    write_text(out / "README.md", between(page, "sensitivity", sensitivity_table(all_found)))
    write_text(out / "heatmap.svg", heat_map(as_it_is))
    for name, found in all_found.items():
        print(name, *losers_first(found)[2], sep="; ")


if __name__ == "__main__":
    main()
