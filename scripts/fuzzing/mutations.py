"""Inputs made of others: bytes, lines and words are changed, and two inputs are spliced."""

import json
import random
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

CHANGES_MAX = 6
"""Changes of one input at most."""
INPUT_BYTES_MAX = 200_000
WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_-]*|[0-9]+(?:\.[0-9]+)?|[^\sA-Za-z0-9_]|\s+")
"""What text consists of, in any of the formats."""
BOUNDARIES = (
    *(
        b"0",
        b"1",
        b"-1",
        b"2",
        b"7",
        b"8",
        b"64",
        b"100",
        b"101",
        b"255",
        b"256",
        b"1500",
        b"4095",
        b"4096",
        b"9216",
    ),
    *(
        b"65535",
        b"65536",
        b"2147483648",
        b"4294967296",
        b"9223372036854775807",
        b"18446744073709551616",
        b"1" * 40,
    ),
    *(
        b"0.5",
        b"-0.0",
        b"1e9",
        b"1e400",
        b"1e-400",
        b".nan",
        b"NaN",
        b".inf",
        b"-.inf",
        b"Infinity",
        b"0x10",
        b"1_000",
    ),
    *(
        b"true",
        b"false",
        b"null",
        b"~",
        b"",
        b'""',
        b"''",
        b"[]",
        b"{}",
        b"[[]]",
        b"[1, 2]",
        b"{a: 1}",
        b'{"a": 1}',
    ),
    *(
        b"1Gbit/s",
        b"0bit/s",
        b"1us",
        b"0s",
        b"1ps",
        b"1e9s",
        b"0B",
        b"1B",
        b"1EB",
        b"50%",
        b"101%",
        b"-5%",
        b"-1s",
    ),
    *(
        b"\xc3\xa9",
        b"\xff",
        b"\x00",
        b"\x1b[31m",
        b"\xe2\x80\xae",
        b"\xf0\x9f\x92\xa9",
        b"a" * 300,
        b"../x",
        b"/dev/null",
    ),
    *(
        b"*",
        b"&a",
        b"*a",
        b"<<",
        b"!!python/object",
        b"|",
        b">",
        b"- ",
        b"? ",
        b"#",
        b"%",
        b"@",
        b"`",
        b"\\",
        b"\t",
    ),
)
JSON_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    -1,
    2**63,
    1.5,
    1e300,
    "",
    "0",
    "a",
    [],
    [1],
    {},
    {"a": 1},
)
Change = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutated(dice: random.Random, seeds: Sequence[bytes], *, is_binary: bool) -> bytes:
    """One of the seeds, changed."""
    content = dice.choice(seeds)
    for _ in range(1 + min(CHANGES_MAX - 1, int(dice.expovariate(0.7)))):
        content = dice.choice(BINARY if is_binary else TEXT)(dice, content, seeds)
    return content[:INPUT_BYTES_MAX]


def flip_bits(dice: random.Random, content: bytes, _seeds: Sequence[bytes]) -> bytes:
    """A few bytes are others."""
    found = bytearray(content or b"\0")
    for _ in range(dice.randint(1, 4)):
        found[dice.randrange(len(found))] ^= 1 << dice.randrange(8)
    return bytes(found)


def put_number(dice: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """A number of 1, 2, 4 or 8 bytes at the boundary of something is written over what is there."""
    bits = dice.choice((8, 16, 32, 64))
    value = dice.choice(
        (
            0,
            1,
            2**bits - 1,
            2 ** (bits - 1),
            2 ** (bits - 1) - 1,
            dice.getrandbits(bits),
            len(content),
        )
    )
    packed = struct.pack(f"{dice.choice('<>')}Q", value % 2**64)
    number = packed[: bits // 8] if packed[0] == value % 256 else packed[-bits // 8 :]
    at = dice.randrange(len(content) + 1)
    return content[:at] + number + content[at + len(number) :]


def cut_off(dice: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """The end is missing."""
    return content[: dice.randrange(len(content) + 1)]


def move_block(dice: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """A block is left out, or written once more elsewhere."""
    start = dice.randrange(len(content) + 1)
    block = content[start : start + dice.choice((1, 4, 16, 64, 512))]
    if dice.random() < 0.5:
        return content[:start] + content[start + len(block) :]
    at = dice.randrange(len(content) + 1)
    return content[:at] + block + content[at:]


def splice(dice: random.Random, content: bytes, seeds: Sequence[bytes]) -> bytes:
    """The beginning of one and the end of another."""
    other = dice.choice(seeds)
    return content[: dice.randrange(len(content) + 1)] + other[dice.randrange(len(other) + 1) :]


def change_lines(dice: random.Random, content: bytes, seeds: Sequence[bytes]) -> bytes:
    """A line is left out, doubled, indented, exchanged with another, or comes from another
    input."""
    lines = content.splitlines(keepends=True) or [b"\n"]
    at, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(6):
        case 0:
            del lines[at : at + dice.choice((1, 1, 1, 5))]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = dice.choice((b"  ", b" ", b"\t")) + lines[at]
        case 4:
            lines[at] = lines[at].lstrip()
        case _:
            lines.insert(at, dice.choice(dice.choice(seeds).splitlines(keepends=True) or [b"\n"]))
    return b"".join(lines)


def change_words(dice: random.Random, content: bytes, seeds: Sequence[bytes]) -> bytes:
    """A word is left out, doubled, or another: one at a boundary, or one of any input."""
    words = WORD.findall(content) or [b""]
    at = dice.randrange(len(words))
    match dice.randrange(8):
        case 0:
            del words[at]
        case 1:
            words.insert(at, words[at])
        case 2 | 3 | 4:
            words[at] = dice.choice(BOUNDARIES)
        case _:
            words[at] = dice.choice(WORD.findall(dice.choice(seeds)) or [b""])
    return b"".join(words)


def change_number(dice: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """A number in a text is a little or far larger or smaller."""
    found = list(re.finditer(rb"[0-9]+", content))
    if not found:
        return content
    one = dice.choice(found)
    value = int(one[0][:30])
    new = dice.choice(
        (value + 1, value - 1, value * 1000, value // 1000, -value, value * 10**12, 0)
    )
    return content[: one.start()] + str(new).encode() + content[one.end() :]


def change_json(dice: random.Random, content: bytes, _: Sequence[bytes]) -> bytes:
    """Of a JSON document a value is left out, or another: of another type, or at a boundary."""
    try:
        document = json.loads(content)
    except ValueError:
        return content
    places = list(places_of(document))
    if not places:
        return content
    holder, key = dice.choice(places)
    if dice.random() < 0.3:
        del holder[key]
    else:
        holder[key] = dice.choice((*JSON_VALUES, dice.choice(places)[0]))
    try:
        return json.dumps(document, indent=1).encode()
    except (ValueError, RecursionError):  # it has become a part of itself
        return content


def places_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a document: the list or the object, and the position or the key in it."""
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in items:
        yield value, key
        yield from places_of(one)


BINARY: Sequence[Change] = (flip_bits, put_number, put_number, cut_off, move_block, splice)
TEXT: Sequence[Change] = (
    *(change_words, change_words, change_words, change_lines, change_lines, change_number),
    *(change_json, change_json, change_json, flip_bits, cut_off, move_block, splice),
)
