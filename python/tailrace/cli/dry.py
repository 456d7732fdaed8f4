"""The output of `tailrace run --dry-run`."""

from typing import Any

from tailrace.cli.console import emit, emit_json
from tailrace.experiment.execution import SLURM
from tailrace.experiment.remote.slurm import batch_script
from tailrace.experiment.run_options import RunOptions


def print_dry(options: RunOptions, data: dict[str, Any], text: str) -> None:
    """Prints `data` for programs, or `text` for people, and with `--on slurm` the script of a
    job."""
    script = batch_script(options.execution.slurm_jobs) if options.execution.on == SLURM else None
    if options.json:
        emit_json(data | ({} if script is None else {"batch_script": script}))
        return
    emit(text)
    if script is not None:
        emit(f"\nEach job would run:\n\n{script}")
