"""Write the tables of README.md and result-summary.json from runs of this folder's scenarios.

    summary.py RUN...    take these run directories into the summary; runs of one scenario and engine are pooled
    summary.py           write the tables of the summary that is there

Only valid trials count. A live run that is spread over several directories, because the machine was
not quiet, is given as all of them; those whose rates were divided (`--live-scale N`) are an engine
of their own, `live-N` or `simulated-N`.
"""  # noqa: E501

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from line_rate import lines_of

from tailrace.outcome.types import Workload
from tailrace.results import Run
from tailrace.results.compare.fidelity import engine_name
from tailrace.results.directory.run_directory import Trial

HERE = Path(__file__).resolve().parent
SUMMARY = HERE / "result-summary.json"
README = HERE / "README.md"
SMALL = ("small", "XS", "S", "M")
"""Workloads of short answers, in any of the scenarios."""
BULK = ("bulk-a", "bulk-b")
PERCENTILES = (50, 90, 95, 99)
TCP = ("timeouts", "tail_loss_probes", "retransmits")
PS_PER_MS = 1e9
BITS_PER_GBIT = 1e9
PS_PER_S = 1e12
Json = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Writes what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="run directory")
    summary = json.loads(SUMMARY.read_text()) if SUMMARY.exists() else {}
    found: dict[tuple[str, str], list[Run]] = {}
    for path in parser.parse_args(arguments).runs:
        run = Run.read(path)
        engine = engine_name(run) + (f"-{run.live_scale}" if run.live_scale != 1 else "")
        found.setdefault((run.name, engine), []).append(run)
    for (name, engine), runs in found.items():
        summary.setdefault(name, {})[engine] = condense(runs)
    SUMMARY.write_text(json.dumps(summary, indent=1) + "\n")
    README.write_text(with_tables(README.read_text(), summary))
    return 0


def condense(runs: list[Run]) -> Json:
    """Figures by arm, over the valid trials of all runs, and how many trials did not count."""
    arms = list(dict.fromkeys(arm for run in runs for arm in run.arms))
    by_arm = {arm: [trial for run in runs for trial in run.trials.get(arm, [])] for arm in arms}
    return {
        "seeds": sorted({run.seed for run in runs}),
        "versions": runs[0].manifest.get("versions"),
        "arms": {arm: of_arm(trials) for arm, trials in by_arm.items()},
        "lines": [
            line for run in runs for source in BULK for line in lines_of(run.path, source, "client")
        ],
    }


def of_arm(trials: list[Trial]) -> Json:
    """One row of the tables."""
    valid = [trial for trial in trials if trial.status == "ok"]
    row: Json = {"trials": len(valid), "void": len(trials) - len(valid)}
    if not valid:
        return row
    goodput = [gbps(trial) for trial in valid]
    recorded = [workload.latency for trial in valid for workload in small(trial)]
    latency = pooled([list(bucket) for bucket in one.buckets] for one in recorded if one)
    row["small_gbps"] = rounded(sum(goodput) / len(goodput))
    row["small_gbps_range"] = [rounded(min(goodput)), rounded(max(goodput))]
    row["transactions"] = rounded(sum(latency.values()) / len(valid))
    row["latency_ms"] = {f"p{p}": rounded(percentile(latency, p)) for p in PERCENTILES}
    for key in TCP:
        counts = [getattr(workload.tcp, key, None) for trial in valid for workload in small(trial)]
        row[key] = None if None in counts else rounded(sum(counts) / len(valid))
    row["lost_percent"] = {
        "small": lost_percent(valid, is_small=True),
        "bulk": lost_percent(valid, is_small=False),
    }
    row["own_queue_drops"] = rounded(
        sum(h.nic_queue_drops for t in valid for h in t.outcome.hosts) / len(valid)
    )
    return row


def small(trial: Trial) -> list[Workload]:
    """The workloads of short answers."""
    return [workload for workload in trial.outcome.workloads if workload.name in SMALL]


def gbps(trial: Trial) -> float:
    """Goodput of the short answers."""
    seconds = trial.outcome.end_ps / PS_PER_S
    return float(
        sum(workload.goodput_bytes for workload in small(trial)) * 8 / BITS_PER_GBIT / seconds
    )


