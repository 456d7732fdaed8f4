"""Errors of a file of frames, with its name and line, and the limits of a frame."""

from tailrace.errors import TailraceError

FRAME_BYTES_MIN = 14
"""Addresses and type: Linux takes nothing shorter."""
FRAME_BYTES_MAX = 9_216 + 14 + 8
"""An MTU of 9216, the largest of a scenario, with its header and two VLAN tags."""
FRAMES_MAX = 512
"""Frames of a file."""


class FrameFileError(TailraceError):
    """A file of frames cannot be read."""

    def __init__(self, line: int, what: str, hint: str = "") -> None:
        super().__init__(f"{what} (hint: {hint})" if hint else what)
        self.line = line


def checked(frame: bytes, line: int) -> bytes:
    """The frame that begins in this line, if an interface takes its length."""
    if FRAME_BYTES_MIN <= len(frame) <= FRAME_BYTES_MAX:
        return frame
    what = f"the frame has {len(frame)} bytes, not {FRAME_BYTES_MIN} to {FRAME_BYTES_MAX}"
    raise FrameFileError(
        line, what, "write all bytes from the destination address on, without the check sequence"
    )
