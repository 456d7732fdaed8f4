"""Arguments and options that several commands have: one name, one meaning and one text."""

from pathlib import Path
from typing import Annotated

import typer

SCENARIO = (
    "Scenario file, or a folder with a scenario.yaml; several are "
    "merged, later files take precedence."
)
Files = Annotated[list[Path], typer.Argument(help=SCENARIO, metavar="SCENARIO...")]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a value by its dotted path; repeatable."
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=VALUES",
        help="What is varied: a list (1MB,2MB,4MB), a range (1MB..64MB, "
        "1..8), or values spaced in one"
        " (log(1MB..64MB, 7), linear(1..9, 5)); repeatable.",
    ),
]
Sweep = Annotated[
    list[str] | None,
    typer.Option(
        "--sweep",
        metavar="KEY=VALUES",
        help="Repeat the experiment for each value: a list (1MB,2MB,4MB), whole numbers (1..8), "
        "or values spaced in a"
        " range (log(1MB..64MB, 7), linear(1..9, 5)); several options form a grid.",
    ),
]
OutDirectory = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Directory of the results; default: a new one below runs/.",
    ),
]
OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="File to write; default: stdout.")
]
Json = Annotated[
    bool,
    typer.Option("--json", help="Machine-readable result on stdout, progress as NDJSON on stderr."),
]
ResultJson = Annotated[bool, typer.Option("--json", help="Machine-readable result on stdout.")]
"""Of commands that show no progress."""
OfArm = Annotated[
    str | None, typer.Option("--arm", metavar="NAME", help="Arm; default: the baseline.")
]
