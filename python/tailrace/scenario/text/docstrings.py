"""Descriptions of a part's keys: the strings below them in the source of its class, read when a schema is asked for.

Pydantic reads them as well (`use_attribute_docstrings`), but when a class is made: that takes longer than everything
else that happens before a scenario is read.
"""

import ast
import inspect
import itertools
import textwrap


def keys_described(part: type) -> dict[str, str]:
    """Descriptions by the names of the fields, those of base classes included."""
    found: dict[str, str] = {}
    for base in reversed(part.__mro__):
        if "__annotations__" in vars(base):
            found |= _of_class(base)
    return found


def _of_class(part: type) -> dict[str, str]:
    [body] = ast.parse(textwrap.dedent(inspect.getsource(part))).body
    assert isinstance(body, ast.ClassDef), "the source of a class defines it"
    return {
        key.target.id: inspect.cleandoc(below.value.value)
        for key, below in itertools.pairwise(body.body)
        if isinstance(key, ast.AnnAssign)
        and isinstance(key.target, ast.Name)
        and isinstance(below, ast.Expr)
        and isinstance(below.value, ast.Constant)
        and isinstance(below.value.value, str)
    }
