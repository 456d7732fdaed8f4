"""Descriptions of a part's keys: the strings below them in the source of its class, read when a
schema is requested.

Pydantic reads them as well (`use_attribute_docstrings`), but when a class is created: that takes
longer than all other work before a scenario is read.
"""

import ast
import inspect
import itertools
import sys
from collections.abc import Iterator
from functools import cache


def keys_described(part: type) -> dict[str, str]:
    """Descriptions by the names of the fields, those of base classes included."""
    found: dict[str, str] = {}
    for base in reversed(part.__mro__):
        if "__annotations__" in vars(base):
            found |= _classes(base.__module__).get(base.__name__, {})
    return found


@cache
def _classes(module: str) -> dict[str, dict[str, str]]:
    """The same for each class of a module, without those of its base classes."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {part.name: dict(_described(part)) for part in body if isinstance(part, ast.ClassDef)}


def _described(part: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for key, below in itertools.pairwise(part.body):
        if not (isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name)):
            continue
        if (
            isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            yield key.target.id, inspect.cleandoc(below.value.value)
