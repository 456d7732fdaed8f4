"""`tailrace advise` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.advice.options import AdviceOptions


def advise(
    scenario: Annotated[
        list[Path],
        typer.Argument(
            help="Scenario files or a folder with one, of which later ones take precedence; "
            "directory of a run; or a capture.",
            metavar="SCENARIO... | RUN | CAPTURE",
        ),
    ],
    *,
    options: AdviceOptions,
) -> None:
    """Simulate what may help a workload, rank it, and print the configuration to apply."""
    from tailrace.cli.advising import advise_on

    advise_on(scenario, options)
