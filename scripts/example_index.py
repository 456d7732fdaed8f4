"""`examples/README.md` and the README's table of features, from runs of the examples.

`python scripts/example_index.py` runs every example (a few minutes) and writes
`examples/results.json`; `make docs` makes the pages from that file and from what the examples say
of themselves. `--runs FOLDER` keeps the run directories, and takes what is there already.
"""

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tailrace
from tailrace.results.compare.judge import judge
from tailrace.results.directory.published import Band
from tailrace.results.directory.run_directory import Run
from tailrace.results.format.numbers import digits_text
from tailrace.scenario.text.yaml import load_yaml

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
RESULTS = EXAMPLES / "results.json"
PAGE = EXAMPLES / "README.md"
README_MARKS = ("<!-- features: written by `make docs` -->", "<!-- end of features -->")
TRIALS = 6
LEVELS = ("first steps", "one mechanism", "several mechanisms", "research")


@dataclass(frozen=True)
class Lesson:
    """How hard an example is, and the figure that shows its point."""

    level: str
    figure: str
    """The quantity with its unit."""
    metric: str
    place: tuple[tuple[str, str], ...] = ()
    """Further keys of an expectation, such as the workload."""
    factor: float = 1.0
    """From the unit of the metric to that of the words."""


def lesson(level: int, figure: str, metric: str, factor: float = 1.0, **place: str) -> Lesson:
    """A lesson with its place in keywords."""
    return Lesson(LEVELS[level], figure, metric, tuple(place.items()), factor)


LESSONS = {
    "jumbo": lesson(0, "goodput of a bulk transfer, Gbit/s", "goodput_gbps", workload="copy"),
    "dpp": lesson(
        0, "completion of the small database's users, s", "completion_s", workload="small"
    ),
    "buffers": lesson(0, "median latency of the orders, ms", "latency_p50_ms", workload="orders"),
    "requests": lesson(
        0, "99th percentile of a request through a news flash, ms", "latency_p99_ms", workload="web"
    ),
    "blocks": lesson(0, "transactions of two nodes a second", "rate_per_s", workload="rac"),
    "mpi": lesson(
        1, "ping-pong of 8 bytes, µs there and back", "latency_mean_ms", 1000, workload="short"
    ),
    "reassembly-collapse": lesson(
        0, "goodput of blocks over UDP, Gbit/s", "goodput_gbps", workload="blocks"
    ),
    "storage-local": lesson(
        0,
        "blocks of 4 KiB that an SSD delivers to a server, a second",
        "read_iops",
        workload="disk",
    ),
    "iscsi": lesson(
        0, "requests to a drive behind iSCSI, one at a time, a second", "rate_per_s", workload="vdb"
    ),
    "bond": lesson(
        1, "goodput of a server with two links, Gbit/s", "goodput_gbps", workload="reads"
    ),
    "tiers": lesson(1, "requests that failed, %", "failed_percent", workload="pages"),
    "incast": lesson(
        0, "time until all responses have arrived, ms", "completion_s", 1000, workload="answers"
    ),
    "cut-through": lesson(
        0,
        "median latency of a probe over three switches, µs",
        "latency_p50_ms",
        1000,
        workload="probes",
    ),
    "policer": lesson(
        0, "goodput of all streams, Gbit/s", "goodput_gbps", workload="iperf", after="100ms"
    ),
    "dctcp": lesson(1, "median latency of the orders, ms", "latency_p50_ms", workload="orders"),
    "dwrr": lesson(1, "goodput of the class with 50 %, Gbit/s", "goodput_gbps", workload="gold"),
    "ets": lesson(
        1, "goodput share of the class with 60 %, %", "goodput_share_percent", workload="web"
    ),
    "host-ets": lesson(
        1,
        "goodput of storage beside TCP and datagrams at line rate, Gbit/s",
        "goodput_gbps",
        workload="san",
    ),
    "frames": lesson(
        1, "transactions beside a sender of frames, a second", "rate_per_s", workload="orders"
    ),
    "afd": lesson(
        1,
        "goodput share of a flooding host (fair share: 4.3 %), %",
        "goodput_share_percent",
        workload="hog1",
        after="2s",
    ),
    "wred": lesson(
        1, "frames retransmitted by the workload with ECN", "retransmits", workload="web"
    ),
    "shared-buffer": lesson(
        1,
        "mean queue of a congested port, kB",
        "queue_depth_mean_bytes",
        1e-3,
        port="leaf>sink1",
        after="5ms",
    ),
    "pfc": lesson(1, "frames that switches dropped", "drops_frames"),
    "storm": lesson(
        1,
        "goodput of the stream to the healthy host, Gbit/s",
        "goodput_gbps",
        workload="to-healthy",
    ),
    "spreading": lesson(
        1,
        "goodput of the stream that meets no congestion, Gbit/s",
        "goodput_gbps",
        workload="victim",
        after="100ms",
    ),
    "qcn": lesson(
        1,
        "goodput of the innocent stream, Gbit/s",
        "goodput_gbps",
        workload="innocent",
        after="300ms",
    ),
    "noisy-neighbour": lesson(
        1, "99th percentile of the orders' latency, ms", "latency_p99_ms", workload="orders"
    ),
    "limits": lesson(2, "goodput of the copy, Gbit/s", "goodput_gbps", workload="copy"),
    "nexus": lesson(
        2, "median latency of the medium transactions, ms", "latency_p50_ms", workload="medium"
    ),
    "virtual-switch": lesson(2, "requests a second", "rate_per_s", workload="http"),
    "leaf-spine": lesson(2, "median completion of a flow, ms", "latency_p50_ms", workload="web"),
    "spanning-tree": lesson(
        2, "goodput of one department's stream, Gbit/s", "goodput_gbps", workload="accounts-1"
    ),
    "deadlock": lesson(2, "links in a pause deadlock at the end", "deadlock_links"),
    "growth": lesson(3, "segments retransmitted by M", "retransmits", workload="M"),
    "sawtooth": lesson(
        3, "highest queue, kB", "queue_depth_max_bytes", 1e-3, port="leaf>sink", after="50ms"
    ),
    "slowdown": lesson(3, "99th percentile of 10 kB flows, ms", "latency_p99_ms", workload="small"),
}
"""In the order in which they are best read."""


