"""The mixes with real programs beside the simulation that was made before: writes live.md.

.venv/bin/python reproductions/hagen-converged/converged_live.py --predict   # simulates: live-predicted.json
.venv/bin/python reproductions/hagen-converged/converged_live.py RUN [RUN ...]  # reads live runs: live.json, live.md
"""

import argparse
import json
from pathlib import Path
from typing import Any

from converged_measure import Goodputs, Mixes, goodputs, measured
from tailrace.results import Run

HERE = Path(__file__).resolve().parent
PREDICTED, LIVE, PAGE = HERE / "live-predicted.json", HERE / "live.json", HERE / "live.md"
BAND = 0.15
"""A ratio of live to simulated within this of 1 agrees."""
SAME = 0.05
"""Changes against the rate alone of less than this have no sign."""
MBIT = 1000


def main() -> None:
    """Simulates, or reads runs and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--note", default="", help="what else ran on the machine")
    parser.add_argument("runs", nargs="*", type=Path)
    chosen = parser.parse_args()
    if chosen.predict:
        PREDICTED.write_text(json.dumps(measured("live.yaml", {}), indent=1) + "\n", encoding="utf-8")
        return
    if chosen.runs:
        mixes = {arm: found for path in chosen.runs for arm, found in read(Run.read(path)).items()}
        LIVE.write_text(json.dumps({"note": chosen.note, "mixes": mixes}, indent=1) + "\n", encoding="utf-8")
    predicted, live = (json.loads(path.read_text(encoding="utf-8")) for path in (PREDICTED, LIVE))
    PAGE.write_text(page(predicted, live), encoding="utf-8")


def read(run: Run) -> Mixes:
    """Means over the trials of each arm."""
    found: Mixes = {}
    for arm in run.arms:
        trials = [goodputs(trial.outcome) for trial in run.told(arm)]
        if trials:
            found[arm] = {name: sum(one[name] for one in trials) / len(trials) for name in trials[0]}
    return found


def sign(mixes: Mixes, arm: str, name: str) -> int:
    """Whether a class has less than alone (-1), as much (0), or more."""
    change = mixes[arm][name] / mixes[name][name] - 1
    return 0 if abs(change) < SAME else (1 if change > 0 else -1)


def row(arm: str, name: str, predicted: Mixes, live: Mixes) -> list[str]:
    """A class of a mix in both."""
    ratio = live[arm][name] / predicted[arm][name]
    is_known = name in live.get(name, {})
    same = ("yes" if sign(live, arm, name) == sign(predicted, arm, name) else "**no**") if is_known else "–"
    told = [f"{MBIT * mixes[arm][name]:.1f}" for mixes in (predicted, live)]
    return [
        arm,
        name,
        *told,
        f"{ratio:.2f}",
        "yes" if abs(ratio - 1) <= BAND else "**no**",
        same,
    ]


def order(mix: Goodputs) -> list[str]:
    """Classes from the one with most."""
    return sorted(mix, key=lambda name: -mix[name])


def page(predicted: Mixes, found: dict[str, Any]) -> str:
    """The whole page."""
    live: Mixes = found["mixes"]
    rows = [row(arm, name, predicted, live) for arm in predicted if arm in live for name in predicted[arm]]
    mixed = [cells for cells in rows if cells[0] != cells[1]]
    near, same = (sum(cells[at] == "yes" for cells in mixed) for at in (5, 6))
    shared = [arm for arm in predicted if arm in live and "-" in arm]
    missing = [arm for arm in predicted if arm not in live]
    ordered = sum(order(predicted[arm]) == order(live[arm]) for arm in shared)
    head = ["mix", "class", "simulated, Mbit/s", "live, Mbit/s", "live / simulated", "within 15 %", "same sign"]
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return (
        HEAD
        + f"""
Of {len(mixed)} rates in mixes, {near} are within 15 % of the simulated ones, and {same} have the same sign: less than
alone, or within 5 % of it. The classes of {ordered} of {len(shared)} mixes are in the same order. {found["note"]}

Not measured: {", ".join(missing) or "nothing"}.

{table}

**The blind test fails.** Datagrams have 1.7 to 6 times as much as predicted, and TCP beside them a sixth or less, also where the line was nearly
full (TCP, UDP and writes: 54 of 60 Mbit/s). The load of the machine explains rates that are low together, not this shift. A candidate, which was not
checked, is the queue of the host: where it is shorter than the 16 MB of the simulation, TCP loses frames there, and the datagrams, whose
sender does not slow down, do not. One trial each; to be repeated on a quiet machine before anything is concluded.
"""  # noqa: E501  lines of a page
    )


HEAD = """# The mixes with real programs

`converged_live.py` writes this page. One host runs iperf3 (four TCP connections, and datagrams at 58.2 of 60 Mbit/s) and fio (iSCSI by libiscsi and tgt,
requests of 64 KiB, four under way); each class has a sink of its own. The simulation was made, and committed,
before the first live run.

```sh
.venv/bin/python reproductions/hagen-converged/converged_live.py --predict
tailrace run --live reproductions/hagen-converged/live.yaml --out runs/converged-live
.venv/bin/python reproductions/hagen-converged/converged_live.py runs/converged-live
```
"""  # noqa: E501  lines of a page


if __name__ == "__main__":
    main()
