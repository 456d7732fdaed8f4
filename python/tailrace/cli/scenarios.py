"""The scenario of a command: one or several files that are merged, and the values of the
options."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailrace.cli.console import warn

if TYPE_CHECKING:
    from tailrace.experiment.reporter import Reporter
    from tailrace.scenario.loading import Loaded


def loaded_of(
    paths: Sequence[Path], given: Mapping[str, Any], reporter: "Reporter | None" = None
) -> "Loaded":
    """Reads and checks the files, of which later ones take precedence, and prints the warnings;
    `given` are the values of `overrides`. Raises `ScenarioError` with all problems.
    """
    from tailrace.experiment.reporter import Silent
    from tailrace.experiment.stages import working
    from tailrace.scenario.loading import load_scenario

    with working(reporter or Silent(), "reading the scenario"):
        loaded = load_scenario(scenario_paths(paths), given)
    warn(loaded.warnings)
    return loaded


def scenario_paths(paths: Sequence[Path]) -> list[Path]:
    """Scenario files; for a folder, the `scenario.yaml` in it."""
    return [
        path / "scenario.yaml" if (path / "scenario.yaml").is_file() else path for path in paths
    ]
