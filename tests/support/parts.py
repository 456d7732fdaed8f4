"""Parts of a summary of which a test states what matters: the rest is nothing, in the types of the
part."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec.structs import fields

from tailrace.results.summary.base import Part

Kind = TypeVar("Kind", bound=Part)
ZEROS: dict[Any, Any] = {str: "", int: 0, float: 0.0, bool: False}


def part(kind: type[Kind], /, **given: Any) -> Kind:
    """A part of this kind with these fields, and nothing in the others."""
    hints = get_type_hints(kind)
    rest = {field.name: _zero(hints[field.name]) for field in fields(kind) if field.required}
    return kind(**(rest | given))


def _zero(hint: Any) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if NoneType in arguments else _zero(arguments[0])
    if origin is Literal:
        return arguments[0]
    if origin is tuple:
        return tuple(_zero(one) for one in arguments)
    if isinstance(hint, type) and issubclass(hint, Part):
        return part(hint)
    # Sequences and mappings are those of collections.abc.
    return (
        ZEROS[hint]
        if hint in ZEROS
        else {}
        if origin is not None and issubclass(origin, Mapping)
        else ()
    )