@dataclass(frozen=True)
class Feature:
    """A row of the README's table: which traffic a feature helps, from two arms of an example."""

    name: str
    helps: str
    example: str
    arms: tuple[str, str]


FEATURES = (
    Feature(
        "Dynamic Packet Prioritization",
        "small transactions that compete with bulk transfers",
        "dpp",
        ("fifo", "dpp"),
    ),
    Feature(
        "Fair drop and ECN in addition",
        "transactions that are longer than the first 20 packets",
        "nexus",
        ("dpp", "dpp-afd-ecn"),
    ),
    Feature(
        "ECN marking with DCTCP", "all traffic behind a bulk transfer", "dctcp", ("cubic", "dctcp")
    ),
    Feature(
        "Less buffer for bulk",
        "latency; too small a buffer reduces throughput",
        "buffers",
        ("deep", "shallow"),
    ),
    Feature(
        "Dynamic buffer limit",
        "simultaneous responses of many servers",
        "incast",
        ("static", "dynamic"),
    ),
    Feature(
        "Approximate Fair Drop",
        "all traffic that competes with an unresponsive host",
        "afd",
        ("tail-drop", "afd"),
    ),
    Feature(
        "Bandwidth shares (DWRR, ETS)",
        "a class with few connections",
        "dwrr",
        ("one-queue", "shares"),
    ),
    Feature("Jumbo frames", "bulk transfers, a little", "jumbo", ("mtu-1500", "mtu-9000")),
    Feature(
        "More streams",
        "a transfer under a per-flow rate limit of a cloud provider",
        "policer",
        ("1-stream", "4-streams"),
    ),
    Feature(
        "A spanning tree per VLAN",
        "departments that share one spanning tree",
        "spanning-tree",
        ("one-tree", "tree-per-vlan"),
    ),
    Feature(
        "Separate priority",
        "a stream that shares a lossless class with a slow host",
        "spreading",
        ("one-priority", "two-priorities"),
    ),
    Feature(
        "PFC watchdog", "neighbours of a broken interface", "storm", ("no-watchdog", "watchdog")
    ),
)


