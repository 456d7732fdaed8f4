"""Units and distributions as pydantic types; in JSON Schema they are strings with a pattern."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, PydanticCustomError

from tailrace.scenario.text import flow_sizes, units
from tailrace.scenario.text.distribution import Distribution, parse_distribution
from tailrace.scenario.text.docstrings import keys_described

NAME_CHARACTERS_MAX = 64
"""Longest name; with a hash and a suffix it is still a valid file name everywhere."""
NAME_PATTERN = rf"^[A-Za-z0-9][A-Za-z0-9_-]{{0,{NAME_CHARACTERS_MAX - 1}}}$"
"""Names of hosts, switches, workloads and arms: file names, words of commands, parts of dotted
paths."""
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""pydantic's patterns are those of Rust, where `$` is the end of the text and not also before its
last newline."""

UNIT_KEY = "x-unit"
"""In JSON Schema: the kind of quantity that a patterned string holds."""


class Part(BaseModel):
    """Base of every part of a scenario: unknown keys are errors, values do not change, docstrings
    describe the keys."""

    # A command uses some parts of many: their validators are built when they are first used.
    model_config = ConfigDict(
        extra="forbid", frozen=True, defer_build=True, arbitrary_types_allowed=True
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        reference = handler(core_schema)
        properties = handler.resolve_ref_schema(reference).get("properties", {})
        described = keys_described(cls)
        for name, field in cls.model_fields.items():
            if name in described:
                properties[field.alias or name].setdefault("description", described[name])
        return reference


P = TypeVar("P", bound=Part)


def merged(below: P, above: P) -> P:
    """`below` with every value that `above` states, merged part by part."""
    update: dict[str, Any] = {}
    for name in above.model_fields_set:
        low, high = getattr(below, name), getattr(above, name)
        update[name] = (
            merged(low, high) if isinstance(high, Part) and type(low) is type(high) else high
        )
    return below.model_copy(update=update)


def kind_name(part: type[Part]) -> str:
    """The value of the key `kind` that distinguishes a part from its alternatives."""
    [name] = part.model_fields["kind"].annotation.__args__  # type: ignore[union-attr]  # a Literal of one name
    return str(name)


def refuse(what: str, hint: str = "") -> PydanticCustomError:
    """Makes an error with a hint, for validators."""
    return PydanticCustomError("scenario", "{what}", {"what": what, "hint": hint})


def _names_or(word: str, noun: str) -> Callable[[object], object]:
    """Makes a validator for a list of names, or one word for all of them."""

    def read(value: object) -> object:
        if value == word:
            return value
        if isinstance(value, str):
            raise refuse(f"'{value}' is not a list of {noun}s", f"write [{value}], or {word}")
        if not isinstance(value, list):
            raise refuse(
                f"{units.shown(value)} is not a list of {noun}s", f"write [a, b], or {word}"
            )
        for name in value:
            if not isinstance(name, str):
                raise refuse(f"{units.shown(name)} is not the name of a {noun}", "put it in quotes")
        return value

    return read


def _reader(dimension: units.Dimension) -> Callable[[object], int]:
    def read(value: object) -> int:
        try:
            return units.parse(value, dimension)
        except units.QuantityError as error:
            raise refuse(error.what, error.hint) from None

    return read


def _distribution_reader(dimension: units.Dimension) -> Callable[[object], Distribution]:
    def read(value: object) -> Distribution:
        try:
            return parse_distribution(value, dimension)
        except units.QuantityError as error:
            raise refuse(error.what, error.hint) from None

    return read


def _schema(dimension: units.Dimension) -> WithJsonSchema:
    return WithJsonSchema(
        {
            "type": "string",
            "pattern": dimension.pattern,
            "examples": list(dimension.examples),
            UNIT_KEY: dimension.noun,
        }
    )


def _distribution_schema(dimension: units.Dimension) -> WithJsonSchema:
    example = dimension.examples[0]
    shapes = r"^\s*(exponential|uniform|normal|lognormal|erlang|constant)\s*\(.+\)\s*$"
    text: list[dict[str, Any]] = [
        {"type": "string", "pattern": dimension.pattern},
        {"type": "string", "pattern": shapes},
    ]
    if dimension.noun == "size":
        text.append({"type": "string", "enum": sorted(flow_sizes.NAMED)})
    pair = {
        "type": "array",
        "prefixItems": [{"type": "string"}, {"type": "string"}],
        "minItems": 2,
        "maxItems": 2,
    }
    points = {"type": "array", "items": pair, "minItems": 1}
    cdf = {
        "type": "object",
        "properties": {"cdf": points},
        "required": ["cdf"],
        "additionalProperties": False,
    }
    return WithJsonSchema({"anyOf": [*text, cdf], "examples": [example, f"exponential({example})"]})


Time = Annotated[int, BeforeValidator(_reader(units.TIME)), _schema(units.TIME)]
"""Picoseconds."""
FineTime = Annotated[int, BeforeValidator(_reader(units.FINE_TIME)), _schema(units.FINE_TIME)]
"""Femtoseconds, for costs per byte."""
Size = Annotated[int, BeforeValidator(_reader(units.SIZE)), _schema(units.SIZE)]
"""Bytes."""
Rate = Annotated[int, BeforeValidator(_reader(units.RATE)), _schema(units.RATE)]
"""Bits per second."""
DataRate = Annotated[int, BeforeValidator(_reader(units.DATA_RATE)), _schema(units.DATA_RATE)]
"""Bytes per second."""
RequestRate = Annotated[
    int, BeforeValidator(_reader(units.REQUEST_RATE)), _schema(units.REQUEST_RATE)
]
"""Thousandths of a request per second."""
Offset = Annotated[int, BeforeValidator(_reader(units.OFFSET)), _schema(units.OFFSET)]
"""Parts per billion of a clock."""
Share = Annotated[int, BeforeValidator(_reader(units.SHARE)), _schema(units.SHARE)]
"""A share of a whole in parts per billion."""
Frequency = Annotated[int, BeforeValidator(_reader(units.FREQUENCY)), _schema(units.FREQUENCY)]
"""Hertz."""
Frames = Annotated[int, BeforeValidator(_reader(units.FRAMES)), _schema(units.FRAMES)]
"""A number of frames."""
TimeDistribution = Annotated[
    Distribution,
    BeforeValidator(_distribution_reader(units.TIME)),
    _distribution_schema(units.TIME),
]
SizeDistribution = Annotated[
    Distribution,
    BeforeValidator(_distribution_reader(units.SIZE)),
    _distribution_schema(units.SIZE),
]
HostNames = Annotated[list[str] | Literal["all"], BeforeValidator(_names_or("all", "host"))]
"""Hosts by name, or all of them."""
PortNames = Annotated[list[str] | Literal["auto"], BeforeValidator(_names_or("auto", "port"))]
"""Ports as `switch>neighbour`, or those where queues can form."""
Count = Annotated[int, Field(strict=True, ge=0, le=units.PLAN_INTEGER_MAX)]
"""A whole number, not negative."""


def _no_truth(value: object) -> object:
    if isinstance(value, bool):
        raise refuse(f"{str(value).lower()} is not a number", "write a number such as 20")
    return value


Percent = Annotated[float, Field(ge=0, le=100), BeforeValidator(_no_truth)]
"""A number from 0 to 100; true and false, which Python counts as 1 and 0, are none."""
SmallCount = Annotated[int, Field(strict=True, ge=0, le=units.PLAN_SMALL_MAX)]
"""A whole number that a plan stores in 32 bits."""


def within(
    dimension: units.Dimension, *, least: int = 0, most: int = units.PLAN_SMALL_MAX
) -> AfterValidator:
    """Bounds of a quantity, reported with its unit."""
    unit = next(likely for likely in dimension.likely if dimension.suffixes[likely.strip()] == 1)

    def bounded(value: int) -> int:
        if value < least:
            raise refuse(f"{value}{unit} is out of range", f"write at least {least}{unit}")
        if value > most:
            raise refuse(f"{value}{unit} is out of range", f"write at most {most}{unit}")
        return value

    return AfterValidator(bounded)


def refuse_unless(is_sound: Callable[[int], bool], what: str, hint: str) -> AfterValidator:
    """A condition of a quantity, with the message where it does not hold."""

    def checked(value: int) -> int:
        if not is_sound(value):
            raise refuse(what, hint)
        return value

    return AfterValidator(checked)


SmallSize = Annotated[Size, within(units.SIZE)]
"""Bytes that a plan stores in 32 bits."""
Memory = Annotated[
    Size,
    refuse_unless(lambda size: size > 0, "must be greater than zero", "write 16GB, or omit it"),
]
"""Bytes of memory that something has or needs."""
SmallFrames = Annotated[Frames, within(units.FRAMES)]
"""A number of frames that a plan stores in 32 bits."""


def stepped(step: int, most: int, what: str) -> tuple[BeforeValidator, WithJsonSchema]:
    """A whole number from 0 to `most` in steps, as IEEE 802.1Q has for priorities."""

    def read(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int):
            raise refuse(
                f"{value!r} is not a whole number", f"a {what} is 0 to {most} in steps of {step}"
            )
        if not 0 <= value <= most or value % step:
            near = min(max(round(value / step), 0), most // step) * step
            raise refuse(
                f"{value} is not a {what}", f"0 to {most} in steps of {step}, such as {near}"
            )
        return value

    schema = {"type": "integer", "minimum": 0, "maximum": most, "multipleOf": step}
    return BeforeValidator(read), WithJsonSchema(schema)
