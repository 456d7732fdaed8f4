"""`tailrace whatif` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.cli.options import Files
from tailrace.option import Set


def whatif(
    scenario: Files,
    *,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.html",
            help="The page; default: NAME-whatif.html. It is replaced.",
        ),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            metavar="NAME",
            help="Only this arm; repeatable; default: those of whatif.arms, or all.",
        ),
    ] = None,
    set_: Set = None,
    scale: Annotated[
        float | None,
        typer.Option(
            "--scale",
            help="Share of the counts and times of the experiment in a whole trial; default: of "
            "the file, or 1.",
        ),
    ] = None,
) -> None:
    """Write one offline page on which the scenario is simulated again as its values are moved."""
    from tailrace.cli.whatif import write_whatif

    write_whatif(scenario, arms=arm or [], assignments=set_, scale=scale, out=out)
