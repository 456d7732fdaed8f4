"""Compare what `tailrace advise` predicts from simulations with live runs before and after the
change.

    advice_live.py OUT [--case NAME].. [--trials N]

Each case is a scenario in scripts/advice_live with a goal and the candidates that are tried.
`advise` simulates them and keeps a scenario with the present and each candidate as arms; the same
file then runs live, with real programs in network namespaces (Linux, root). What is there already
is not run again. The table is in Markdown.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

CASES = Path(__file__).with_name("advice_live")
TAILRACE = [sys.executable, "-c", "from tailrace.cli import main; main()"]
LIMIT_S = 900
SCREENING, CONFIRMING = "1", "6"
INVALID_EXIT = 3
"""`tailrace run` when a trial is invalid; such trials are in no mean."""


class Case(NamedTuple):
    """A goal, and the candidates that are tried."""

    goal: str
    tried: tuple[str, ...]


KNOWN = {
    "window": Case("orders.p50", ("dpp-120", "wred-ecn", "strict-queue")),
    "timer": Case("orders.p50", ("rto-min-10ms",)),
    "weights": Case("orders.p50", ("larger-share",)),
    "idle": Case("pages.p50", ("no-restart", "initial-window-40")),
    "frames": Case("copy.goodput", ("mtu-9000",)),
    "buffers": Case("copy.goodput", ("socket-buffers-64MiB",)),
}


def main() -> None:
    """Runs what is missing and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--case", choices=sorted(KNOWN), action="append")
    parser.add_argument("--trials", type=int, default=2)
    words = parser.parse_args()
    print(
        "| Case, goal | Candidate | Predicted: before | after | change | "
        "Live: before | after | change |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in words.case or KNOWN:
        for row in rows(name, words.out / name, words.trials):
            print("| " + " | ".join(row) + " |", flush=True)


def rows(name: str, out: Path, trials: int) -> list[list[str]]:
    """One row for each candidate that was confirmed."""
    case = KNOWN[name]
    advice, live = out / "advice", out / "live"
    tried = [word for one in case.tried for word in ("--only", one)]
    effort = ["--screening", SCREENING, "--trials-max", CONFIRMING]
    tailrace(
        "advise",
        str(CASES / f"{name}.yaml"),
        "--goal",
        case.goal,
        *tried,
        *effort,
        "--out",
        str(advice),
    )
    scenario = advice / "confirmed" / "scenario.json"
    tailrace(
        "run", "--live", str(scenario), "--set", f"experiment.trials={trials}", "--out", str(live)
    )
    told: dict[str, Any] = json.loads((advice / "advice.json").read_text(encoding="utf-8"))
    subject, metric = told["goal"]["subject"], told["goal"]["metric"]
    found = []
    for one in told["confirmed"]:
        predicted = told["present"]["value"], one["figure"]["value"]
        measured = live_means(live, one["name"], subject, metric)
        found.append(
            [f"{name}, {case.goal}", one["name"], *compared(*predicted), *compared(*measured)]
        )
    return found


def live_means(
    live: Path, arm: str, subject: str, metric: str
) -> tuple[float | None, float | None]:
    """Means of the valid trials of the present and of an arm; None where there is none."""
    result = json.loads((live / "result.json").read_text(encoding="utf-8"))
    for one in result["comparisons"]:
        if (one["arm"], one["workload"], one["metric"]) == (arm, subject, metric):
            return one["baseline_value"], one["arm_value"]
    return None, None


def compared(before: float | None, after: float | None) -> Sequence[str]:
    """Both figures and the change, in words."""
    if before is None or after is None:
        return [figure(before), figure(after), "no valid trial"]
    return [figure(before), figure(after), f"{(after / before - 1) * 100:+.1f} %"]


def figure(value: float | None) -> str:
    """Three significant digits."""
    return "-" if value is None else f"{value:.3g}"


def tailrace(*words: str) -> None:
    """One command; ends the script with its words when it fails."""
    done = subprocess.run(
        [*TAILRACE, *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode not in (0, INVALID_EXIT):
        sys.exit(f"tailrace {' '.join(words)}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
