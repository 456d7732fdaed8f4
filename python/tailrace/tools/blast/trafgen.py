"""Packets of trafgen (netsniff-ng): the part of its language with which a frame is the same every
time it is sent."""

import operator
import random
import re
from collections.abc import Callable, Iterator, Mapping

from tailrace.tools.blast.line import FRAME_BYTES_MAX, FrameFileError, checked
from tailrace.tools.blast.trafgen_sums import PROTOCOLS, RANGES, Sum
from tailrace.tools.blast.trafgen_tokens import Token, tokens_of

NUMBERS = frozenset({"number", "letter"})
"""A character in quotes is its code, as in C."""
WIDTHS = {
    "c8": 1,
    "const8": 1,
    "c16": 2,
    "const16": 2,
    "c32": 4,
    "const32": 4,
    "c64": 8,
    "const64": 8,
}
SEQUENCES = {"seqinc": 1, "seqdec": -1}
"""First value, number of bytes, step (default: 1)."""
CHANGING = {
    "drnd": "write rnd(..) for bytes that are drawn once, several frames, "
    "or send the file with trafgen",
    "dinc": "write several frames, seqinc(..) for bytes that count up, "
    "or send the file with trafgen",
    "ddec": "write several frames, seqdec(..) for bytes that count down, "
    "or send the file with trafgen",
}
"""Functions that give other bytes each time, with what can be done instead."""
OPERATORS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
VALUE_MAX = (1 << 64) - 1
"""Numbers of trafgen have 64 bits."""
DEPTH_MAX = 32
"""Parentheses within each other."""
HEADERS = frozenset(
    {
        "eth",
        "pause",
        "pfc",
        "vlan",
        "mpls",
        "arp",
        "ip4",
        "ipv4",
        "ip6",
        "ipv6",
        "icmp4",
        "icmp",
        "icmp6",
    }
)
HEADERS_ABOVE = frozenset({"icmpv6", "udp", "tcp", "dns"})
SEED = 1
"""`rnd` gives the same bytes each time the file is read."""
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "\\": "\\", '"': '"', "'": "'"}


def read(text: str) -> Iterator[bytes]:
    """The frames of a configuration: what stands between braces."""
    tokens = list(tokens_of(text))
    at, draw = 0, random.Random(SEED)
    while at < len(tokens):
        token = tokens[at]
        if token.text != "{":
            what = f"'{token.text}' stands outside of a packet"
            hint = "write packets as { .. }"
            if token.text == "cpu":
                what, hint = (
                    "cpu() gives a packet to one processor",
                    "remove it: each thread sends all frames in turn",
                )
            raise FrameFileError(token.line, what, hint)
        frame, at = _Packet(tokens, at, draw).read()
        yield checked(frame, token.line)


class _Packet:
    """One packet, as it is read."""

    def __init__(self, tokens: list[Token], at: int, draw: random.Random) -> None:
        self.tokens, self.at, self.draw = tokens, at + 1, draw
        self.opened = tokens[at]
        self.bytes = bytearray()
        self.sums: list[Sum] = []

    def read(self) -> tuple[bytes, int]:
        while (token := self._next()).text != "}":
            if token.text != ",":
                self._add(token)
            if len(self.bytes) > FRAME_BYTES_MAX:
                raise FrameFileError(
                    token.line,
                    f"the frame has more than {FRAME_BYTES_MAX} bytes",
                    "make it shorter",
                )
        for each in self.sums:
            each.put(self.bytes)
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
            raise FrameFileError(
                token.line, f"'{token.text}' is not expected here", "separate bytes by commas"
            )

    def _call(self, name: Token) -> None:
        if name.text in CHANGING:
            what = f"{name.text}() changes from frame to frame, which blast does not do"
            raise FrameFileError(name.line, what, CHANGING[name.text])
        if name.text in HEADERS or name.text in HEADERS_ABOVE:
            what = f"{name.text}() makes a header, which is not read"
            raise FrameFileError(
                name.line, what, "write its bytes; `trafgen --example` and Wireshark show them"
            )
        if name.text not in {*WIDTHS, *SEQUENCES, *RANGES, *PROTOCOLS, "fill", "rnd"}:
            hint = (
                "fill, c8 to c64, rnd, seqinc, seqdec, csumip, csumudp, csumtcp; names of #define"
            )
            raise FrameFileError(name.line, f"there is no function {name.text}()", hint)
        values = self._arguments(name)
        if name.text in WIDTHS:
            width = WIDTHS[name.text]
            [value] = self._exactly(1, values, name)
            self.bytes.extend(_in_range(value, (1 << 8 * width) - 1, name).to_bytes(width, "big"))
        elif name.text == "fill":
            value, times = self._exactly(2, values, name)
            self.bytes.extend(
                [_in_range(value, 0xFF, name)] * _in_range(times, FRAME_BYTES_MAX, name)
            )
        elif name.text == "rnd":
            [times] = self._exactly(1, values, name)
            self.bytes.extend(self.draw.randbytes(_in_range(times, FRAME_BYTES_MAX, name)))
        elif name.text in SEQUENCES:
            first, times, *steps = values if len(values) == 3 else self._exactly(2, values, name)
            step = SEQUENCES[name.text] * (steps[0] if steps else 1)
            times = _in_range(times, FRAME_BYTES_MAX, name)
            self.bytes.extend((first + step * number) & 0xFF for number in range(times))
        else:
            self.sums.append(
                Sum(name.text, len(self.bytes), self._exactly(2, values, name), name.line)
            )
            self.bytes.extend(b"\0\0")

    def _arguments(self, name: Token) -> list[int]:
        values: list[int] = []
        if (token := self._next()).text != "(":
            raise FrameFileError(
                token.line, f"({name.text} has no arguments)", f"write {name.text}(..)"
            )
        while (token := self._next()).text != ")":
            if token.text != ",":
                self.at -= 1
                values.append(self._sum_of(name, 0))
        return values

    def _sum_of(self, name: Token, depth: int) -> int:
        """An expression, from left to right: trafgen has no precedence of operators."""
        value = self._operand(name, depth)
        while (sign := self._next()).text in OPERATORS:
            operand = self._operand(name, depth)
            if (operand == 0 and sign.text in {"/", "%"}) or (
                operand > 63 and sign.text in {"<<", ">>"}
            ):
                raise FrameFileError(
                    sign.line, f"'{sign.text} {operand}' has no value of 64 bits", ""
                )
            value = OPERATORS[sign.text](value, operand)
            if not 0 <= value <= VALUE_MAX:
                raise FrameFileError(
                    sign.line,
                    f"{value} is not 0 to {VALUE_MAX}",
                    "operators count from left to right",
                )
        self.at -= 1
        return value

    def _operand(self, name: Token, depth: int) -> int:
        token = self._next()
        if token.text == "(" and depth < DEPTH_MAX:
            value = self._sum_of(name, depth + 1)
            if (token := self._next()).text == ")":
                return value
        elif token.kind in NUMBERS:
            return _value(token)
        raise FrameFileError(
            token.line, f"'{token.text}' is not a number", f"write {name.text}(..) with numbers"
        )

    @staticmethod
    def _exactly(count: int, values: list[int], name: Token) -> list[int]:
        if len(values) != count:
            raise FrameFileError(
                name.line, f"{name.text}() takes {count} numbers, not {len(values)}", ""
            )
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
