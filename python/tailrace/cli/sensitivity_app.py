"""`tailrace sensitivity` and its options."""

from tailrace.cli.console import note
from tailrace.cli.options import Files
from tailrace.experiment.remote.address import refuse_absent
from tailrace.sensitivity.options import SensitivityOptions


def sensitivity(scenario: Files, *, options: SensitivityOptions) -> None:
    """Vary every assumption over its range, and tell which assumptions decide each figure."""
    refuse_absent(options.execution.on, note)
    from tailrace.cli.studying import study_scenario

    study_scenario(scenario, options)
