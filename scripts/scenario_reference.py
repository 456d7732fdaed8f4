"""`docs/scenario-reference.md` from the JSON Schema of scenarios: every key, its type, default and
meaning."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from reference_snippets import SNIPPETS
from tailrace.scenario import vocabulary
from tailrace.scenario.policies.classify import DSCP_NAMES
from tailrace.scenario.text import units

Schema = dict[str, Any]

DIMENSIONS = (
    units.TIME,
    units.FINE_TIME,
    units.SIZE,
    units.RATE,
    units.OFFSET,
    units.SHARE,
    units.FRAMES,
    units.LENGTH,
)
DISTRIBUTION_WORD = "exponential|uniform"
"""Part of the pattern by which a distribution is recognised."""
LARGEST = 2**31 - 1
"""A maximum from here on is that of a number in the machine and says nothing to the author of a
scenario."""

INTRODUCTION = """# Scenario reference

Every key of a scenario file. Written by `make docs` from the JSON Schema that `tailrace schema` prints; an editor that
is given that schema completes and checks these keys while you type. `tailrace check FILE` says what is wrong in a file,
with line, key and a hint.

A key without a default is required. Below each table, every key is written once: a real section has those that it
needs, and some exclude each other. Unknown keys are errors. `[K]` marks a default whose source was not at hand: it is
a usual value, to be varied where a conclusion depends on it; the pages of the [models](models/README.md) give ranges.
"""  # noqa: E501


def render(schema: Schema) -> str:
    """The whole page."""
    definitions: dict[str, Schema] = schema["$defs"]
    sections = [
        INTRODUCTION,
        quantities(),
        code_points(),
        section("Scenario", schema, "The file itself."),
    ]
    sections += [section(name, definitions[name], "") for name in reading_order(schema)]
    sections.append(metrics())
    return "\n".join(sections)


def quantities() -> str:
    """The units, from the table that the parser uses."""
    lines = [
        "## Quantities",
        "",
        "A value that has a unit is written with it. A bare number where a unit is needed is "
        "an error, and so is a",
        "value that is not a whole number of the smallest unit.",
        "",
        "| Quantity | Units | Examples |",
        "|---|---|---|",
    ]
    for dimension in DIMENSIONS:
        if dimension is not units.FINE_TIME:
            suffixes = ", ".join(f"`{suffix}`" for suffix in dimension.suffixes)
            examples = ", ".join(f"`{example}`" for example in dimension.examples)
            lines.append(f"| {dimension.noun} | {suffixes} | {examples} |")
    lines += [
        "",
        "A *cost per byte* is a time that may also be given in `fs`. A *distribution* is one "
        "quantity (always that",
        "value) or `exponential(8ms)`, `uniform(1ms, 2ms)`, `normal(8ms, 1ms)`, "
        "`lognormal(8ms, 0.5)`,",
        "`erlang(8ms, 4)`; sizes may also be a named distribution or points, `{cdf: [[1kB, "
        "15%], [10kB, 100%]]}`.",
        "Parameters may be named: the two of `normal` are `mean` and `deviation`, those of "
        "`lognormal` the `median` of the values",
        "and `sigma`, the deviation of their natural logarithm; `lognormal(mean=8ms, p99=30ms)` "
        "has a mean in place of the median,",
        "and the 99th percentile in place of sigma.",
        "",
    ]
    return "\n".join(lines)


def code_points() -> str:
    """The names of DSCP, once for all keys that take them."""
    names = ", ".join(
        f"`{name}` {number}"
        for name, number in sorted(DSCP_NAMES.items(), key=lambda pair: pair[1])
    )
    return f"## Code points\n\nA code point (DSCP) is a number from 0 to 63 or a name: {names}.\n"


def metrics() -> str:
    """What an expectation can be about, from the table that checks it."""
    lines = [
        "## Metrics",
        "",
        "What `metric` of an expectation may be. A key in bold is needed (`workload` only "
        "where there are several);",
        "the others narrow the figure down, and without them it is that of the whole network. "
        "Every figure is of one",
        "arm, the first where `arm` is left out. With `after`, what was recorded from that "
        "time on counts.",
        "",
        "| Metric | Keys | Meaning |",
        "|---|---|---|",
    ]
    for metric in vocabulary.METRICS.values():
        keys = [f"**`{key}`**" for key in metric.needs] + [f"`{key}`" for key in metric.takes]
        lines.append(f"| `{metric.name}` | {', '.join(keys) or '–'} | {cell(metric.meaning)} |")
    causes = ", ".join(f"`{cause}`" for cause in vocabulary.DROP_CAUSES)
    return "\n".join([*lines, "", f"Causes of drops: {causes}.", ""])


def reading_order(schema: Schema) -> list[str]:
    """The definitions in the order in which a reader of the file meets them."""
    order: list[str] = []
    waiting = list(references(schema.get("properties", {})))
    while waiting:
        name = waiting.pop(0)
        if name not in order:
            order.append(name)
            waiting = list(references(schema["$defs"][name])) + waiting
    return order


def references(value: object) -> Iterator[str]:
    """Names of the definitions that a piece of schema refers to, in order."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"].rsplit("/", 1)[-1]
        for key, inner in value.items():
            if key != "discriminator":
                yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def section(name: str, definition: Schema, text: str) -> str:
    """One part of the file as a table of its keys."""
    lines = [f"## {name}", "", one_line(text or definition.get("description", "")), ""]
    if properties := definition.get("properties"):
        required = set(definition.get("required", ()))
        lines += ["| Key | Value | Default | Meaning |", "|---|---|---|---|"]
        for key, value in properties.items():
            default = "required" if key in required else default_of(value)
            lines.append(
                f"| `{key}` | {kind(value)} | {default} | {cell(value.get('description', ''))} |"
            )
        lines.append("")
    if name in SNIPPETS:
        lines += snippet(*SNIPPETS[name])
    return "\n".join(lines)


