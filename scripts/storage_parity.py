"""Storage in two engines: median and mean latencies of two runs, as in
docs/models/storage-protocols.md.

tailrace run examples/exact/storage.yaml --out runs/simulated
tailrace run examples/exact/storage.yaml --exact --out runs/exact
.venv/bin/python scripts/storage_parity.py runs/simulated runs/exact
"""

import sys
from pathlib import Path
from statistics import mean

from tailrace.results import Run

PS_PER_US = 1e6
PROTOCOLS = {"iscsi": "iSCSI", "nvme": "NVMe/TCP"}
SIZES = {"4k": "4 KiB", "128k": "128 KiB", "1m": "1 MiB"}


def main(folders: list[str]) -> int:
    """Print the table."""
    if len(folders) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    simulated, exact = (Run.read(Path(folder)) for folder in folders)
    print(
        "| Requests | Median: simulated | exact | difference | Mean: simulated | exact | "
        "difference |"
    )
    print("|---" * 7 + "|")
    for arm in simulated.arms:
        cells = [
            cell
            for of in ("p50_ps", "mean_ps")
            for cell in compared(*(us(run, arm, of) for run in (simulated, exact)))
        ]
        print(f"| {named(arm)} | {' | '.join(cells)} |")
    return 0


def us(run: Run, arm: str, of: str) -> float | None:
    """A figure of the latencies of an arm, the mean over its trials; nothing if no request was
    answered."""
    latencies = (
        [trial.outcome.workloads[0].latency for trial in run.with_outcome(arm)]
        if arm in run.arms
        else []
    )
    found = [float(getattr(latency, of)) for latency in latencies if latency]
    return mean(found) / PS_PER_US if found else None


def compared(ours: float | None, theirs: float | None) -> list[str]:
    """Both, and how far the first is off."""
    told = ["–" if each is None else f"{each:.2f}" for each in (ours, theirs)]
    off = (
        "–"
        if ours is None or theirs is None
        else f"{100 * (ours / theirs - 1):+.1f} %".replace("-", "−")
    )
    return [*told, off]


def named(arm: str) -> str:
    """An arm in words: iscsi-read-4k."""
    protocol, way, *rest = arm.split("-")
    return f"{PROTOCOLS[protocol]}, {way}s" + "".join(
        f" of {SIZES[each]}" if each in SIZES else f", {each}" for each in rest
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
