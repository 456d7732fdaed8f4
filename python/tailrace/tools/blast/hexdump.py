"""Hex dumps of Wireshark, tshark -x, text2pcap and hexdump -C: offset, up to 16 bytes, text that is
not read."""

import re
from collections.abc import Iterator, Sequence

from tailrace.tools.blast.line import FrameFileError, checked

OFFSET = re.compile(r"\s*(?:0x)?([0-9a-fA-F]{3,8}):?\s+(?=[0-9a-fA-F]{2}(?:\s|$))")
BYTE = re.compile(r"[ \t]{0,2}([0-9a-fA-F]{2})(?=\s|$)")
BYTES_OF_LINE = 16
END = re.compile(r"\s*(?:0x)?[0-9a-fA-F]{3,8}:?\s*$")
"""`hexdump -C` ends with the length alone."""


def starts_dump(line: str) -> bool:
    """Whether a file whose first line is this one is a hex dump: offset zero, then a byte."""
    found = OFFSET.match(line)
    return found is not None and int(found[1], 16) == 0


def read(lines: Sequence[str]) -> Iterator[bytes]:
    """The frames of a dump: each begins with offset zero."""
    frame, began = bytearray(), 0
    for number, line in enumerate(lines, start=1):
        if (found := OFFSET.match(line)) is None:
            _skip(line, number)
            continue
        offset = int(found[1], 16)
        if offset == 0 and began:
            yield checked(bytes(frame), began)
            frame, began = bytearray(), 0
        began = began or number
        if offset != len(frame):
            what = f"the line is at offset {offset:#x}, and {len(frame):#x} bytes stand before it"
            raise FrameFileError(
                number, what, "a line is missing, or has bytes that were not read as such"
            )
        frame.extend(_bytes(line[found.end() :]))
    if began:
        yield checked(bytes(frame), began)


def _skip(line: str, number: int) -> None:
    """Lines that are no bytes: blank, comments, headings of packets, and the length at the end."""
    text = line.strip()
    if not text or text.startswith("#") or END.fullmatch(line) or not text[0].isdigit():
        return
    raise FrameFileError(
        number,
        f"'{text[:40]}' is no line of a hex dump",
        "write an offset, then bytes: 0010  45 00 ..",
    )


def _bytes(text: str) -> bytes:
    """Up to 16 bytes; a wider gap ends them, behind which is the same as text."""
    found, at = bytearray(), 0
    while len(found) < BYTES_OF_LINE and (byte := BYTE.match(text, at)) is not None:
        found.append(int(byte[1], 16))
        at = byte.end()
    return bytes(found)
