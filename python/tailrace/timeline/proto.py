"""The wire format of Protocol Buffers, as much of it as traces need.

Source: protobuf.dev/programming-guides/encoding (varints, tags, length-delimited fields).
"""

VARINT = 0
FIXED64 = 1
LENGTH_DELIMITED = 2
"""Wire types, the low three bits of a tag."""


def varint(value: int) -> bytes:
    """A number in groups of seven bits, the lowest first; negative ones in two's complement of 64
    bits."""
    if value < 0:
        value += 1 << 64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    """A field of an integer, enum or bool type."""
    return varint(field << 3 | VARINT) + varint(value)


def fixed64(field: int, value: int) -> bytes:
    """A field of type `fixed64`."""
    return varint(field << 3 | FIXED64) + value.to_bytes(8, "little")


def text(field: int, value: str) -> bytes:
    """A field of type `string`."""
    return message(field, value.encode("utf-8"))


def message(field: int, content: bytes) -> bytes:
    """A field with an embedded message."""
    return varint(field << 3 | LENGTH_DELIMITED) + varint(len(content)) + content
