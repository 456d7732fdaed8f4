"""The JSON Schema of scenario files, generated from the types that parse them."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from tailrace.scenario.network.host import SocketBuffer
from tailrace.scenario.policies.limit import Limit
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.distribution import Distribution
from tailrace.scenario.text.quantities import UNIT_KEY
from tailrace.scenario.text.units import DIMENSIONS, SIZE, Dimension

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) for completion and checks in editors. Defaults are in the notation of
    scenario files."""
    schema = Scenario.model_json_schema(schema_generator=_Generator)
    for part in (schema, *schema["$defs"].values()):
        for spec in part.get("properties", {}).values():
            _write_default(spec)
            if "description" not in spec and "$ref" in spec:
                # The generator omits the description of the referenced part; a reader of one entry
                # should see it here.
                spec["description"] = schema["$defs"][spec["$ref"].rsplit("/", 1)[1]]["description"]
    return {"$schema": SCHEMA_ID, **schema, "title": "tailrace scenario"}


def quantity_text(value: int, dimension: Dimension) -> str:
    """A quantity in the notation of a scenario file, exact, in the largest unit of which it is a
    whole number."""
    if value == 0:
        return "0" + dimension.likely[0]
    name, size = min(dimension.suffixes.items(), key=lambda pair: pair[1])
    if Fraction(value) % size:  # half a percent
        digits = f"{Decimal(value) / Decimal(size.numerator) * Decimal(size.denominator):f}"
        return f"{digits.rstrip('0')}{name}"
    whole = [
        (size, name) for name, size in dimension.suffixes.items() if Fraction(value) % size == 0
    ]
    size, name = max(whole, key=lambda pair: (pair[0], len(pair[1])))
    return f"{value // size}{' ' if name.startswith('frame') else ''}{name}"


class _Generator(GenerateJsonSchema):
    def encode_default(self, dft: Any) -> Any:
        if isinstance(dft, Distribution):
            return dft.text
        if isinstance(dft, Limit):
            return (
                f"dynamic({dft.amount / 1000:g})" if dft.unit == "alpha-milli" else f"{dft.amount}B"
            )
        if isinstance(dft, SocketBuffer):
            return {"maximum": quantity_text(dft.maximum, SIZE)}
        return super().encode_default(dft)


def _write_default(spec: dict[str, Any]) -> None:
    default, unit = spec.get("default"), spec.get(UNIT_KEY)
    if isinstance(default, int) and unit in DIMENSIONS:
        spec["default"] = quantity_text(default, DIMENSIONS[unit])
    elif isinstance(default, dict) and "$ref" in spec:
        # The default of a part consists of its keys' defaults, which are described there.
        del spec["default"]
