"""`tailrace whatif`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tailrace.cli.console import note, overrides
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError, known_arm
from tailrace.experiment.reporter import reporter_for
from tailrace.whatif.page import write_page


def write_whatif(
    scenario: list[Path],
    *,
    arms: list[str],
    assignments: Mapping[str, Any] | None,
    scale: float | None,
    out: Path | None,
) -> None:
    """Writes the page, and notes the values that have no control on it."""
    if scale is not None and not 0 < scale <= 1:
        raise RunRefusedError(
            f"--scale: {scale:g} is not a share (hint: write a number above 0, at most 1)"
        )
    reporter = reporter_for(json_lines=False)
    loaded = loaded_of(scenario, overrides(assignments), reporter)
    wanted = loaded.scenario.whatif
    chosen = [known_arm(arm, list(loaded.arms)) for arm in dict.fromkeys(arms or wanted.arms)]
    path = out or Path(f"{loaded.scenario.name}-whatif.html")
    bundle, size = write_page(
        loaded, chosen, wanted.scale if scale is None else scale, path, reporter
    )
    for line in bundle.left_out:
        note(f"not offered: {line}")
    note(f"written: {path} ({size / 1e6:.2f} MB, {len(bundle.moved)} values to move)")
