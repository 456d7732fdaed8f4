"""Options of advice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from tailrace.option import Jobs, Json, Option, OutDirectory, Scale, Set


@dataclass(frozen=True, kw_only=True)
class AdviceOptions:
    """The options of `tailrace advise`."""

    goal: Annotated[
        str | None,
        Option(
            "--goal",
            metavar="GOAL",
            help="What should hold, e.g. 'shop.p99 < 5ms' or 'backup.goodput > 4Gbit/s'; without a "
            "bound as good as possible; default: the 99th percentile of the slowest workload.",
        ),
    ] = None
    arm: Annotated[
        str | None, Option("--arm", metavar="NAME", help="The present; default: the baseline.")
    ] = None
    only: Annotated[
        Sequence[str], Option("--only", metavar="NAME", help="Only this candidate; repeatable.")
    ] = ()
    trials_max: Annotated[
        int,
        Option("--trials-max", min=6, help="Trials of each candidate that is followed, at most."),
    ] = 16
    screening: Annotated[
        int, Option("--screening", min=1, help="Short trials of every candidate before that.")
    ] = 2
    scale: Scale = 1.0
    set: Set = None
    jobs: Jobs = None
    out: OutDirectory = None
    json: Json = False