def lost_percent(trials: list[Trial], *, is_small: bool) -> float | None:
    """Part of the frames with data that found no room at the port towards the client."""
    sent = dropped = 0
    for trial in trials:
        for port in trial.outcome.ports:
            for row in (port.traffic or []) if port.towards == "client" else []:
                if set(row.workloads).issubset(SMALL) == is_small:
                    sent += row.sent_frames
                    dropped += row.dropped_frames
    return rounded(dropped / (sent + dropped) * 100) if sent + dropped else None


def pooled(histograms: Iterable[list[list[int]]]) -> Counter[int]:
    """Latencies of all trials together, in picoseconds."""
    counts: Counter[int] = Counter()
    for histogram in histograms:
        for latency, count in histogram:
            counts[latency] += count
    return counts


def percentile(counts: Counter[int], p: float) -> float:
    """In milliseconds."""
    need, seen = p / 100 * sum(counts.values()), 0
    for latency in sorted(counts):
        seen += counts[latency]
        if seen >= need:
            return latency / PS_PER_MS
    return 0.0


def rounded(value: float) -> float:
    """Three significant digits are more than any of these figures deserves."""
    return float(f"{value:.3g}")


def with_tables(text: str, summary: Json) -> str:
    """The page with every table written anew: one between `<!-- table NAME ENGINE ARM... -->` and
    `<!-- end -->`."""
    out, is_inside = [], False
    for line in text.splitlines():
        if line == "<!-- end -->":
            is_inside = False
        if not is_inside:
            out.append(line)
        if line.startswith("<!-- table "):
            is_inside = True
            kind, *rest = line.removeprefix("<!-- table ").removesuffix(" -->").split()
            out += TABLES[kind](summary, rest)
    return "\n".join(out) + "\n"


def arms_table(summary: Json, words: list[str]) -> list[str]:
    """NAME ENGINE ARM...: what the short answers get."""
    name, engine, *arms = words
    lines = [
        "| arm | trials | small, Gbit/s (range) | p50, ms | p90 | p95 | p99 | timeouts | lost: "
        "small, % | bulk, % |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows = summary.get(name, {}).get(engine, {}).get("arms", {})
    return lines + [arm_line(arm, rows[arm]) for arm in arms if arm in rows]


def arm_line(arm: str, row: Json) -> str:
    """One row."""
    if not row["trials"]:
        return f"| {arm} | 0 ({row['void']} void) |" + " – |" * 8
    low, high = row["small_gbps_range"]
    latency = [f"{row['latency_ms'][f'p{p}']:g}" for p in PERCENTILES]
    rest = [
        shown(row["timeouts"]),
        shown(row["lost_percent"]["small"]),
        shown(row["lost_percent"]["bulk"]),
    ]
    cells = [arm, str(row["trials"]), f"{row['small_gbps']:g} ({low:g}–{high:g})", *latency, *rest]
    return "| " + " | ".join(cells) + " |"


def transactions_table(summary: Json, words: list[str]) -> list[str]:
    """NAME ENGINE ARM...: transactions of the short answers and who dropped."""
    name, engine, *arms = words
    rows = summary.get(name, {}).get(engine, {}).get("arms", {})
    lines = [
        "| arm | trials | small transactions | dropped by senders' own queues |",
        "|---|---|---|---|",
    ]
    return lines + [
        f"| {arm} | {rows[arm]['trials']} | {rows[arm]['transactions']:g} | "
        f"{rows[arm]['own_queue_drops']:g} |"
        for arm in arms
        if arm in rows
    ]


def lines_table(summary: Json, words: list[str]) -> list[str]:
    """NAME ENGINE: how much of their lines the bulk hosts used in logged trials."""
    name, engine = words
    lines = summary.get(name, {}).get(engine, {}).get("lines", [])
    spans = [gaps["us"] for gaps in lines[0]["idle"]] if lines else []
    head = ["trial", "host", "of its line", "median of 500 ms", *(f"{span} µs" for span in spans)]
    rows = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for line in lines:
        idle = [f"{gaps['ppm']:.0f} ({gaps['count']})" for gaps in line["idle"]]
        cells = [
            line["trial"],
            line["source"],
            f"{line['mean']:.4f}",
            f"{line['median']:.5f}",
            *idle,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def shown(value: float | None) -> str:
    """A dash for what a run did not count."""
    return "–" if value is None else f"{value:g}"


TABLES = {"arms": arms_table, "lines": lines_table, "transactions": transactions_table}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
