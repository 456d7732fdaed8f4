"""Arguments and options that several commands have: one name, one meaning and one text. Those of
`tailrace.option` are in Python as well."""

from pathlib import Path
from typing import Annotated

import typer

from tailrace.option import Option

SCENARIO = (
    "Scenario file, or a folder with a scenario.yaml; several are "
    "merged, later files take precedence."
)
Files = Annotated[list[Path], typer.Argument(help=SCENARIO, metavar="SCENARIO...")]
OutFile = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="File to write; default: stdout.")
]
ResultJson = Annotated[bool, Option("--json", help="Machine-readable result on stdout.")]
"""Of commands that show no progress."""
