"""What `tailrace run --dry-run` prints."""

from typing import Any

from tailrace.cli.console import emit, emit_json
from tailrace.cli.request import RunArguments
from tailrace.experiment.remote.slurm import NAME as SLURM
from tailrace.experiment.remote.slurm import batch_script


def print_dry(request: RunArguments, data: dict[str, Any], text: str) -> None:
    """Prints `data` for programs, or `text` for people, and with `--on slurm` the script of a
    job."""
    script = batch_script(request.jobs_of_slurm) if request.on == SLURM else None
    if request.is_json:
        emit_json(data | ({} if script is None else {"batch_script": script}))
        return
    emit(text)
    if script is not None:
        emit(f"\nEach job would run:\n\n{script}")
