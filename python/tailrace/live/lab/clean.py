"""Removes control groups that killed runs left on this machine."""

from collections.abc import Callable

from tailrace.live.lab.fabric import FabricError, ask


def clean() -> list[str]:
    """Removes the remains of killed runs; returns their names. Raises `FabricError` if one cannot
    be removed."""
    return [str(name) for name in ask("clean").get("removed", [])]


def clean_before(say: Callable[[str], None]) -> None:
    """Removes them before a run and reports it in one line; a failure, such as missing privileges,
    is only a warning.
    """
    try:
        removed = clean()
    except FabricError as error:
        say(f"the remains of a killed run could not be removed: {error}")
        return
    if removed:
        say(f"removed the remains of a killed run: {', '.join(removed)}")