def snippet(place: str, text: str) -> list[str]:
    """How each key is written."""
    return [f"Each key once, in `{place}`:", "", "```yaml", *text.splitlines(), "```", ""]


def kind(schema: Schema) -> str:
    """What may stand as the value, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{literal(schema['const'])}`"
    if set(DSCP_NAMES) <= set(schema.get("enum", ())):
        return "[code point](#code-points)"
    if "enum" in schema:
        return ", ".join(f"`{literal(choice)}`" for choice in schema["enum"])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return kind_of_choices(choices)
    return kind_by_type(schema)


def kind_of_choices(choices: list[Schema]) -> str:
    """Alternatives; null is what a key that is left out means."""
    if any(DISTRIBUTION_WORD in choice.get("pattern", "") for choice in choices):
        named = [name for choice in choices for name in choice.get("enum", ())]
        words = f"distribution of {kind(choices[0])}"
        return words + (f", or {', '.join(f'`{name}`' for name in named)}" if named else "")
    return " or ".join(
        dict.fromkeys(kind(choice) for choice in choices if choice.get("type") != "null")
    )


def kind_by_type(schema: Schema) -> str:
    """Scalars, lists and mappings."""
    match schema.get("type"):
        case "string":
            dimension = dimension_of(schema)
            return (noun(dimension) if dimension else "text") + limits(schema)
        case "integer":
            return "whole number" + limits(schema)
        case "number":
            return "number" + limits(schema)
        case "boolean":
            return "`true` or `false`"
        case "array":
            return f"list of {kind(schema['items'])}" if "items" in schema else "list"
        case "object":
            return kind_of_mapping(schema)
        case _:
            return "anything"


def kind_of_mapping(schema: Schema) -> str:
    """A mapping from names that the author chooses."""
    patterns = list(schema.get("patternProperties", {}).values())
    inner = patterns[0] if patterns else schema.get("additionalProperties")
    return f"mapping of names to {kind(inner)}" if isinstance(inner, dict) and inner else "mapping"


def dimension_of(schema: Schema) -> units.Dimension | None:
    """The quantity that a pattern stands for."""
    return next((known for known in DIMENSIONS if known.pattern == schema.get("pattern")), None)


def noun(dimension: units.Dimension) -> str:
    """What the first section calls it."""
    return "cost per byte" if dimension is units.FINE_TIME else dimension.noun


def limits(schema: Schema) -> str:
    """The range of a number."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if high is not None and high >= LARGEST:
        high = None
    if low is not None and high is not None:
        return f", {low} to {high}"
    if low is not None:
        return f", at least {low}"
    return f", at most {high}" if high is not None else ""


def default_of(schema: Schema) -> str:
    """The default as people write it."""
    default = schema.get("default")
    if default is None:
        return "left out"
    if default == "":
        return "empty"
    if isinstance(default, dict):
        return "each key's own default" if default else "none"
    if isinstance(default, list):
        return ", ".join(f"`{literal(item)}`" for item in default) or "none"
    dimension = next((found for found in map(dimension_of, alternatives(schema)) if found), None)
    return f"`{quantity(default, dimension) if dimension and isinstance(default, int) else literal(default)}`"  # noqa: E501


def alternatives(schema: Schema) -> list[Schema]:
    """The schema itself and what it lets one choose from."""
    return [schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())]


def quantity(value: int, dimension: units.Dimension) -> str:
    """The shortest way to write a plan's integer with a unit: 500000 ps as `500ns`."""
    whole = {
        suffix: Fraction(value) / size
        for suffix, size in dimension.suffixes.items()
        if value % size == 0
    }
    suffix = (
        min(whole, key=lambda suffix: len(str(whole[suffix])))
        if value
        else min(dimension.suffixes, key=len)
    )
    return f"{whole[suffix]}{' ' if suffix.startswith('frame') else ''}{suffix}"


def literal(value: object) -> str:
    """A value as YAML has it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cell(text: str) -> str:
    """Text inside a table."""
    return one_line(text).replace("|", "\\|")


def one_line(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())