def main(arguments: list[str]) -> int:
    """Run the examples and write what they gave."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=Path, metavar="FOLDER", help="where the run directories stay"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        results = {name: measured(name, (options.runs or Path(place)) / name) for name in LESSONS}
    RESULTS.write_text(json.dumps({"trials": TRIALS, "examples": results}, indent=1) + "\n")
    return 0


def measured(name: str, out: Path) -> dict[str, Any]:
    """The figure of every arm: its mean over the trials, and the interval where there is one."""
    print(name, flush=True)
    with warnings.catch_warnings():  # some examples show what is warned of
        warnings.simplefilter("ignore", tailrace.ScenarioWarning)
        result = tailrace.run(EXAMPLES / f"{name}.yaml", trials=TRIALS, out=out)
    run, shown = Run.read(result.path), LESSONS[name]
    raw = {"metric": shown.metric, "at_least": 0, **dict(shown.place)}
    values = {arm: judge(run, Band.parse(raw | {"arm": arm}, name)).value for arm in run.arms}
    scaled = {
        arm: None if value is None else float(f"{value * shown.factor:.4g}")
        for arm, value in values.items()
    }
    return {"figure": shown.figure, "values": scaled}


def render() -> str:
    """The index of the examples."""
    results = json.loads(RESULTS.read_text())
    return "\n".join(lines(results)) + "\n"


def lines(results: dict[str, Any]) -> Iterator[str]:
    """The page from the top."""
    yield "# Examples"
    yield ""
    yield (
        "Small scenarios, one lesson each: a question, the arms that answer it, and "
        "expectations checked by a test."
    )
    yield (
        "`tailrace run examples/dpp.yaml` runs one; most take a few seconds, the longest a "
        "minute or two."
    )
    yield f"Results are means of {results['trials']} trials. Written by `make docs`;"
    yield "`python scripts/example_index.py` repeats the runs."
    for level in LEVELS:
        yield ""
        yield f"## {level.capitalize()}"
        yield ""
        yield "| Example | Question | Result |"
        yield "|---|---|---|"
        for name in (name for name, shown in LESSONS.items() if shown.level == level):
            yield (
                f"| [{name}]({name}.yaml) | {question(name)} | {words(results['examples'][name])} |"
            )
    yield ""
    yield (
        "[notebook_cisco.py](notebook_cisco.py) is a notebook: it runs a small part of the "
        "reproduction of Cisco's"
    )
    yield "paper and examines the result in Python."


def question(name: str) -> str:
    """The question that the example answers."""
    return str(load_yaml((EXAMPLES / f"{name}.yaml").read_text(), is_marked=False)["description"])


def words(result: dict[str, Any]) -> str:
    """A figure of every arm in one sentence."""
    values = ", ".join(f"`{arm}` {digits_text(value)}" for arm, value in result["values"].items())
    return f"{result['figure'][0].upper()}{result['figure'][1:]}: {values}"


def features() -> str:
    """The README's table."""
    examples = json.loads(RESULTS.read_text())["examples"]
    rows = ["| Feature | Helps | Without | With | Figure | Example |", "|---|---|---|---|---|---|"]
    for feature in FEATURES:
        result = examples[feature.example]
        before, after = (digits_text(result["values"][arm]) for arm in feature.arms)
        link = f"[{feature.example}](examples/{feature.example}.yaml)"
        rows.append(
            f"| {feature.name} | {feature.helps} | {before} | {after} | "
            f"{result['figure']} | {link} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
