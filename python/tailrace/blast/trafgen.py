"""Packet configurations of trafgen (netsniff-ng): the part with which a frame is the same every time it is sent."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tailrace.blast.line import FRAME_BYTES_MAX, FrameFileError, checked
from tailrace.programs.internet_sum import internet_sum

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
    |(?P<text>"(?:[^"\\\n]|\\.)*")
    |(?P<letter>'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|.))')
    |(?P<number>0x[0-9a-fA-F]+|0b[01]+|b[01]+(?![0-9a-zA-Z_])|[0-9]+)
    |(?P<word>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<mark>[{}(),:=.])""",
    re.VERBOSE | re.DOTALL,
)
NUMBERS = frozenset({"number", "letter"})
"""A character in quotes is its code, as in C."""
WIDTHS = {"c8": 1, "const8": 1, "c16": 2, "const16": 2, "c32": 4, "const32": 4, "c64": 8, "const64": 8}
CHANGING = frozenset({"drnd", "dinc", "ddec", "seqinc", "seqdec"})
HEADERS = frozenset(
    {"eth", "pause", "pfc", "vlan", "mpls", "arp", "ip4", "ipv4", "ip6", "ipv6", "icmp4", "icmp", "icmp6"}
)
HEADERS_ABOVE = frozenset({"icmpv6", "udp", "tcp", "dns"})
SEED = 1
"""`rnd` gives the same bytes each time the file is read."""
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "'": "'"}


@dataclass(frozen=True)
class Token:
    """A word of the file with its line."""

    kind: str
    text: str
    line: int


def read(text: str) -> Iterator[bytes]:
    """The frames of a configuration: what stands between braces."""
    tokens = list(_tokens(text))
    at, draw = 0, random.Random(SEED)
    while at < len(tokens):
        token = tokens[at]
        if token.text != "{":
            what = f"'{token.text}' stands outside of a packet"
            raise FrameFileError(
                token.line, what, "write packets as { .. }; `cpu()` and preprocessor lines are not read"
            )
        frame, at = _Packet(tokens, at, draw).read()
        yield checked(frame, token.line)


def _tokens(text: str) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            shown = text[at : at + 20].split("\n")[0]
            raise FrameFileError(
                line, f"'{shown}' cannot be read", "numbers, strings, fill(), c8() to c64(), rnd(), csumip()"
            )
        if found.lastgroup != "space":
            yield Token(str(found.lastgroup), found[0], line)
        line += found[0].count("\n")
        at = found.end()


class _Packet:
    """One packet, as it is read."""

    def __init__(self, tokens: list[Token], at: int, draw: random.Random) -> None:
        self.tokens, self.at, self.draw = tokens, at + 1, draw
        self.opened = tokens[at]
        self.bytes = bytearray()
        self.sums: list[tuple[int, int, int, int]] = []
        """Place, first and last byte, line."""

    def read(self) -> tuple[bytes, int]:
        while (token := self._next()).text != "}":
            if token.text != ",":
                self._add(token)
            if len(self.bytes) > FRAME_BYTES_MAX:
                raise FrameFileError(token.line, f"the frame has more than {FRAME_BYTES_MAX} bytes", "make it shorter")
        for place, first, last, line in self.sums:
            if last >= len(self.bytes):
                raise FrameFileError(line, f"csumip() ends at byte {last} of {len(self.bytes)}", "the first byte is 0")
            self.bytes[place : place + 2] = internet_sum(bytes(self.bytes[first : last + 1])).to_bytes(2, "big")
        return bytes(self.bytes), self.at

    def _next(self) -> Token:
        if self.at == len(self.tokens):
            raise FrameFileError(self.opened.line, "the packet has no end", "close it with }")
        self.at += 1
        return self.tokens[self.at - 1]

    def _add(self, token: Token) -> None:
        if token.kind in NUMBERS:
            self.bytes.append(_in_range(_value(token), 0xFF, token))
        elif token.kind == "text":
            self.bytes.extend(_text(token))
        elif token.kind == "word":
            self._call(token)
        else:
            raise FrameFileError(token.line, f"'{token.text}' is not expected here", "separate bytes by commas")

    def _call(self, name: Token) -> None:
        if name.text in CHANGING:
            what = f"{name.text}() changes from frame to frame, which blast does not do"
            raise FrameFileError(name.line, what, "write several frames, or send the file with trafgen")
        if name.text in HEADERS or name.text in HEADERS_ABOVE:
            what = f"{name.text}() makes a header, which is not read"
            raise FrameFileError(name.line, what, "write its bytes; `trafgen --example` and Wireshark show them")
        if name.text not in {*WIDTHS, "fill", "rnd", "csumip", "csumicmp"}:
            raise FrameFileError(name.line, f"there is no function {name.text}()", "fill, c8 to c64, rnd, csumip")
        values = self._arguments(name)
        if name.text in WIDTHS:
            width = WIDTHS[name.text]
            [value] = self._exactly(1, values, name)
            self.bytes.extend(_in_range(value, (1 << 8 * width) - 1, name).to_bytes(width, "big"))
        elif name.text == "fill":
            value, times = self._exactly(2, values, name)
            self.bytes.extend([_in_range(value, 0xFF, name)] * _in_range(times, FRAME_BYTES_MAX, name))
        elif name.text == "rnd":
            [times] = self._exactly(1, values, name)
            self.bytes.extend(self.draw.randbytes(_in_range(times, FRAME_BYTES_MAX, name)))
        else:
            first, last = self._exactly(2, values, name)
            self.sums.append((len(self.bytes), first, last, name.line))
            self.bytes.extend(b"\0\0")

    def _arguments(self, name: Token) -> list[int]:
        values: list[int] = []
        if (token := self._next()).text != "(":
            raise FrameFileError(token.line, f"({name.text} has no arguments)", f"write {name.text}(..)")
        while (token := self._next()).text != ")":
            if token.kind in NUMBERS:
                values.append(_value(token))
            elif token.text != ",":
                raise FrameFileError(
                    token.line, f"'{token.text}' is not a number", f"write {name.text}(..) with numbers"
                )
        return values

    @staticmethod
    def _exactly(count: int, values: list[int], name: Token) -> list[int]:
        if len(values) != count:
            raise FrameFileError(name.line, f"{name.text}() takes {count} numbers, not {len(values)}", "")
        return values


def _value(token: Token) -> int:
    text = token.text
    if token.kind == "letter":
        return _text(token)[0]
    if text.startswith(("0x", "0b")):
        return int(text, 0)
    return int(text[1:], 2) if text.startswith("b") else int(text)


def _in_range(value: int, most: int, token: Token) -> int:
    if value > most:
        raise FrameFileError(token.line, f"{value} is above {most}", "")
    return value


def _text(token: Token) -> bytes:
    plain = re.sub(r"\\x([0-9a-fA-F]{2})|\\(.)", _unescaped, token.text[1:-1])
    return plain.encode("latin-1", errors="replace")


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else ESCAPES.get(found[2], found[2])
