"""`tailrace sensitivity` and its options."""

from tailrace.cli.executor_options import reach
from tailrace.cli.options import Files
from tailrace.sensitivity.options import SensitivityOptions


def sensitivity(scenario: Files, *, options: SensitivityOptions) -> None:
    """Vary every assumption over its range, and tell which assumptions decide each figure."""
    reach(options.execution.on)
    from tailrace.cli.studying import study_scenario

    study_scenario(scenario, options)
