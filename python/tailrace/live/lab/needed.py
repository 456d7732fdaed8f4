"""Programs that live runs use: where each is, its version, and the Debian package that has it."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VERSION_LIMIT_S = 10.0
VERSION = re.compile(r"\d+(?:[.-]\w+)+|\b\d{6,}\b")


def on_the_path(program: str) -> Path | None:
    """A program of the search path; None where it is missing."""
    found = shutil.which(program)
    return Path(found) if found else None


@dataclass(frozen=True)
class Needed:
    """A program that live runs use."""

    program: str
    package: str | None
    """Debian's package; None for a program that Debian does not have. Only the workloads that name it need it."""
    version_option: str
    is_for: str
    find: Callable[[str], Path | None] = on_the_path
    title: str = ""
    """Its name in messages, where that is not the name of the program."""
    source: str = ""
    """Where a program without a package comes from."""
    hint: str = ""
    """What to do where a program without a package is missing."""


def path_of(needed: Needed) -> Path | None:
    """Where a program is; None where it is missing."""
    return needed.find(needed.program)


def version_of(needed: Needed) -> str | None:
    """Version of an installed program; empty where it does not report one, None where it is missing."""
    path = path_of(needed)
    return None if path is None else _version(path, needed.version_option)


@cache
def _version(path: Path, option: str) -> str:
    # Some programs look for their modules below the working directory: it is their own folder, behind links.
    program = path.resolve()
    try:
        done = subprocess.run(
            [path if program.parent == path.parent else program, option],
            cwd=program.parent if program.parent.is_dir() else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=VERSION_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = VERSION.search(done.stdout or done.stderr)
    return found[0] if found else ""


def packages(needed: Iterable[Needed]) -> list[str]:
    """Debian's packages of these programs, each once, in their order."""
    return list(dict.fromkeys(each.package for each in needed if each.package))
