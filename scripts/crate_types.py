"""Python's types of plans and outcomes, from those of Rust: `python scripts/crate_types.py`.

The crates `plan` and `outcome` print the JSON Schemas of their types, which are kept beside the
Python types that are made of them. A member that may be left out has its default where it is
absent, or is None.
"""

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PRINTS_SCHEMA = ("cargo", "run", "--quiet", "--features", "schema", "--example", "schema")
LIMIT_S = 1200
WIDTH = 100
INDENT = "    "
CONFIG = (
    "Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False"
)
"""Of each type: what is absent is not written, and they have no cycles that the garbage collector
would have to find.
"""
UNSIGNED = {"uint8": (8, 8), "uint16": (16, 16), "uint32": (32, 32), "uint64": (64, 63)}
"""By format of a whole number that is never negative, the bits of its type in Rust, and those that
are read: msgspec compares no more than 63, and no count and no time has more.
"""
SIMPLE = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}
RAW = re.compile(r'"(#/\$defs/)?Raw(?=[A-Z])')
"""Before the names of types of Rust, where those of the same name hold what was made of them."""

Schema = dict[str, Any]


@dataclass(frozen=True)
class Package:
    """A crate whose types have a package in Python."""

    crate: str
    about: str

    @property
    def types(self) -> Path:
        """The Python types."""
        return ROOT / "python" / "tailrace" / self.crate / "types.py"

    @property
    def schema(self) -> Path:
        """The schema that they are made of."""
        return self.types.with_name(f"{self.crate}.schema.json")

    def printed_schema(self) -> str:
        """The schema of the types of Rust, as they stand now."""
        # A build folder of its own: no other build is done again because of the feature.
        where = ["-p", f"tailrace-{self.crate}", "--target-dir", str(ROOT / "target" / "schema")]
        command = [*PRINTS_SCHEMA, *where]
        done = subprocess.run(
            command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S
        )
        return RAW.sub(r'"\1', done.stdout)

    def render(self, schema: Schema) -> str:
        """The types of a schema as a module, each after those of its members."""
        types = opened(schema["$defs"] | {schema["title"]: schema})
        lines = [line for name in ordered(types) for line in declared(name, types[name])]
        return "\n".join([self._head("\n".join(lines)), *lines])

    def _head(self, text: str) -> str:
        told = (
            f'"""{self.about}, written by `scripts/crate_types.py` from the crate '
            f'`{self.crate}`."""'
        )
        whole = [line for line in unsigned() if re.search(rf"\b{line.split()[0]}\b", text)]
        typing = [
            name
            for name in ("Annotated", "Any", "Literal")
            if re.search(rf"\b{name}\b", text + "".join(whole))
        ]
        msgspec = [
            *(["Meta"] if whole else []),
            "Struct",
            *(["field"] if " = field(" in text else []),
        ]
        imports = (
            f"from typing import {', '.join(typing)}",
            f"from msgspec import {', '.join(msgspec)}",
        )
        return "\n\n".join([told, *imports, *(["\n".join(whole)] if whole else [])]) + "\n"


PACKAGES = (
    Package("outcome", "The outcome of a trial as types"),
    Package("plan", "The plan of a trial as types"),
)


def main() -> int:
    """Write the schemas and the types."""
    for package in PACKAGES:
        schema = package.printed_schema()
        package.schema.write_text(schema, encoding="utf-8")
        package.types.write_text(package.render(json.loads(schema)), encoding="utf-8")
    return 0


def unsigned() -> list[str]:
    """The lines that define whole numbers that are never negative."""
    return [
        f"U{bits} = Annotated[int, Meta(ge=0, le=2**{read} - 1)]"
        for bits, read in UNSIGNED.values()
    ]


