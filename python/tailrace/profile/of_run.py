"""The capture of a run."""

from pathlib import Path

from tailrace.errors import RunRefusedError

MANIFEST = "manifest.json"


def capture_of(path: Path) -> Path:
    """The capture to profile: `path`, or the only one of a run directory; raises `RunRefusedError` otherwise."""
    if not (path / MANIFEST).is_file():
        return path
    found = sorted([*path.rglob("*.pcapng"), *path.rglob("*.pcap")])
    if len(found) == 1:
        return found[0]
    if found:
        raise RunRefusedError(f"{path}: the run has {len(found)} captures (hint: name one, such as {found[0]})")
    raise RunRefusedError(
        f"{path}: the run has no capture, and a simulated run writes none (hint: `tailrace run --exact --capture"
        " NODE>TOWARDS` writes one; `tailrace trace --pcapng` writes one transaction of a simulated run)"
    )
