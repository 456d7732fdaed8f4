"""Outcomes of which a test states a part: what is left out is nothing, in the types of the schema."""

from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec import convert

from tailrace.files import read_json
from tailrace.outcome import types
from tailrace.outcome.stored import FORMAT, Status, StoredTrial, write_stored
from tailrace.outcome.types import Outcome
from tailrace.results.directory.run_directory import Trial

Kind = TypeVar("Kind")
SCHEMA = Path(types.__file__).with_name("outcome.schema.json")
ZEROS: dict[str, Any] = {"integer": 0, "number": 0.0, "string": "", "boolean": False, "array": [], "object": {}}


def trial(arm: str = "fifo", number: int = 1, status: Status = "ok", reason: str = "", **parts: Any) -> Trial:
    """A trial whose outcome has these parts, and nothing of all others."""
    return Trial(arm, number, status, reason, part(Outcome, **parts), Path())


def stored(
    path: Path, arm: str, number: int, parts: dict[str, Any] | None, *, plan_hash: str = "", **head: Any
) -> StoredTrial:
    """A trial that is written to a run directory; without parts it has failed."""
    told = None if parts is None else part(Outcome, **parts)
    status = "failed" if parts is None else "ok"
    made = StoredTrial(
        format=FORMAT, arm=arm, trial=number, plan_hash=plan_hash, **{"status": status} | head, outcome=told
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_stored(path, made)
    return made


def part(kind: type[Kind], /, **parts: Any) -> Kind:
    """An outcome, or another type of the schema, that has these parts and nothing of all others."""
    return convert(whole(parts, kind.__name__), kind)


def whole(parts: dict[str, Any], name: str = "Outcome") -> dict[str, Any]:
    """These parts of a type of the schema, with the zeros of what it has to have besides."""
    made: dict[str, Any] = _filled(parts, _schema() if name == "Outcome" else _schema()["$defs"][name])
    return made


@cache
def _schema() -> Any:
    return read_json(SCHEMA)


def _filled(value: Any, schema: Any) -> Any:
    if "$ref" in schema:
        return _filled(value, _schema()["$defs"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return (
            None if value is None else _filled(value, next(one for one in schema["anyOf"] if one.get("type") != "null"))
        )
    if isinstance(value, dict) and "properties" in schema:
        missing = {key: _zero(schema["properties"][key]) for key in schema.get("required", []) if key not in value}
        known = {key: _filled(own, schema["properties"].get(key, {})) for key, own in value.items()}
        return missing | known
    if isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        return {key: _filled(own, schema["additionalProperties"]) for key, own in value.items()}
    if isinstance(value, list) and "items" in schema:
        return [_filled(own, schema["items"]) for own in value]
    return value


def _zero(schema: Any) -> Any:
    if "$ref" in schema:
        schema = _schema()["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return None
    if "oneOf" in schema:
        return schema["oneOf"][0]["const"]
    if "properties" in schema:
        return {key: _zero(schema["properties"][key]) for key in schema.get("required", [])}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return None if "null" in kinds else ZEROS[kinds[0]]
