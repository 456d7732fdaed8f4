"""`config_db.json` as tables, each row with its line."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree
from lark.exceptions import LarkError, UnexpectedInput

from tailrace.errors import TailraceError
from tailrace.importers.remarks import Remarks
from tailrace.importers.sonic.flat import EMPTY, reference, table_and_key

GRAMMAR = Path(__file__).with_name("json.lark")
TEXT_MAX = 20_000_000
"""Characters of a file; that of the largest chassis has a few megabytes."""
DEPTH_MAX = 64
WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
PORTS_SEPARATOR, KEY_SEPARATOR = ",", "|"
OPERATION = "OP"
"""Says in a file of `swssconfig` that a part is set."""
TABLE_TWICE = "table is defined twice; its rows are merged"


@dataclass
class DatabaseRow:
    """One entry of a table."""

    line: int
    key: str
    fields: dict[str, str]
    """Values as text, as in the database."""
    taken: set[str] = field(default_factory=set)
    """Fields that were imported."""
    refused: dict[str, str] = field(default_factory=dict)
    """Fields with an invalid value, and the reason."""
    has_remark: bool = False
    """Whether there is a remark about the whole row already."""

    def take(self, name: str) -> str | None:
        """The value of a field, which is then marked as imported."""
        self.taken.add(name)
        return self.fields.get(name)

    def number(self, name: str, least: int = 0) -> int | None:
        """A field as a whole number; None, with a remark, for any other value and below `least`."""
        text = self.take(name)
        if text is None:
            return None
        if not WHOLE_NUMBER.fullmatch(text.strip()) or int(text) < least:
            self.refused[name] = (
                f"{name}: '{text}' is not a whole number of {least} or more (18 digits at most)"
            )
            return None
        return int(text)

    def reference(self, name: str) -> str | None:
        """A reference to another table; older files write `[TABLE|name]`."""
        text = self.take(name)
        return None if text is None else reference(text)

    @property
    def text(self) -> str:
        """The text that a remark quotes."""
        return self.key


Tables = dict[str, dict[str, DatabaseRow]]


class UnreadableError(TailraceError):
    """The file is not JSON, or not a database of tables."""


def read_tables(text: str, file: str, remarks: Remarks) -> Tables:
    """The tables of a database."""
    if len(text) > TEXT_MAX:
        raise UnreadableError(f"{file}: larger than 20 MB (hint: is this a config_db.json?)")
    if _depth(text) > DEPTH_MAX:
        raise UnreadableError(
            f"{file}: nested deeper than {DEPTH_MAX} (hint: is this a config_db.json?)"
        )
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        line = max(0, error.line)
        raise UnreadableError(
            f"{file}:{line}: not valid JSON (hint: `sonic-cfggen -d --print-data` writes the file)"
        ) from None
    except LarkError as error:
        raise UnreadableError(f"{file}: not valid JSON: {str(error).splitlines()[0]}") from None
    tables: Tables = {}
    named: set[str] = set()
    for line, name, value in (pair for part in _databases(tree, file) for pair in _pairs(part)):
        if name == OPERATION and value.data == "string":
            continue
        if name in named:
            fault = (
                "row is defined twice; the later one takes precedence"
                if table_and_key(name)
                else TABLE_TWICE
            )
            remarks.add(line, name, "contradiction", f"this {fault}")
        named.add(name)
        flat = table_and_key(name)
        found = (
            _rows(line, name, value, remarks) if flat is None else [_flat_row(line, flat[1], value)]
        )
        rows = tables.setdefault(name if flat is None else flat[0], {})
        for row in found:
            if row.key in rows and flat is None:
                words = f"{name} has this row twice; line {rows[row.key].line} is ignored"
                remarks.add(row.line, row.key, "contradiction", words)
            rows[row.key] = row
    return tables


def _databases(tree: Tree[Token], file: str) -> list[Tree[Token]]:
    """The database, or the parts of one: `swssconfig` and patches of `config` write a list of
    objects."""
    parts = (
        [child for child in tree.children if isinstance(child, Tree)]
        if tree.data == "array"
        else [tree]
    )
    other = next((part for part in parts if part.data != "object"), None)
    if other is not None or not parts:
        found = other.data if other is not None else "an empty list"
        raise UnreadableError(
            f"{file}: a database must be an object of tables, or a list "
            f"of such objects, not: {found}"
        )
    return parts


def _flat_row(line: int, key: str, value: Tree[Token]) -> DatabaseRow:
    """A row at the top level; a dump also states its type."""
    inner = (
        next((v for _, name, v in _pairs(value) if name == "value"), None)
        if value.data == "object"
        else None
    )
    fields = _fields(value if inner is None or inner.data != "object" else inner)
    return DatabaseRow(line, key, {name: text for name, text in fields.items() if name != EMPTY})


def _rows(line: int, table: str, value: Tree[Token], remarks: Remarks) -> Iterator[DatabaseRow]:
    if value.data != "object":
        remarks.add(
            line, table, "not-understood", f"a table must be an object of rows, not: {value.data}"
        )
        return
    for row_line, key, fields in _pairs(value):
        yield DatabaseRow(row_line, key, _fields(fields))


def _fields(tree: Tree[Token]) -> dict[str, str]:
    if tree.data == "object":
        return {name: _text(field) for _, name, field in _pairs(tree)}
    return {"": _text(tree)}


def _pairs(tree: Tree[Token]) -> Iterator[tuple[int, str, Tree[Token]]]:
    for pair in tree.children:
        assert isinstance(pair, Tree), "an object has pairs"
        name, value = pair.children
        assert isinstance(name, Tree), "a pair has a name"
        assert isinstance(value, Tree), "a pair has a value"
        yield name.meta.line, _text(name), value


def _text(value: Tree[Token]) -> str:
    """A value as text, as in the database; lists with commas."""
    if value.data in ("array", "object"):
        return PORTS_SEPARATOR.join(
            _text(child) for child in value.children if isinstance(child, Tree)
        )
    if value.data == "pair":
        return ""
    (token,) = value.children
    if value.data == "string":
        try:
            decoded: Any = json.loads(str(token))
        except ValueError:
            return str(token)
        return str(decoded)
    return str(token)


def _depth(text: str) -> int:
    """Upper bound of the nesting depth; brackets inside strings count too."""
    depth = deepest = 0
    for letter in text:
        if letter in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "}]":
            depth -= 1
    return deepest


@cache
def _parser() -> Lark:
    text = GRAMMAR.read_text(encoding="utf-8")
    return Lark(
        text, start="value", parser="lalr", propagate_positions=True, maybe_placeholders=False
    )
