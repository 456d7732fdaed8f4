"""The capture of a run."""

from collections.abc import Iterator
from pathlib import Path

from tailrace.errors import RunRefusedError
from tailrace.folder import Folder
from tailrace.outcome.run_files import MANIFEST

SUFFIXES = (".pcapng", ".pcap")
LEVELS_MAX = 8
"""Levels of folders below a run directory in which captures are searched."""


def capture_of(path: Path) -> Path:
    """The capture to profile: `path`, or the only one of a run directory; raises `RunRefusedError`
    otherwise."""
    folder = Folder(path)
    if not path.is_dir() or not folder.has(MANIFEST):
        return path
    found = [path / name for name in _captures(folder, "", LEVELS_MAX)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RunRefusedError(
            f"{path}: the run has {len(found)} captures (hint: name one, such as {found[0]})"
        )
    raise RunRefusedError(
        f"{path}: the run has no capture, and a simulated run writes none (hint: `tailrace run "
        "--exact --capture NODE>TOWARDS` writes one; `tailrace trace --pcapng` writes one "
        "transaction of a simulated run)"
    )


def _captures(folder: Folder, below: str, levels: int) -> Iterator[str]:
    """Names of captures, sorted; no link is one, or leads to any."""
    first = f"{below}/" if below else ""
    yield from (
        f"{first}{name}"
        for name in folder.names(below)
        if name.endswith(SUFFIXES) and folder.has(first + name)
    )
    for name in folder.folders(below) if levels else ():
        yield from _captures(folder, first + name, levels - 1)
