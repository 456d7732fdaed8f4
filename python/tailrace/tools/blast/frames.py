"""Files of frames in any of the three syntaxes."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tailrace.errors import TailraceError, closest, reason_of
from tailrace.files import read_text
from tailrace.tools.blast import hexdump, plain, trafgen
from tailrace.tools.blast.line import FRAMES_MAX, FrameFileError

FILE_BYTES_MAX = 64_000_000
READERS: Mapping[str, Callable[[str], Iterable[bytes]]] = {
    "plain": lambda text: plain.read(text.splitlines()),
    "trafgen": trafgen.read,
    "hexdump": lambda text: hexdump.read(text.splitlines()),
}
"""Readers by the name of the syntax."""


def read_frames(path: Path, syntax: str | None = None) -> list[bytes]:
    """The frames of a file; without a syntax, of that which it seems to have."""
    if syntax is not None and syntax not in READERS:
        raise TailraceError(
            f"there is no syntax '{syntax}' (hint: {closest(syntax, list(READERS), 'syntaxes')})"
        )
    try:
        text = read_text(path, FILE_BYTES_MAX)
    except (OSError, UnicodeDecodeError) as error:
        why = f"{reason_of(error)} (hint: name a text file with frames, which --count repeats)"
        raise TailraceError(f"{path}: the file cannot be read: {why}") from None
    frames: list[bytes] = []
    try:
        for frame in READERS[syntax or syntax_of(text)](text):
            frames.append(frame)
            if len(frames) > FRAMES_MAX:
                raise TailraceError(
                    f"{path}: it has more than {FRAMES_MAX} frames (hint: --count repeats frames)"
                )
    except FrameFileError as error:
        raise TailraceError(f"{path}:{error.line}: {error}") from None
    if not frames:
        raise TailraceError(
            f"{path}: it has no frame (hint: write bytes, such as ff:ff:ff:ff:ff:ff "
            "0200:0000:0001 0800)"
        )
    return frames


def syntax_of(text: str) -> str:
    """The syntax that a file seems to have: a brace is trafgen's, offset zero in the first line is
    a dump's."""
    first = next(
        (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")),
        "",
    )
    if first.lstrip().startswith(("{", "/*", "//", "cpu(")):
        return "trafgen"
    return "hexdump" if hexdump.starts_dump(first) else "plain"