def opened(types: dict[str, Schema]) -> dict[str, Schema]:
    """The same, in which a value under the name of its kind is of a type with a member for each
    kind, and the parts of a kind are of a type too. A kind without parts is its name alone.
    """
    found: dict[str, Schema] = {}
    for name, schema in types.items():
        kinds = [one for one in schema.get("oneOf", []) if "properties" in one]
        if not kinds:
            found[name] = schema
            continue
        plain = [one for one in schema["oneOf"] if "properties" not in one]
        own = f"{name}ByKind" if plain else name
        members = {}
        for kind in kinds:
            [(key, value)] = kind["properties"].items()
            if "properties" in value:
                part = name + "".join(word.capitalize() for word in key.split("-"))
                found[part] = value | {"description": kind["description"]}
                value = {"$ref": f"#/$defs/{part}"}
            members[key] = {"description": kind["description"]} | value
        found[own] = {
            "description": f"{schema['description']} One member is there.",
            "properties": members,
        }
        if plain:
            either = [{"oneOf": plain}, {"$ref": f"#/$defs/{own}"}]
            found[name] = {"description": schema["description"], "anyOf": either}
    return found


def ordered(types: dict[str, Schema]) -> list[str]:
    """Names of types, each after those that it has members of; one that has members of itself is no
    obstacle."""
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
    line = f"class {name}({CONFIG}):"
    yield from [line] if len(line) <= WIDTH else [f"class {name}(", INDENT + CONFIG, "):"]
    yield from docstring(schema["description"], INDENT)
    yield ""
    required = schema.get("required", [])
    for key, member in schema["properties"].items():
        has_value = key in required or member.get("default") is not None
        told = annotation(member) if has_value else or_none(annotation(member))
        # Of its own type: it is not there yet.
        told = f'"{told}"' if name in references(member) else told
        yield (
            f"{INDENT}{identifier(key)}: {told}{value_of(key, member, is_required=key in required)}"
        )
        yield from docstring(member.get("description", ""), INDENT)
    yield ""


def identifier(key: str) -> str:
    """The name of a member in Python."""
    return key.replace("-", "_") + "_" * iskeyword(key)


def value_of(key: str, member: Schema, *, is_required: bool) -> str:
    """The default of a member, and its key where that is no name."""
    parts = {} if identifier(key) == key else {"name": json.dumps(key)}
    if not is_required:
        parts["default"] = repr(member.get("default"))
    if "name" in parts:
        return f" = field({', '.join(f'{name}={value}' for name, value in parts.items())})"
    return f" = {parts['default']}" if parts else ""


def annotation(schema: Schema) -> str:
    """The Python type of a value."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if choices := schema.get("oneOf"):
        return f"Literal[{', '.join(json.dumps(choice['const']) for choice in choices)}]"
    if choices := schema.get("anyOf"):
        return either(choices)
    if "type" not in schema:
        return "Any"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " | ".join(of_kind(kind, schema) for kind in kinds)


def either(choices: list[Schema]) -> str:
    """One of several. Lists are one list of either."""
    if all(choice.get("type") == "array" for choice in choices):
        return (
            f"list[{' | '.join(dict.fromkeys(annotation(choice['items']) for choice in choices))}]"
        )
    return " | ".join(annotation(choice) for choice in choices)


def of_kind(kind: str, schema: Schema) -> str:
    """A value of one of JSON's kinds."""
    if kind == "object":
        values = schema["additionalProperties"]
        return f"dict[str, {'Any' if values is True else annotation(values)}]"
    if kind == "integer" and schema.get("format") in UNSIGNED:
        return f"U{UNSIGNED[schema['format']][0]}"
    if kind != "array":
        return SIMPLE[kind]
    if "prefixItems" in schema:
        return f"tuple[{', '.join(annotation(item) for item in schema['prefixItems'])}]"
    return f"list[{annotation(schema['items'])}]"


def or_none(told: str) -> str:
    """The type of a member that may be absent."""
    return told if told == "Any" or told.endswith("| None") else f"{told} | None"


def docstring(text: str, indent: str) -> Iterator[str]:
    """A description below what it describes, in lines that are no longer than others."""
    words = f'"""{" ".join(text.split())}"""'
    if len(indent) + len(words) <= WIDTH:
        yield indent + words
        return
    # With room for the quotation marks: text that fits one line without them would be drawn
    # together by the formatter.
    lines = textwrap.wrap(
        words.removesuffix('"""'), WIDTH - len(indent) - len('"""'), break_on_hyphens=False
    )
    yield from (indent + line for line in [*lines, '"""'])


if __name__ == "__main__":
    sys.exit(main())
