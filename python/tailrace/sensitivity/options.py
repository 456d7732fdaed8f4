"""Options of a sensitivity study."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from tailrace.experiment.execution import ExecutionOptions
from tailrace.option import (
    Arms,
    Jobs,
    Json,
    Option,
    OutDirectory,
    Scale,
    Set,
    Vary,
)


@dataclass(frozen=True, kw_only=True)
class SensitivityOptions:
    """The options of `tailrace sensitivity`."""

    assumptions: Annotated[
        bool,
        Option(
            "--assumptions",
            help="Vary every assumed or fitted value, and defaults without a source.",
        ),
    ] = False
    vary: Vary = ()
    figures: Annotated[
        Sequence[str],
        Option(
            "--figure",
            metavar="FIGURE",
            help="A figure such as shop.p99; repeatable. Default: published ones, or the main "
            "one of each workload.",
        ),
    ] = ()
    arms: Arms = ()
    trials: Annotated[int, Option("--trials", min=1, help="Trials of each arm at each point.")] = 1
    trajectories: Annotated[
        int, Option("--trajectories", min=2, help="Trajectories of the screening.")
    ] = 6
    samples: Annotated[
        int,
        Option(
            "--samples",
            min=0,
            help="Samples of the shares of variance, a power of two; 0 for none.",
        ),
    ] = 16
    factors: Annotated[
        int,
        Option("--factors", min=1, help="Assumptions whose shares of variance are estimated."),
    ] = 4
    checks: Annotated[
        int,
        Option("--checks", min=0, help="New points in the region where the conclusions hold."),
    ] = 16
    scale: Scale = 1.0
    seed: Annotated[
        int | None, Option("--seed", min=0, help="Seed of the experiment and of the designs.")
    ] = None
    set: Set = None
    jobs: Jobs = None
    out: OutDirectory = None
    page: Annotated[
        Path | None,
        Option(
            "--page",
            metavar="FILE",
            help="Write the page here too, with its plot (.svg) beside it.",
        ),
    ] = None
    json: Json = False
    execution: ExecutionOptions = field(default_factory=ExecutionOptions)
