"""What every command needs: results to stdout, everything else to stderr, and no traceback for a user, ever."""

import errno
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailrace.cli.start import INTERRUPTED
from tailrace.cli.terminal import shown, width_of

if TYPE_CHECKING:
    from tailrace.errors import Problem

DONE = 0
EXPECTATION_FAILED = 1
USAGE = 2
INVALID_TRIAL = 3
OUR_FAULT = 70
"""EX_SOFTWARE of sysexits.h: the program itself is wrong, not the user."""
MACHINE = frozenset(
    {
        errno.EACCES,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EMFILE,
        errno.ENAMETOOLONG,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EPERM,
        errno.EROFS,
    }
)
"""Errors that say something about the machine, such as a full disk, and nothing about the program."""


def emit(text: str) -> None:
    """A result for people, to stdout: within the width of a terminal, and in its colours."""
    _write(shown(text, sys.stdout))


def emit_text(text: str) -> None:
    """A result that other programs read, such as a configuration, to stdout as it stands."""
    _write(text)


def emit_table(make: Callable[[], str]) -> None:
    """A result of which the tables are made to fit."""
    from tailrace.results.format.columns import within

    with within(width_of(sys.stdout)):
        emit(make())


def _write(text: str) -> None:
    if sys.stdout is None:  # closed by the caller, as `>&-` does
        return
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()


def emit_json(content: object) -> None:
    """A result for programs, to stdout."""
    _write(json.dumps(content, indent=1, ensure_ascii=False))


def note(text: str) -> None:
    """Something besides the result, to stderr; one JSON object on a line where programs read."""
    line = json.dumps({"event": "message", "text": text}) if "--json" in sys.argv else shown(text, sys.stderr)
    with suppress(OSError, AttributeError):  # a full or closed stderr must not change the exit code
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def warn(problems: Iterable["Problem"]) -> None:
    """What deserves a look before a result is trusted, to stderr; nothing is refused."""
    for problem in problems:
        note(f"warning: {problem}")


def guarded(run: Callable[[], Any]) -> int:
    """Runs the program; returns its exit code. Errors become one line, unexpected ones leave a log file."""
    from tailrace.errors import TailraceError

    try:
        run()
    except SystemExit as end:
        return _code(end)
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    except TailraceError as error:
        note(str(error))
        return USAGE
    except OSError as error:
        return _refused_by_machine(error) if error.errno in MACHINE else _unexpected(error)
    except BaseException as error:  # noqa: BLE001  the last line of defence: a user gets a sentence and a log
        return _unexpected(error)
    return DONE


def _code(end: SystemExit) -> int:
    if isinstance(end.code, str):
        note(end.code)
        return USAGE
    return DONE if end.code is None else int(end.code)


def _drop_stdout() -> None:
    """The reader of a pipe has gone: nothing more can be said there, not even by the interpreter's last flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused_by_machine(error: OSError) -> int:
    what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}"
    note(f"{what} (hint: check free space and permissions, then run the same command again to resume)")
    with suppress(OSError, AttributeError):
        _drop_stdout()  # what could not be written would fail again in the interpreter's last flush
    return USAGE


def _unexpected(error: BaseException) -> int:
    what = str(error).splitlines()[0] if str(error) else "no message"
    try:
        hint = f"the details are in {_logged(error)}; please report them"
    except OSError as full:
        hint = f"the details could not be written: {full.strerror}; please report this line"
    note(f"internal error: {type(error).__name__}: {what} (hint: {hint})")
    return OUR_FAULT


def _logged(error: BaseException) -> str:
    """Writes what is known of an unexpected error to a file; returns its name."""
    descriptor, name = tempfile.mkstemp(prefix="tailrace-", suffix=".log")
    with os.fdopen(descriptor, "w", encoding="utf-8") as log:
        log.write(f"command: {sys.argv}\n")
        log.writelines(traceback.format_exception(error))
    return name


def overrides(
    assignments: Sequence[str] | None,
    *,
    trials: int | None = None,
    seed: int | None = None,
    sweep: Sequence[str] | None = None,
    is_paired: bool = False,
) -> dict[str, Any]:
    """The `--set` options, and those that are short for one."""
    from tailrace.scenario.loading import parse_assignment, parse_sweep

    given = dict(parse_assignment(text) for text in assignments or [])
    if trials is not None:
        given["experiment.trials"] = trials
    if seed is not None:
        given["experiment.seed"] = seed
    if sweep:
        given["sweep"] = parse_sweep(sweep, is_paired=is_paired)
    elif is_paired:
        given["sweep.combine"] = "paired"
    return given


def scenario_paths(paths: Sequence[Path]) -> list[Path]:
    """Scenario files; for a folder, the `scenario.yaml` in it."""
    return [scenario_path(path) for path in paths]


def scenario_path(path: Path) -> Path:
    """A scenario file; for a folder, the `scenario.yaml` in it."""
    return path / "scenario.yaml" if (path / "scenario.yaml").is_file() else path
