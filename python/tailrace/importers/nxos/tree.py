"""Access to the parse tree of a command."""

from lark import Token, Tree

from tailrace.importers.nxos.parse import Node

SIZE_UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 10**6, "gbytes": 10**9}
RATE_UNITS = {"bps": 1, "kbps": 1000, "mbps": 10**6, "gbps": 10**9}
TIME_UNITS_PS = {"us": 10**6, "usec": 10**6, "ms": 10**9, "msec": 10**9, "sec": 10**12}
NUMBERS_MAX = 4096
"""Numbers in one list of ranges, at most."""


def parts(tree: Node, *names: str) -> list[Node]:
    """Direct parts with one of these names, in order."""
    return [child for child in tree.children if isinstance(child, Tree) and child.data in names]


def part(tree: Node, *names: str) -> Node | None:
    """The first such part."""
    return next(iter(parts(tree, *names)), None)


def words(tree: Node, kind: str) -> list[str]:
    """Direct words of one kind."""
    return [
        str(child) for child in tree.children if isinstance(child, Token) and child.type == kind
    ]


def word(tree: Node, kind: str) -> str | None:
    """The first such word."""
    return next(iter(words(tree, kind)), None)


def number(tree: Node) -> int:
    """The number of a tree that always has one."""
    return int(words(tree, "INT")[0])


def name(tree: Node) -> str:
    """The name of a tree that always has one."""
    return words(tree, "NAME")[-1]


def map_type(tree: Node, otherwise: str = "qos") -> str:
    """`qos`, `queuing`, `network-qos` or `control-plane`; `qos` where a command does not say."""
    kind = part(tree, "map_type")
    return otherwise if kind is None else str(kind.children[0]).lower()


def numbers(text: str) -> list[int] | None:
    """The numbers of `0-3,5`; None for a descending range or too many numbers."""
    found: list[int] = []
    for piece in text.split(","):
        first, _, last = piece.partition("-")
        if int(last or first) < int(first) or int(last or first) - int(first) >= NUMBERS_MAX:
            return None
        found += range(int(first), int(last or first) + 1)
    return found if len(found) <= NUMBERS_MAX else None


def listed(tree: Node) -> str:
    """The words of a list joined by commas, where it is written with blanks."""
    return ",".join(str(child) for child in tree.children)


def amount(tree: Node, units: dict[str, int], otherwise: str) -> int | None:
    """A number with its unit, in the smallest unit of its kind; None for a unit of another kind."""
    unit = (word(tree, "UNIT") or otherwise).lower()
    return number(tree) * units[unit] if unit in units else None


def packets(tree: Node) -> int | None:
    """A number of packets; None for another unit."""
    return number(tree) if (word(tree, "UNIT") or "").lower() == "packets" else None
