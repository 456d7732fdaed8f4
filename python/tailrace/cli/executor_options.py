"""An early check of the scheduler of `--on`."""

from tailrace.cli.console import note
from tailrace.experiment.remote.address import refuse_absent


def reach(on: str) -> None:
    """Raises `RunRefusedError` when the scheduler of `--on` is absent, before anything large is
    imported."""
    refuse_absent(on, note)
