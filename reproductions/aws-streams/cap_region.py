"""Where one stream through the cap carries what was published: writes region.md.

The cap is AWS's; its burst, the round trip and the MTU are not published. Each point is one trial
of the arm aws-1. Usage: .venv/bin/python reproductions/aws-streams/cap_region.py [RUN DIRECTORY]
"""

import sys
from pathlib import Path
from typing import Any

import tailrace
from tailrace.results.directory.published import Band, read_published
from tailrace.scenario.text.yaml import load_yaml

HERE = Path(__file__).resolve().parent
PAGE = HERE / "region.md"
BURST, DELAY, MTU = "policies.capped.police.burst", "network.link.delay", "hosts.defaults.mtu"
BURSTS = ["50kB", "100kB", "250kB", "500kB", "1MB", "2MB", "5MB"]
ROUND_TRIPS_US = [40, 100, 200, 500, 1000]
CROSSINGS = 4
"""Links that a round trip crosses."""
CONTROL = "hosts.defaults.tcp.congestion_control"
CASES = [("1500B", "cubic"), ("9001B", "cubic"), ("1500B", "bbr")]
"""MTU and congestion control."""
WARM_UP = "300ms"
HEAD = """# Where the cap gives the published figure

Goodput of one stream in Gbit/s through a policer of 5 Gbit/s, by the burst of the policer and the round trip
(propagation only; about 20 µs of polls and transmission come on top). **Bold** is within 10 % of the published 4.8.
One trial each, seed 1. `cap_region.py` writes this page.
"""  # noqa: E501


def band() -> Band:
    """The published figure of one stream."""
    return next(band for band in read_published(HERE / "published.yaml") if band.arm == "aws-1")


def measured(out: Path | None, mtu: str, control: str) -> dict[tuple[str, int], float]:
    """Goodput by burst and round trip."""
    delays = {f"{us * 1000 // CROSSINGS}ns": us for us in ROUND_TRIPS_US}
    # The whole goodput of the trial: the start of the connection is left out.
    scenario = load_yaml((HERE / "scenario.yaml").read_text(), is_marked=False)
    # Other arms vary the round trip, and a sweep cannot vary what an arm sets.
    scenario |= {"arms": {"aws-1": scenario["arms"]["aws-1"]}}
    del scenario["published"]
    changes: dict[str, Any] = {MTU: mtu, CONTROL: control, "experiment.warm_up": WARM_UP}
    result = tailrace.sweep(
        scenario,
        {BURST: BURSTS, DELAY: list(delays)},
        trials=1,
        set=changes,
        out=out and out / f"{mtu}-{control}",
    )
    sweep = result.summary.swept
    [curve] = [curve for curve in sweep.curves if curve.metric == "goodput_gbps"]
    return {
        (point.values[BURST], delays[point.values[DELAY]]): value.mean
        for point, value in zip(sweep.points, curve.values, strict=True)
        if value
    }


def table(found: dict[tuple[str, int], float]) -> list[str]:
    """Bursts as rows, round trips as columns."""
    holds = band().holds
    rows = [
        "| burst | " + " | ".join(f"{us} µs" for us in ROUND_TRIPS_US) + " |",
        "|---" * (len(ROUND_TRIPS_US) + 1) + "|",
    ]
    for burst in BURSTS:
        values = [found[burst, us] for us in ROUND_TRIPS_US]
        cells = [f"**{value:.2f}**" if holds(value) else f"{value:.2f}" for value in values]
        rows.append(
            f"| {burst.replace('kB', ' kB').replace('MB', ' MB')} | " + " | ".join(cells) + " |"
        )
    return rows


def page(out: Path | None) -> str:
    """The whole page."""
    lines = [HEAD]
    for mtu, control in CASES:
        found = measured(out, mtu, control)
        held = sum(band().holds(value) for value in found.values())
        lines += [
            f"MTU {mtu.removesuffix('B')}, {control.upper()}: the figure holds at {held} of "
            f"{len(found)} points.",
            "",
            *table(found),
            "",
        ]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(Path(sys.argv[1]) if len(sys.argv) > 1 else None))
