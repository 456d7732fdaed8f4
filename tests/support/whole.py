"""Outcomes and plans of which a test states a part: what is left out is nothing, in the types of
the schema."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from msgspec import convert

from sealing import seal
from tailrace.files import read_json
from tailrace.outcome import types
from tailrace.outcome.run_files import TRIALS, RunFiles, TrialFiles
from tailrace.outcome.stored import FORMAT, Status, StoredTrial, stored_bytes
from tailrace.outcome.types import Outcome
from tailrace.plan.types import Plan
from tailrace.results.directory.run_directory import Trial
from tailrace.scenario.experiment import trial_seed

Kind = TypeVar("Kind")
Schemas = Mapping[str, Any]
"""By name of the type."""
NO_FILES = TrialFiles(RunFiles(Path("/nonexistent")), TRIALS, "1")
"""Those of a trial that is in no run directory."""
ZEROS: dict[str, Any] = {
    "integer": 0,
    "number": 0.0,
    "string": "",
    "boolean": False,
    "array": [],
    "object": {},
}


def trial(
    arm: str = "fifo", number: int = 1, status: Status = "ok", reason: str = "", **parts: Any
) -> Trial:
    """A trial whose outcome has these parts, and nothing of all others."""
    return Trial(arm, number, status, reason, part(Outcome, **parts), NO_FILES)


def files_in(folder: Path, number: int = 1) -> TrialFiles:
    """Those of a trial in a folder without a manifest, which is made."""
    (folder / TRIALS).mkdir(parents=True, exist_ok=True)
    return TrialFiles(RunFiles(folder), TRIALS, str(number))


def stored(
    path: Path,
    arm: str,
    number: int,
    parts: dict[str, Any] | None,
    *,
    plan_hash: str = "",
    **head: Any,
) -> StoredTrial:
    """A trial that is written to a run directory, of a run with the seed 0; without parts it has
    failed."""
    told = (
        None
        if parts is None
        else part(Outcome, **({"seed": trial_seed(0, number), "end_ps": 1} | parts))
    )
    status = "failed" if parts is None else "ok"
    made = StoredTrial(
        format=FORMAT,
        arm=arm,
        trial=number,
        plan_hash=plan_hash,
        **{"status": status} | head,
        outcome=told,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(stored_bytes(made))
    seal(path)
    return made


def part(kind: type[Kind], /, **parts: Any) -> Kind:
    """An outcome, a plan, or another type of their schemas, that has these parts and nothing of all
    others."""
    return convert(_whole(parts, kind), kind)


def whole(parts: dict[str, Any], name: str = "Outcome") -> dict[str, Any]:
    """These parts of a type of outcomes, with the zeros of what it has to have besides."""
    return _whole(parts, getattr(types, name))


def whole_plan(**parts: Any) -> dict[str, Any]:
    """A plan that has these parts and nothing of all others, as its file has it."""
    return _whole(parts, Plan)


def _whole(parts: dict[str, Any], kind: type) -> dict[str, Any]:
    schemas = _schemas(kind.__module__)
    made: dict[str, Any] = _filled(parts, schemas[kind.__name__], schemas)
    return made


@cache
def _schemas(module: str) -> Schemas:
    package = module.split(".")[-2]
    schema = read_json(
        Path(str(import_module(module).__file__)).with_name(f"{package}.schema.json")
    )
    return {schema["title"]: schema, **schema["$defs"]}


def _filled(value: Any, schema: Any, schemas: Schemas) -> Any:
    if "$ref" in schema:
        return _filled(value, _named(schema, schemas), schemas)
    if "anyOf" in schema:
        own = next(one for one in schema["anyOf"] if one.get("type") != "null")
        return None if value is None else _filled(value, own, schemas)
    if "oneOf" in schema and isinstance(value, dict):
        kind = next(
            one for one in schema["oneOf"] if one.get("properties", {}).keys() == value.keys()
        )
        return _filled(value, kind, schemas)
    if isinstance(value, dict) and "properties" in schema:
        missing = {
            key: _zero(schema["properties"][key], schemas)
            for key in schema.get("required", [])
            if key not in value
        }
        known = {
            key: _filled(own, schema["properties"].get(key, {}), schemas)
            for key, own in value.items()
        }
        return missing | known
    if isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
        return {
            key: _filled(own, schema["additionalProperties"], schemas) for key, own in value.items()
        }
    if isinstance(value, list) and "items" in schema:
        return [_filled(own, schema["items"], schemas) for own in value]
    return value


def _named(schema: Any, schemas: Schemas) -> Any:
    return schemas[schema["$ref"].rpartition("/")[2]]


def _zero(schema: Any, schemas: Schemas) -> Any:
    if "$ref" in schema:
        schema = _named(schema, schemas)
    if "anyOf" in schema:
        return None
    if "oneOf" in schema:
        first = schema["oneOf"][0]
        return first["const"] if "const" in first else _zero(first, schemas)
    if "properties" in schema:
        return {
            key: _zero(schema["properties"][key], schemas) for key in schema.get("required", [])
        }
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return None if "null" in kinds else ZEROS[kinds[0]]
