"""Means of counters over trials, field by field."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec import Struct, convert

from tailrace.results.summary.base import Part

P = TypeVar("P", bound=Part)


def means_of(kind: type[P], counted: Sequence[Struct], count: int | None = None) -> P:
    """The mean of every field of `kind` over counters that have fields of the same names.

    A text is that of the first. A figure that some counters lack is the mean of the others; None
    where none has it. `count` is by how many a sum is divided, where counters of nothing are left
    out of `counted`.
    """
    return convert(
        {
            key: _mean([getattr(one, name) for one in counted], count)
            for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
        },
        kind,
    )


def _mean(values: Sequence[str | float | None], count: int | None) -> str | float | None:
    if isinstance(values[0], str):
        return values[0]
    known = [value for value in values if value is not None and not isinstance(value, str)]
    return sum(known) / (count or len(known)) if known else None
