"""Plain files: hexadecimal bytes with comments, a blank line between frames."""

import re
from collections.abc import Iterator, Sequence

from tailrace.tools.blast.line import FRAME_BYTES_MAX, FrameFileError, checked

COMMENT = re.compile(r"#.*")
BYTES = re.compile(r"(?:0x)?([0-9a-fA-F]{2}(?:[:.-]?[0-9a-fA-F]{2})*)(?:\*([0-9]{1,6}))?")
PAD = re.compile(r"pad=([0-9]{1,6})")
HINT = (
    "write bytes of two hexadecimal digits each, such as "
    "ff:ff:ff:ff:ff:ff or 0800, 00*46 or pad=1000"
)


def read(lines: Sequence[str]) -> Iterator[bytes]:
    """The frames of a plain file."""
    frame, began = bytearray(), 0
    for number, line in enumerate(lines, start=1):
        words = COMMENT.sub("", line).split()
        if words:
            began = began or number
            for word in words:
                _add(frame, word, number)
        elif began and not line.strip():  # a line with a comment alone does not end a frame
            yield checked(bytes(frame), began)
            frame, began = bytearray(), 0
    if began:
        yield checked(bytes(frame), began)


def _add(frame: bytearray, word: str, line: int) -> None:
    """Appends what a word stands for."""
    if (pad := PAD.fullmatch(word)) is not None:
        length = int(pad[1])
        if not len(frame) <= length <= FRAME_BYTES_MAX:
            what = (
                f"{word} is not {len(frame)} (what the frame has already) "
                f"to {FRAME_BYTES_MAX} bytes"
            )
            raise FrameFileError(line, what, "write the length of the whole frame")
        frame.extend(bytes(length - len(frame)))
        return
    if (found := BYTES.fullmatch(word)) is None:
        raise FrameFileError(line, f"'{word}' is not hexadecimal", HINT)
    part = bytes.fromhex(re.sub(r"[:.-]", "", found[1]))
    times = int(found[2] or 1)
    if len(frame) + len(part) * times > FRAME_BYTES_MAX:
        raise FrameFileError(
            line, f"with '{word}' the frame has more than {FRAME_BYTES_MAX} bytes", HINT
        )
    frame.extend(part * times)
