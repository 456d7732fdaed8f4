"""Where requests of storage begin: `sequential`, `random`, `{random: 60}` or `{zipf: 1.1}`."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from tailrace.scenario.text.quantities import refuse
from tailrace.scenario.text.units import shown

PPB_PER_PERCENT = 10**7
THETA_MAX = 10.0
HINT = "write sequential, random, {random: 60} in percent, or {zipf: 1.1}"


@dataclass(frozen=True)
class Access:
    """Where requests begin, as it stands in a plan."""

    raw: Any


def _read(value: object) -> Access:
    match value:
        case Access():
            return value
        case "sequential":
            return Access("sequential")
        case "random":
            return Access({"random": 100 * PPB_PER_PERCENT})
        case {"random": int() | float() as share, **rest} if not rest and not isinstance(
            share, bool
        ):
            if not 0 <= share <= 100:
                raise refuse(f"{share} is no share in percent", "write random: 0 to 100")
            return Access({"random": round(share * PPB_PER_PERCENT)})
        case {"zipf": int() | float() as theta, **rest} if not rest and not isinstance(theta, bool):
            if not 0.001 <= theta <= THETA_MAX:
                raise refuse(
                    f"{theta} is no exponent of Zipf's law here", "write zipf: 0.001 to 10"
                )
            return Access({"zipf": round(theta * 1000)})
        case dict():
            raise refuse("the access is not one that is known", HINT)
        case _:
            raise refuse(f"{shown(value)} is no access", HINT)


def _keyed(key: str, most: float) -> dict[str, Any]:
    number = {"type": "number", "minimum": 0, "maximum": most}
    return {
        "type": "object",
        "properties": {key: number},
        "required": [key],
        "additionalProperties": False,
    }


AccessPattern = Annotated[
    Access,
    BeforeValidator(_read),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "enum": ["sequential", "random"]},
                _keyed("random", 100),
                _keyed("zipf", THETA_MAX),
            ],
            "examples": ["random"],
        },
    ),
]
"""Where requests begin."""
