"""The table of programs that live runs use, with their Debian packages: a part of
docs/tutorial-live.md."""

from tailrace.live.machine import doctor
from tailrace.programs.needed import Needed

MARKS = ("<!-- programs: written by `make docs` -->", "<!-- end of programs -->")
HEAD = "| Program | Debian package | For |\n|---|---|---|"


def render() -> str:
    """A row for each program, by the names of the packages."""
    ordered = sorted(
        doctor.needed(), key=lambda each: (each.package is None, each.package or "", each.program)
    )
    return "\n".join([HEAD, *(_row(each) for each in ordered)])


def _row(needed: Needed) -> str:
    name = f"{needed.title} (`{needed.program}`)" if needed.title else f"`{needed.program}`"
    package = f"`{needed.package}`" if needed.package else f"none: from {needed.source}"
    return f"| {name} | {package} | {needed.is_for} |"
