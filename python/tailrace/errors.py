"""What can go wrong on a user's side, in words for people: every error says where, what is wrong and what to do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

LISTED_MAX = 12
"""Names that a hint lists."""

KeyPath = tuple[str | int, ...]
"""Where a value stands in a scenario: keys and list positions from the top."""


class TailraceError(Exception):
    """A mistake that the user can correct; its text is complete and needs no traceback."""


class RunRefusedError(TailraceError):
    """A run cannot start or go on as asked, e.g. because a directory holds another run."""


class ScenarioWarning(UserWarning):
    """A sound scenario has something that deserves a look before its result is trusted; text as in an error."""


def dotted(path: Iterable[str | int]) -> str:
    """`("workloads", "XS", "users")` as people write it: `workloads.XS.users`."""
    return ".".join(str(part) for part in path)


def nearest(name: str, known: Sequence[str], likeness: float = 0.6) -> str | None:
    """The known name that was most likely meant; capitals do not matter."""
    same = next((one for one in known if one.lower() == name.lower()), None)
    return same or next(iter(get_close_matches(name, known, n=1, cutoff=likeness)), None)


def closest(name: str, known: Sequence[str], noun: str) -> str:
    """A hint with the nearest known name, or with those that there are."""
    if (near := nearest(name, known)) is not None:
        return f"did you mean '{near}'?"
    listed = ", ".join(known[:LISTED_MAX]) + (", ..." if len(known) > LISTED_MAX else "")
    return f"{noun}: {listed}" if known else f"there are no {noun}"


def reason_of(error: BaseException) -> str:
    """Why something could not be read, in one line and without the number and the path that the system adds."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, UnicodeDecodeError):
        return f"not valid UTF-8 (byte {error.start + 1})"
    return " ".join(str(error).split())


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong in a scenario."""

    file: str
    line: int
    """1 is the first line; 0 when the place is not in the file (e.g. a command-line override)."""
    path: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        key = f" {self.path}:" if self.path else ""
        hint = f" (hint: {self.hint})" if self.hint else ""
        return f"{place}:{key} {self.what}{hint}"


def _place(problem: Problem) -> tuple[bool, Problem]:
    """What has no line in the file comes first: what was typed last, as `--set`, is the likely reason of the rest."""
    return problem.line > 0, problem


class ScenarioError(TailraceError):
    """A scenario that cannot be run: all of its problems, what has no line first, then in the order of the file."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(set(problems), key=_place))
        super().__init__("\n".join(str(problem) for problem in self.problems))
