"""Rows of a flat database, with `TABLE|key` instead of tables of rows, as in Redis.

`sonic-db-dump` writes CONFIG_DB with `TABLE|key` and each row inside a description of its type;
APPL_DB has `TABLE_TABLE:key`. Both are converted to rows of CONFIG_DB.
"""

import re

KEY = re.compile(r"(?P<table>[A-Z][A-Z0-9_]*)\|(?P<key>.+)", re.DOTALL)
APPLICATION_KEY = re.compile(r"(?P<table>[A-Z][A-Z0-9_]*?)_TABLE:(?P<key>.+)", re.DOTALL)
EMPTY = "NULL"
"""Field and value of a row without fields: Redis has no empty hash."""


def table_and_key(name: str) -> tuple[str, str] | None:
    """The table and the key in a top-level name; None when it is the name of a table."""
    found = KEY.fullmatch(name)
    if found is not None:
        return found["table"], found["key"]
    found = APPLICATION_KEY.fullmatch(name)
    return None if found is None else (found["table"], found["key"].replace(":", "|"))


def reference(text: str) -> str:
    """A reference to a row of another table: older files write `[TABLE|name]`, APPL_DB
    `[TABLE_TABLE:name]`."""
    inner = text.strip("[]")
    found = table_and_key(inner)
    return inner if found is None else found[1]
