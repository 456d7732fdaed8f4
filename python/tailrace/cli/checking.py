"""`tailrace check` of a run directory."""

import os
from collections.abc import Sequence
from pathlib import Path

from tailrace.cli.console import emit, emit_json


def is_run(paths: Sequence[Path]) -> bool:
    """Whether a run directory is named, and not a scenario: also one that has lost its manifest or
    its journal."""
    from tailrace.outcome.journal import JOURNAL
    from tailrace.outcome.run_files import MANIFEST

    return len(paths) == 1 and any(os.path.lexists(paths[0] / name) for name in (MANIFEST, JOURNAL))


def check_run_directory(path: Path, *, json_: bool) -> None:
    """Prints the comparison of the files with the journal of the run; raises `RunDirectoryError`
    with a sentence for each file that differs."""
    from tailrace.results.check import REPAIR, check_run
    from tailrace.results.directory.kept import RunDirectoryError

    found = check_run(path)
    if json_:
        emit_json({"valid": not found.problems, **vars(found)})
    if found.problems:
        raise RunDirectoryError("\n".join([*found.problems, f"(hint: {REPAIR})"]))
    if not json_:
        trials = "1 trial" if found.trials == 1 else f"{found.trials} trials"
        counts = f"{trials}, {found.tables} tables and {found.others} other files"
        emit(
            f"{path}: {counts} are as the run has written them (SHA-256)"
            if found.has_identities
            else f"{path}: {trials} can be read; an earlier version made the "
            "run, which kept no SHA-256"
        )
