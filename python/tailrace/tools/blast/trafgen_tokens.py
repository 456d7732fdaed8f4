"""Words of a packet configuration of trafgen, with what its C preprocessor does of `#define` and
`#ifdef`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tailrace.tools.blast.line import FRAME_BYTES_MAX, FrameFileError

REST = r"(?:/\*.*?\*/|\\\n|[^\n])*"
"""The rest of a line, with lines that a backslash or a comment joins to it."""
DIRECTIVE = re.compile(
    rf"[ \t]*\#(?P<name>define|undef|ifdef|ifndef|else|endif|if|elif|include|error|warning|pragma)\b(?P<rest>{REST})",  # noqa: E501
    re.DOTALL,
)
"""`#` directly before the name, at the beginning of a line: `#` elsewhere begins a comment of
trafgen."""
LINE = re.compile(REST, re.DOTALL)
TOKEN = re.compile(
    r"""(?P<space>[^\S\n]+|\n|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |(?P<letter>'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|.))')
    |(?P<number>0x[0-9a-fA-F]+|0b[01]+|b[01]+(?![0-9a-zA-Z_])|[0-9]+)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark><<|>>|[{}(),:=.|&^+*/%-])""",
    re.VERBOSE | re.DOTALL,
)
DEFINITION = re.compile(r"[ \t]+([A-Za-z_][A-Za-z0-9_]*)(\(?)(.*)", re.DOTALL)
NAME = re.compile(r"[ \t]+([A-Za-z_][A-Za-z0-9_]*)")
EXPANDED_MAX = 4 * FRAME_BYTES_MAX
"""Words that one name stands for: a byte, a comma and more for each byte of the longest frame."""


@dataclass(frozen=True)
class Token:
    """A word of the file with its line."""

    kind: str
    text: str
    line: int


@dataclass
class Preprocessor:
    """Names that are defined so far, and whether the text of this place counts."""

    names: dict[str, list[Token]] = field(default_factory=dict)
    branches: list[tuple[bool, int]] = field(default_factory=list)
    """Whether each open condition holds, and its line."""

    @property
    def is_active(self) -> bool:
        """Whether all open conditions hold."""
        return all(holds for holds, _ in self.branches)

    def direct(self, name: str, rest: str, line: int) -> None:
        """Obeys a line of the preprocessor; raises where it does more than define names and ask for
        them."""
        if name in {"ifdef", "ifndef"}:
            self.branches.append(
                ((self._named(rest, line) in self.names) == (name == "ifdef"), line)
            )
        elif name in {"else", "endif"}:
            self._close(name, line)
        elif name in {"if", "elif"} or (self.is_active and name in {"include", "error"}):
            hint = "write the text itself, or run `cpp -P` on the file first"
            raise FrameFileError(line, f"#{name} is not read", hint)
        elif self.is_active and name == "undef":
            self.names.pop(self._named(rest, line), None)
        elif self.is_active and name == "define":
            self._define(rest, line)

    def expanded(self, token: Token) -> Iterator[Token]:
        """What a word stands for, in the line in which it is used."""
        for count, found in enumerate(self._expanded(token, frozenset()), start=1):
            if count > EXPANDED_MAX:
                raise FrameFileError(
                    token.line, f"{token.text} stands for more than {EXPANDED_MAX} words", ""
                )
            yield found

    def _expanded(self, token: Token, within: frozenset[str]) -> Iterator[Token]:
        if token.kind != "word" or token.text not in self.names or token.text in within:
            yield token
            return
        for part in self.names[token.text]:
            yield from self._expanded(
                Token(part.kind, part.text, token.line), within | {token.text}
            )

    def _define(self, rest: str, line: int) -> None:
        found = DEFINITION.match(rest)
        if found is None:
            raise FrameFileError(line, "#define has no name", "write #define NAME value")
        name, opened, value = found.groups()
        if opened:
            raise FrameFileError(
                line, f"#define {name}(..) has arguments", "run `cpp -P` on the file first"
            )
        self.names[name] = list(plain_tokens(value.replace("\\\n", " "), line))

    def _close(self, name: str, line: int) -> None:
        if not self.branches:
            raise FrameFileError(line, f"#{name} has no #ifdef before it", "remove it")
        holds, opened = self.branches.pop()
        if name == "else":
            self.branches.append((not holds, opened))

    @staticmethod
    def _named(rest: str, line: int) -> str:
        if (found := NAME.match(rest)) is None:
            raise FrameFileError(line, "the name is missing", "write #ifdef NAME")
        return found[1]


def tokens_of(text: str) -> Iterator[Token]:
    """The words of a configuration, without comments, with the names that it defines replaced."""
    known, at, line = Preprocessor(), 0, 1
    while at < len(text):
        is_begin = at == 0 or text[at - 1] == "\n"
        if is_begin and (directive := DIRECTIVE.match(text, at)) is not None:
            known.direct(directive["name"], directive["rest"], line)
            found: re.Match[str] | None = directive
        elif not known.is_active:
            found = LINE.match(text, at)
        else:
            token, found = _next(text, at, line)
            yield from known.expanded(token) if token is not None else ()
        assert found is not None, "the rest of a line may be empty"
        end = max(found.end(), at + 1)  # an empty rest of a line ends with its line
        line += text.count("\n", at, end)
        at = end
    if known.branches:
        raise FrameFileError(
            known.branches[-1][1], "the condition has no end", "close it with #endif"
        )


def plain_tokens(text: str, line: int) -> Iterator[Token]:
    """The words of a part without preprocessor lines."""
    at = 0
    while at < len(text):
        token, found = _next(text, at, line)
        if token is not None:
            yield token
        line, at = line + found[0].count("\n"), found.end()


def _next(text: str, at: int, line: int) -> tuple[Token | None, re.Match[str]]:
    """The word at a place, or none for white space, which ends with its line so that the next may
    be a directive."""
    found = TOKEN.match(text, at)
    if found is None:
        shown = text[at : at + 20].split("\n")[0]
        hint = "numbers, strings, fill(), c8() to c64(), rnd(), csumip()"
        raise FrameFileError(line, f"'{shown}' cannot be read", hint)
    return (
        Token(str(found.lastgroup), found[0], line) if found.lastgroup != "space" else None
    ), found
