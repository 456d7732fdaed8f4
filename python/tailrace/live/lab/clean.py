"""What killed runs left on this machine: control groups that no process was left to remove."""

from collections.abc import Callable

from tailrace.live.lab.fabric import FabricError, ask


def clean() -> list[str]:
    """Removes what dead runs left; returns names. Raises `FabricError` where something cannot be removed."""
    return [str(name) for name in ask("clean").get("removed", [])]


def clean_before(say: Callable[[str], None]) -> None:
    """The same before a run, reported in one line; what an ordinary user may not remove is no reason to refuse."""
    try:
        removed = clean()
    except FabricError as error:
        say(f"the remains of a killed run could not be removed: {error}")
        return
    if removed:
        say(f"removed the remains of a killed run: {', '.join(removed)}")
