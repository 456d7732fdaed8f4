"""Changes that tests make to run directories, as if the run had written them: the journal gets
their identities."""

import json
from pathlib import Path

from tailrace.outcome.journal import JOURNAL
from tailrace.outcome.run_files import MANIFEST, OUTCOME, TABLE, TRIALS, RunFiles, parted


def seal(file: Path) -> None:
    """Notes a file that a test has changed, or all of its trial; nothing of a run without a
    journal."""
    run = next((folder for folder in file.parents if (folder / MANIFEST).exists()), None)
    if run is None or not (run / JOURNAL).exists():
        return
    files, name = RunFiles(run), str(file.relative_to(run))
    number = file.name.partition(".")[0]
    if not name.startswith(f"{TRIALS}/") or name.endswith(".causes.json") or ".attempt-" in name:
        stem, end = parted(name)
        files.journal.add(stem, {end: file.read_bytes()})
        return
    beside = [*file.parent.glob(f"{number}.*{TABLE}"), *file.parent.glob(f"{number}.{OUTCOME}")]
    contents = {one.name.removeprefix(f"{number}."): one.read_bytes() for one in beside}
    files.journal.add(f"{TRIALS}/{file.parent.name}/{number}", contents)


def interrupt(run: Path) -> Path:
    """The run as if it had been interrupted: trials that a test removes were not run."""
    manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    (run / MANIFEST).write_text(json.dumps(manifest | {"state": "interrupted"}), encoding="utf-8")
    seal(run / MANIFEST)
    return run


def without_journal(run: Path) -> Path:
    """The run as an earlier version would have left it: nothing in it is compared with what was
    written."""
    (run / JOURNAL).unlink(missing_ok=True)
    manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    manifest.pop("journal", None)
    (run / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    return run
