"""Options of a run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from tailrace.experiment.execution import ExecutionOptions
from tailrace.option import Arms, Json, Option, OutDirectory, Seed, Set


class FabricKind(StrEnum):
    """The switch between the hosts of a live run."""

    TAP = "tap"
    BRIDGE = "bridge"
    OVS = "ovs"
    OVS_DPDK = "ovs-dpdk"


def trials_of(_flag: str, text: str) -> int | str:
    """A number of trials, or `auto`; a number of very many digits stays a text, which the scenario
    refuses."""
    if text != "auto" and not (text.isdecimal() and text.strip("0")):
        raise ValueError(f"{text} is neither a number of trials, from 1 on, nor auto")
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text


Sweep = Annotated[
    Sequence[str],
    Option(
        "--sweep",
        metavar="KEY=VALUES",
        help="Repeat the experiment for each value: a list (1MB,2MB,4MB), whole numbers (1..8), "
        "or values spaced in a"
        " range (log(1MB..64MB, 7), linear(1..9, 5)); several options form a grid.",
    ),
]
Paired = Annotated[
    bool,
    Option(
        "--paired",
        help="Combine the values of several --sweep options pairwise instead of as a grid.",
    ),
]
Baseline = Annotated[
    str | None,
    Option(
        "--baseline",
        metavar="ARM",
        help="Arm with which the others are compared; default: that of the scenario.",
    ),
]
RunScale = Annotated[
    float,
    Option(
        "--scale",
        help="Factor for all counts, sizes and durations, e.g. 0.05; rates are unchanged.",
    ),
]
Full = Annotated[bool, Option("--full", help="Print every table, not one screen.")]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of `tailrace run`."""

    set: Set = None
    sweep: Sweep = ()
    paired: Paired = False
    arms: Arms = ()
    trials: Annotated[
        int | Literal["auto"] | None,
        Option(
            "--trials",
            metavar="N|auto",
            help="Trials of each arm; auto: as many as decide the comparisons.",
            read=trials_of,
        ),
    ] = None
    seed: Seed = None
    baseline: Baseline = None
    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            min=1,
            help="Number of concurrent trials; default: one per core, with --cores N one per N.",
        ),
    ] = None
    scale: RunScale = 1.0
    out: OutDirectory = None
    json: Json = False
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Print the trials and the estimated time without running them."),
    ] = False
    calibrated: Annotated[
        Path | None,
        Option(
            "--calibrated",
            metavar="FILE",
            help="Host parameters written by `tailrace lab calibrate`.",
        ),
    ] = None
    live: Annotated[
        bool,
        Option(
            "--live", help="Run real programs on emulated hosts (as root) instead of simulating."
        ),
    ] = False
    exact: Annotated[
        bool,
        Option(
            "--exact",
            help="Run real Linux kernels in virtual time, with the same traffic as simulated.",
        ),
    ] = False
    log_ingress: Annotated[
        bool,
        Option(
            "--log-ingress", help="With --live: keep all logs of frames, for `tailrace lab replay`."
        ),
    ] = False
    fabric: Annotated[
        FabricKind | None,
        Option(
            "--fabric",
            help="With --live: tap is the built-in switch, the others are for comparison.",
        ),
    ] = None
    captures: Annotated[
        Sequence[str],
        Option(
            "--capture",
            metavar="NODE>TOWARDS",
            help="With --exact: write what this port sends and receives to "
            "a pcapng file; repeatable.",
        ),
    ] = ()
    live_scale: Annotated[
        int,
        Option(
            "--live-scale",
            metavar="N",
            help="Divide rates, queues and users by N, for machines that "
            "cannot sustain the full rates.",
        ),
    ] = 1
    time_budget: Annotated[
        str | None,
        Option(
            "--time-budget",
            metavar="TIME",
            help="Start no trial that would end later, e.g. 15min; with --live, repeat invalid "
            "trials until then.",
        ),
    ] = None
    explain: Annotated[
        bool | None,
        Option(
            "--explain/--no-explain",
            help="Explain the first trial of each arm whole, or none; default: what takes a "
            "third of the time.",
        ),
    ] = None
    full: Full = False
    execution: ExecutionOptions = field(default_factory=ExecutionOptions)
