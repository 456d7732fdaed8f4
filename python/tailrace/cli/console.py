"""Output and exit codes of all commands: results to stdout, everything else to stderr, and never a
traceback."""

import errno
import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TextIO

from msgspec import to_builtins

from tailrace.cli.codes import DONE, INTERRUPTED, OUR_FAULT, USAGE
from tailrace.cli.terminal import is_terminal, shown, width_of
from tailrace.errors import escaped, in_line

if TYPE_CHECKING:
    from tailrace.errors import Problem

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
"""Errors caused by the machine, such as a full disk, and not by the program."""
CLEARED = "\x1b[H\x1b[2J"
"""To the first place, and all erased (ECMA-48: CUP, ED)."""


def emit(text: str) -> None:
    """Prints a result for people to stdout, on a terminal wrapped to its width and coloured."""
    _write(_shown(text, sys.stdout))


def emit_page(text: str) -> None:
    """Prints a result in place of everything on the screen, each line as it is."""
    _write(CLEARED + escaped(text))


def emit_text(text: str) -> None:
    """Prints a result for other programs, such as a configuration, to stdout: unchanged, but on a
    terminal."""
    _write(escaped(text) if is_terminal(sys.stdout) else text)


def emit_table(make: Callable[[], str]) -> None:
    """Prints a result whose tables are fitted to the width of the terminal."""
    from tailrace.results.format.columns import within

    with within(width_of(sys.stdout)):
        emit(make())


def _shown(text: str, stream: TextIO | None) -> str:
    """As `shown`. Names of files on the command line are in one line, whatever they have; other
    lines are meant."""
    for word in sys.argv[1:]:
        for name in word.split("/") if "\n" in word else ():
            if "\n" in name and name.strip():
                text = text.replace(name, in_line(name))
    return shown(text, stream)


def _write(text: str) -> None:
    if sys.stdout is None:  # closed by the caller, as `>&-` does
        return
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def emit_json(content: object) -> None:
    """Prints a result to stdout as JSON."""
    _write(escaped(json.dumps(to_builtins(content), indent=1, ensure_ascii=False)))


def note(text: str) -> None:
    """Prints a message to stderr; with --json as one JSON object on a line."""
    line = (
        json.dumps({"event": "message", "text": text})
        if "--json" in sys.argv
        else _shown(text, sys.stderr)
    )
    with suppress(OSError, AttributeError):  # a full or closed stderr must not change the exit code
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def warn(problems: Iterable["Problem"]) -> None:
    """Prints warnings to stderr: problems that do not prevent a run but may invalidate its
    conclusions."""
    for problem in problems:
        note(f"warning: {problem}")


def guarded(run: Callable[[], Any]) -> int:
    """Runs the program; returns its exit code. Errors become one line, unexpected ones leave a log
    file."""
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
    except BaseException as error:  # noqa: BLE001  the user gets one line, and a log the details
        return _unexpected(error)
    return DONE


def _code(end: SystemExit) -> int:
    if isinstance(end.code, str):
        note(end.code)
        return USAGE
    return DONE if end.code is None else int(end.code)


class Outliving(io.TextIOWrapper):
    """A stream to a pipe whose reader may leave early, as `head` does: later output is
    discarded."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        """In place of the interpreter's own stream."""
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors=stream.errors,
            line_buffering=stream.line_buffering,
        )

    def write(self, text: str) -> int:
        """Writes, or drops."""
        try:
            return super().write(text)
        except BrokenPipeError:
            _drop(self)
            return len(text)

    def flush(self) -> None:
        """Flushes, or drops."""
        try:
            super().flush()
        except BrokenPipeError:
            _drop(self)


def outlive_readers() -> None:
    """Lets a run continue when the reader of its output leaves; the exit code stays that of the
    command.

    Streams that replace the interpreter's own (in a notebook, in tests) stay as they are.
    """
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = Outliving(sys.stdout)
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = Outliving(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Discards all later output of the stream, including the interpreter's last flush."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def _refused_by_machine(error: OSError) -> int:
    what = f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror}"
    note(
        f"{what} (hint: check free space and permissions, then run the "
        "same command again to resume)"
    )
    with suppress(OSError, AttributeError):
        _drop(sys.stdout)  # the interpreter's last flush would fail on the same data again
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
    """Writes the details of an unexpected error to a file; returns its name."""
    descriptor, name = tempfile.mkstemp(prefix="tailrace-", suffix=".log")
    with os.fdopen(descriptor, "w", encoding="utf-8") as log:
        log.write(f"command: {sys.argv}\n")
        log.writelines(traceback.format_exception(error))
    return name


def overrides(
    changes: Mapping[str, Any] | None,
    *,
    trials: int | str | None = None,
    seed: int | None = None,
    baseline: str | None = None,
    sweep: Sequence[str] | None = None,
    is_paired: bool = False,
) -> dict[str, Any]:
    """The `--set` options, and the options that abbreviate one."""
    from tailrace.scenario.loading import Given
    from tailrace.scenario.varied import parse_sweep

    given = dict(changes or {})
    if trials is not None:
        given["experiment.trials"] = Given("--trials", trials)
    if seed is not None:
        given["experiment.seed"] = Given("--seed", seed)
    if baseline is not None:
        given["experiment.baseline"] = Given("--baseline", baseline)
    if sweep:
        given["sweep"] = Given("--sweep", parse_sweep(sweep, is_paired=is_paired))
    elif is_paired:
        given["sweep.combine"] = Given("--paired", "paired")
    return given
