"""Options of a search."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from tailrace.experiment.execution import ExecutionOptions
from tailrace.option import (
    Jobs,
    Json,
    OfArm,
    Option,
    OutDirectory,
    Scale,
    Seed,
    Set,
    Vary,
    percent_of,
    share_of,
)


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of `tailrace search`; `search.asked` checks them with the scenario."""

    vary: Vary = ()
    goals: Annotated[
        Sequence[str],
        Option(
            "--goal", metavar="GOAL", help="What has to hold, e.g. 'shop.p99 < 5ms'; repeatable."
        ),
    ] = ()
    minimise: Annotated[
        str | None,
        Option("--minimise", metavar="NAME", help="A varied value, or a figure such as shop.p99."),
    ] = None
    maximise: Annotated[
        str | None,
        Option(
            "--maximise", metavar="NAME", help="A varied value, or a figure such as backup.goodput."
        ),
    ] = None
    arm: OfArm = None
    precision: Annotated[
        float,
        Option(
            "--precision",
            metavar="SHARE",
            help="Distance of neighbouring values of a range.",
            read=share_of,
            shown=percent_of,
        ),
    ] = 0.01
    confidence: Annotated[
        float,
        Option(
            "--confidence",
            metavar="SHARE",
            help="Probability that all decisions are right.",
            read=share_of,
            shown=percent_of,
        ),
    ] = 0.95
    trials_max: Annotated[int, Option("--trials-max", help="Trials of a setting, at most.")] = 16
    confirm: Annotated[
        int, Option("--confirm", help="Trials of the setting that is found, at least.")
    ] = 6
    sampler: Annotated[
        str,
        Option("--sampler", metavar="NAME", help="For several values: tpe, random or grid."),
    ] = "tpe"
    evaluations: Annotated[
        int,
        Option("--evaluations", help="For several values: number of settings that are tried."),
    ] = 60
    scale: Scale = 1.0
    seed: Seed = None
    set: Set = None
    jobs: Jobs = None
    out: OutDirectory = None
    json: Json = False
    execution: ExecutionOptions = field(default_factory=ExecutionOptions)
