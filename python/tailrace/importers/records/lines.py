"""Lines of a record as a stream, with remarks. A file of any length takes the same memory."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from tailrace.errors import Problem, ScenarioError, reason_of
from tailrace.files import opened
from tailrace.importers.remarks import Remarks, Verdict

LINE_BYTES_MAX = 16_000_000
"""A longer line is no line of text."""
SHOWN = 60
KINDS_MAX = 1000
"""Different words about lines; further ones are counted together."""


@dataclass
class _Kind:
    first: int
    text: str
    lines: int = 0
    last: int = 0


@dataclass
class Record:
    """A file that is read once."""

    path: Path
    kinds: dict[tuple[Verdict, str], _Kind] = field(default_factory=dict)
    lines: int = 0
    """Number of lines read."""

    def read(self) -> Iterator[str]:
        """Lines without their ends; raises `ScenarioError` for input that is no text."""
        try:
            with opened(self.path) as stored:
                file = gzip.GzipFile(fileobj=stored) if self.path.suffix == ".gz" else stored
                while raw := file.readline(LINE_BYTES_MAX):
                    self.lines += 1
                    if len(raw) >= LINE_BYTES_MAX:
                        self.refuse(
                            f"a line of more than {LINE_BYTES_MAX} bytes", "expected lines of text"
                        )
                    if b"\0" in raw:
                        self.refuse("NUL bytes", "expected text in UTF-8")
                    # Of another encoding, only letters of statements are lost.
                    yield raw.decode("utf-8-sig" if self.lines == 1 else "utf-8", "replace").rstrip(
                        "\r\n"
                    )
        except (OSError, EOFError) as error:
            reason = (
                reason_of(error)
                if isinstance(error, OSError)
                else "it ends within its compressed data"
            )
            raise ScenarioError(
                [Problem(str(self.path), self.lines, "", f"cannot read it: {reason}")]
            ) from None
        if not self.lines:
            self.refuse("the file is empty", "name another file")

    def say(self, verdict: Verdict, words: str, text: str, line: int = 0, lines: int = 1) -> None:
        """Adds a remark about `lines` lines, up to this one; lines of one kind share a remark."""
        at = line or self.lines
        if len(self.kinds) >= KINDS_MAX and (verdict, words) not in self.kinds:
            words = "and more of other kinds"
        kind = self.kinds.setdefault((verdict, words), _Kind(at - lines + 1, text))
        kind.lines += lines
        kind.last = at

    def refuse(self, what: str, hint: str = "", line: int | None = None, key: str = "") -> NoReturn:
        """Raises a problem of a line, by default the last that was read."""
        raise self.refused(what, hint, line, key)

    def refused(
        self, what: str, hint: str = "", line: int | None = None, key: str = ""
    ) -> ScenarioError:
        """A problem at a line."""
        return ScenarioError(
            [Problem(str(self.path), self.lines if line is None else line, key, what, hint)]
        )

    def remarks(self, about: str) -> Remarks:
        """All of them; those of several lines say how many."""
        remarks = Remarks(about=about)
        for (verdict, words), kind in self.kinds.items():
            more = f" ({kind.lines} lines, {kind.first} to {kind.last})" if kind.lines > 1 else ""
            text = kind.text[:SHOWN] + ("..." if len(kind.text) > SHOWN else "")
            remarks.add(kind.first, text, verdict, words + more)
        return remarks
