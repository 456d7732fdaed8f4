"""Python's types of outcomes, from those of Rust: `python scripts/outcome_types.py`.

The crate `outcome` prints the JSON Schema of its types, which is kept beside the Python types that are made of it. A
member that an engine may leave out is None where it is absent.
"""

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "tailrace" / "outcome"
SCHEMA = PACKAGE / "outcome.schema.json"
TYPES = PACKAGE / "types.py"
PRINTS_SCHEMA = ("cargo", "run", "--quiet", "-p", "tailrace-outcome", "--features", "schema", "--example", "schema")
LIMIT_S = 1200
WIDTH = 120
INDENT = "    "
CONFIG = "Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False"
"""Of each type: what is absent is not written, and outcomes have no cycles that the garbage collector would have to
find.
"""
HEAD = '''"""The outcome of a trial as types, written by `scripts/outcome_types.py`: those of the crate `outcome`."""

from typing import Literal

from msgspec import Struct
'''
SIMPLE = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}

Schema = dict[str, Any]


def main() -> int:
    """Write the schema and the types."""
    schema = printed_schema()
    SCHEMA.write_text(schema, encoding="utf-8")
    TYPES.write_text(render(json.loads(schema)), encoding="utf-8")
    return 0


def printed_schema() -> str:
    """The schema of the types of Rust, as they stand now."""
    # A build folder of its own: no other build is done again because of the feature.
    command = [*PRINTS_SCHEMA, "--target-dir", str(ROOT / "target" / "schema")]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S).stdout


def render(schema: Schema) -> str:
    """The types of a schema as a module, each after those of its members."""
    types = schema["$defs"] | {schema["title"]: schema}
    return "\n".join([HEAD, *(line for name in ordered(types) for line in declared(name, types[name]))])


def ordered(types: dict[str, Schema]) -> list[str]:
    """Names of types, each after those that it has members of; one that has members of itself is no obstacle."""
    done: list[str] = []

    def visit(name: str) -> None:
        for used in references(types[name]):
            if used not in done and used != name:
                visit(used)
        if name not in done:
            done.append(name)

    for name in sorted(types):
        visit(name)
    return done


def references(schema: Any) -> Iterator[str]:
    """Names of the types that a type has members of."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            yield schema["$ref"].rpartition("/")[2]
        for key in sorted(schema.keys() - {"$defs"}):
            yield from references(schema[key])
    elif isinstance(schema, list):
        for item in schema:
            yield from references(item)


def declared(name: str, schema: Schema) -> Iterator[str]:
    """The lines of a type."""
    yield ""
    if "properties" not in schema:
        yield f"{name} = {annotation(schema)}"
        yield from docstring(schema["description"], "")
        yield ""
        return
    yield f"class {name}({CONFIG}):"
    yield from docstring(schema["description"], INDENT)
    yield ""
    required = schema.get("required", [])
    for key, member in schema["properties"].items():
        told = annotation(member) if key in required else or_none(annotation(member))
        # Of its own type: it is not there yet.
        told = f'"{told}"' if name in references(member) else told
        yield f"{INDENT}{key}: {told}" + ("" if key in required else " = None")
        yield from docstring(member.get("description", ""), INDENT)
    yield ""


def annotation(schema: Schema) -> str:
    """The Python type of a value."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if choices := schema.get("oneOf"):
        return f"Literal[{', '.join(json.dumps(choice['const']) for choice in choices)}]"
    if choices := schema.get("anyOf"):
        return either(choices)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " | ".join(of_kind(kind, schema) for kind in kinds)


def either(choices: list[Schema]) -> str:
    """One of several. Lists are one list of either."""
    if all(choice.get("type") == "array" for choice in choices):
        return f"list[{' | '.join(dict.fromkeys(annotation(choice['items']) for choice in choices))}]"
    return " | ".join(annotation(choice) for choice in choices)


def of_kind(kind: str, schema: Schema) -> str:
    """A value of one of JSON's kinds."""
    if kind == "object":
        return f"dict[str, {annotation(schema['additionalProperties'])}]"
    if kind != "array":
        return SIMPLE[kind]
    if "prefixItems" in schema:
        return f"tuple[{', '.join(annotation(item) for item in schema['prefixItems'])}]"
    return f"list[{annotation(schema['items'])}]"


def or_none(told: str) -> str:
    """The type of a member that may be absent."""
    return told if told.endswith("| None") else f"{told} | None"


def docstring(text: str, indent: str) -> Iterator[str]:
    """A description below what it describes, in lines that are no longer than others."""
    words = f'"""{" ".join(text.split())}"""'
    if len(indent) + len(words) <= WIDTH:
        yield indent + words
        return
    # With room for the quotation marks: text that fits one line without them would be drawn together by the formatter.
    lines = textwrap.wrap(words.removesuffix('"""'), WIDTH - len(indent) - len('"""'), break_on_hyphens=False)
    yield from (indent + line for line in [*lines, '"""'])


if __name__ == "__main__":
    sys.exit(main())
