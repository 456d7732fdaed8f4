"""Values in the notation of a scenario file."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, WithJsonSchema
from pydantic.fields import FieldInfo

from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.schema import quantity_text
from tailrace.scenario.text.quantities import UNIT_KEY
from tailrace.scenario.text.units import FRAMES, OFFSET, RATE, SHARE, SIZE, TIME, Dimension

DIMENSIONS = {dimension.noun: dimension for dimension in (TIME, SIZE, RATE, SHARE, OFFSET, FRAMES)}


def words_of(value: object, field: FieldInfo | None = None) -> str:
    """A value in the notation of a scenario file; `field` gives the unit of a number."""
    if value is None or value == []:
        return "nothing"
    if isinstance(value, Limit):
        return limit_words(value)
    if isinstance(value, BaseModel):
        return _part(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {words_of(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple):  # a range of ports
        first, last = value
        return str(first) if first == last else f"{first}-{last}"
    if isinstance(value, list):
        return "[" + ", ".join(words_of(one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    dimension = _dimension(field) if field is not None else None
    return (
        quantity_text(value, dimension)
        if isinstance(value, int) and dimension is not None
        else str(value)
    )


def limit_words(limit: Limit) -> str:
    """`500kB`, `100 frames`, `dynamic(8)`."""
    if limit.unit == "alpha-milli":
        return f"dynamic({limit.amount / 1000:g})"
    return quantity_text(limit.amount, FRAMES if limit.unit == "frames" else SIZE)


def _part(part: BaseModel) -> str:
    """The values of a part that differ from their defaults."""
    said = {}
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        if name == "kind" or value != field.get_default(call_default_factory=True):
            said[field.alias or name] = words_of(value, field)
    return "{" + ", ".join(f"{key}: {value}" for key, value in said.items()) + "}"


def _dimension(field: FieldInfo) -> Dimension | None:
    for marks in (field.metadata, *_metadata(field.annotation)):
        for mark in marks:
            if isinstance(mark, WithJsonSchema) and mark.json_schema is not None:
                noun = mark.json_schema.get(UNIT_KEY)
                if noun in DIMENSIONS:
                    return DIMENSIONS[noun]
    return None


def _metadata(annotation: Any) -> Iterator[tuple[Any, ...]]:
    """Metadata inside of `Rate | None`."""
    if get_origin(annotation) is Annotated:
        yield annotation.__metadata__
    for inner in get_args(annotation):
        yield from _metadata(inner)
