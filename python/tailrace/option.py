"""Options of commands: a field of a dataclass is the option of the command line and the keyword of
Python; its type, its default, its range and its text stand there once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from tailrace.errors import RunRefusedError

PARTS_PER_UNIT = 10**9
"""Of a share, as `scenario.text.units` counts it."""


class Option:
    """The command line's form of a field: its flags (none for an argument), its text, its range,
    and how its text is read."""

    def __init__(
        self,
        *flags: str,
        help: str,  # noqa: A002  as typer names it
        metavar: str | None = None,
        min: float | None = None,  # noqa: A002  as typer names it
        max: float | None = None,  # noqa: A002  as typer names it
        read: Callable[[str, Any], Any] | None = None,
        shown: Callable[[Any], str] = str,
    ) -> None:
        """`read` parses the text after the flag (a list of texts if the flag may be repeated), and
        raises `ValueError` or `RunRefusedError`; the default is Typer's parser of the field's type.
        `shown` is its inverse, for the default."""
        self.flags = flags
        self.help = help
        self.metavar = metavar
        self.min, self.max = min, max
        self.read, self.shown = read, shown


def option_of(hint: Any) -> Option | None:
    """The option of an annotated type."""
    return next((one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Option)), None)


def flags_of(kind: type, *names: str) -> Iterator[str]:
    """The flags of the options of a dataclass: of those named, or of all."""
    for name, hint in get_type_hints(kind, include_extras=True).items():
        option = option_of(hint)
        if option is not None and (not names or name in names):
            yield from option.flags


def refuse_out_of_range(options: Any) -> None:
    """Raises `RunRefusedError` for a number outside the range of its option.

    The command line refuses it before; this is for Python."""
    hints = get_type_hints(type(options), include_extras=True)
    for field in fields(options):
        value = getattr(options, field.name)
        if is_dataclass(value):
            refuse_out_of_range(value)
        option = option_of(hints[field.name])
        if option is None or not isinstance(value, int | float):
            continue
        if option.min is not None and value < option.min:
            raise RunRefusedError(f"{field.name} must be at least {option.min:g}, not {value:g}")
        if option.max is not None and value > option.max:
            raise RunRefusedError(f"{field.name} must be at most {option.max:g}, not {value:g}")


def share_of(flag: str, text: str) -> float:
    """A share such as `5%`; raises `RunRefusedError` for a text that is none."""
    from tailrace.scenario.text.units import SHARE, QuantityError, parse

    try:
        return parse(text, SHARE) / PARTS_PER_UNIT
    except QuantityError as error:
        raise RunRefusedError(f"{flag} {text}: {error.what} (hint: {error.hint})") from None


def percent_of(share: float) -> str:
    """A share as the command line has it: `5%`."""
    return f"{100 * share:g}%"


def assignments_of(_flag: str, texts: Sequence[str]) -> Mapping[str, Any]:
    """Values of a scenario by their dotted paths, from texts `KEY=VALUE`."""
    from tailrace.scenario.loading import parse_assignment

    return dict(parse_assignment(text) for text in texts)


Set = Annotated[
    Mapping[str, Any] | None,
    Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value by its dotted path; repeatable.",
        read=assignments_of,
    ),
]
Vary = Annotated[
    Sequence[str],
    Option(
        "--vary",
        metavar="KEY=VALUES",
        help="What is varied: a list (1MB,2MB,4MB), a range (1MB..64MB, 1..8), or values spaced in "
        "one (log(1MB..64MB, 7), linear(1..9, 5)); repeatable.",
    ),
]
Arms = Annotated[Sequence[str], Option("--arm", metavar="NAME", help="Only this arm; repeatable.")]
OfArm = Annotated[str | None, Option("--arm", metavar="NAME", help="Arm; default: the baseline.")]
Seed = Annotated[int | None, Option("--seed", min=0, help="Seed of the experiment.")]
Jobs = Annotated[
    int | None,
    Option("--jobs", min=1, help="Number of concurrent trials; default: one per core."),
]
Scale = Annotated[
    float, Option("--scale", help="Factor for all counts, sizes and durations, e.g. 0.05.")
]
OutDirectory = Annotated[
    Path | None,
    Option(
        "--out",
        "-o",
        metavar="DIR",
        help="Directory of the results; default: a new one below runs/.",
    ),
]
Json = Annotated[
    bool,
    Option("--json", help="Machine-readable result on stdout, progress as NDJSON on stderr."),
]
