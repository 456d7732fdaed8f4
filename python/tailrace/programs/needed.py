"""Programs that live runs use: path, version and Debian package of each."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VERSION_LIMIT_S = 10.0
FILES = (".jar", ".egg-info")
"""Suffixes that are no part of a version."""
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
    """Debian package; None for a program without one, which is needed only by workloads that name
    it."""
    version_option: str
    """Makes it print its version; empty for a program whose path has its version."""
    is_for: str
    find: Callable[[str], Path | None] = on_the_path
    title: str = ""
    """Its name in messages, if that differs from the name of the program."""
    source: str = ""
    """Source of a program without a package."""
    hint: str = ""
    """Advice for a missing program without a package."""


def path_of(needed: Needed) -> Path | None:
    """Path of a program; None where it is missing."""
    return needed.find(needed.program)


def version_of(needed: Needed) -> str | None:
    """Version of an installed program; empty where it does not report one, None where it is
    missing."""
    path = path_of(needed)
    if path is None:
        return None
    return _version(path, needed.version_option) if needed.version_option else _version_in(path)


def _version_in(path: Path) -> str:
    found = VERSION.findall(str(path.with_suffix("")) if path.suffix in FILES else str(path))
    return found[-1] if found else ""


@cache
def _version(path: Path, option: str) -> str:
    # Some programs look for their modules below the working directory, which is therefore their own
    # folder with links resolved.
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
