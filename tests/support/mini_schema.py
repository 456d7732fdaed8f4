"""As much of JSON Schema as scenario files need: enough to see that an editor would accept what the
program accepts."""

import re
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str = "") -> list[str]:
    """Places where `value` breaks `schema`; none when it is valid."""
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, path)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            tried = [faults(value, choice, root, path) for choice in schema[key]]
            return [] if any(not found for found in tried) else min(tried, key=len)
    return [
        *_plain(value, schema, path),
        *_object(value, schema, root, path),
        *_array(value, schema, root, path),
    ]


def _plain(value: Any, schema: dict[str, Any], path: str) -> list[str]:
    found = []
    if "type" in schema and not isinstance(value, TYPES[schema["type"]]):
        found.append(f"{path}: {value!r} is no {schema['type']}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        found.append(f"{path}: {value!r} does not match {schema['pattern']}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{path}: {value!r} is none of {schema['enum']}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{path}: {value!r} is not {schema['const']}")
    if "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        found.append(f"{path}: {value!r} is below {schema['minimum']}")
    return found


def _object(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    if not isinstance(value, dict):
        return []
    known = schema.get("properties", {})
    extra = schema.get("additionalProperties", True)
    patterns = schema.get("patternProperties", {})
    found = [f"{path}: {key} is missing" for key in schema.get("required", []) if key not in value]
    for key, item in value.items():
        part = known.get(
            key, next((part for like, part in patterns.items() if re.search(like, str(key))), extra)
        )
        if part is False:
            found.append(f"{path}.{key}: no such key")
        elif isinstance(part, dict):
            found += faults(item, part, root, f"{path}.{key}")
    return found


def _array(value: Any, schema: dict[str, Any], root: dict[str, Any], path: str) -> list[str]:
    if not isinstance(value, list):
        return []
    items = schema.get("items", {})
    return [
        fault for i, item in enumerate(value) for fault in faults(item, items, root, f"{path}.{i}")
    ]
