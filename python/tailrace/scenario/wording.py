"""Converts validation errors of pydantic to messages: the location in the file, the problem, and a
hint."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tailrace.errors import KeyPath, Problem, nearest
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.text.document import Document, has_key
from tailrace.scenario.text.quantities import NAME_CHARACTERS_MAX
from tailrace.scenario.text.units import shown

SHOWN_CHARACTERS_MAX = 60
NEAR_CHOICE = 0.6
"""Similarity above which a hint offers a choice: 'cubicc' is close to 'cubic', 'icmp' is not close
to 'tcp'."""
EXAMPLES: dict[KeyPath, str] = {
    ("tailrace",): "tailrace: 1",
    ("name",): "name: my-lab",
    ("network",): "network: {topology: {kind: star, hosts: 4}}",
    ("workloads",): "workloads: {bulk: {kind: stream, source: h1, destination: h2}}",
    ("network", "topology"): "topology: {kind: star, hosts: 4}",
    ("experiment",): "experiment: {duration: 10s}",
    ("arms",): "arms: {plain: {}, dpp: {switches.leaf.policy: dpp}}",
    ("experiment", "duration"): "duration: 10s",
}
"""Required keys of every scenario, each with an example."""
Words = tuple[str, str]
"""The problem, and a hint."""


def problem_of(details: ErrorDetails, document: Document) -> Problem:
    """An error of pydantic as a problem of the document."""
    path = real_path(details["loc"], document.data)
    kind = details["type"]
    if kind == "extra_forbidden":
        return document.problem(path, "unknown key", _key_hint(details["loc"], path))
    if kind == "missing":
        example = EXAMPLES.get(path)
        hint = f"add '{example}'" if example else f"add '{path[-1]}:' here"
        return document.problem(path, "it is missing", hint)
    if kind == "union_tag_invalid":
        path = (*path, "kind")
        if _context(details)["tag"] == "None":
            return document.problem(path, "it has no value", _unknown_kind(details)[1])
    words = _WORDS.get(kind)
    what, hint = words(details) if words else _other(details)
    if words is _no_mapping and path in EXAMPLES:
        hint = f"such as {EXAMPLES[path]}"
    if words and details["input"] is None:
        empty = f"write '{EXAMPLES[path]}'" if path in EXAMPLES else "write {} for an empty section"
        what, hint = "it has no value", empty if words is _no_mapping else hint
    return document.problem(path, what, hint)


def real_path(loc: Sequence[str | int], data: Any) -> KeyPath:
    """The location without the tags that pydantic inserts (`workloads.XS.oltp.users`)."""
    path: list[str | int] = []
    inner, is_tagged = data, False
    for position, key in enumerate(loc):
        is_last = position == len(loc) - 1
        if not is_tagged and isinstance(inner, dict) and inner.get("kind") == key:
            is_tagged = True  # a key of the kind may have the name of the kind
            continue
        if has_key(inner, key):
            inner, is_tagged = inner[key], False
        elif not is_last or key == "[key]" or not isinstance(inner, dict):
            continue  # elsewhere than in a mapping, the last tag is an alternative of a type (`constrained-int`)  # noqa: E501
        path.append(key)
    return tuple(path)


def _context(details: ErrorDetails) -> dict[str, Any]:
    return details.get("ctx", {})


def _shown(details: ErrorDetails) -> str:
    if isinstance(details["input"], dict | list):
        return "a mapping of keys" if isinstance(details["input"], dict) else "a list"
    text = shown(details["input"])
    return text if len(text) <= SHOWN_CHARACTERS_MAX else text[: SHOWN_CHARACTERS_MAX - 3] + "..."


def _stated(details: ErrorDetails) -> Words:
    return str(_context(details)["what"]), str(_context(details)["hint"])


def _unknown_kind(details: ErrorDetails) -> Words:
    context = _context(details)
    kinds = str(context["expected_tags"]).replace("'", "").split(", ")
    near = nearest(str(context["tag"]), kinds)
    return (
        f"there is no kind '{context['tag']}'",
        f"did you mean '{near}'?" if near else "one of " + ", ".join(kinds),
    )


def _no_kind(_: ErrorDetails) -> Words:
    return (
        "`kind` is missing",
        "add 'kind:', such as kind: oltp for a workload or kind: star for a topology",
    )


def _no_mapping(details: ErrorDetails) -> Words:
    return f"expected a mapping of keys, not {_shown(details)}", "indent its keys below it"


def _no_list(details: ErrorDetails) -> Words:
    return (
        f"expected a list, not {_shown(details)}",
        "write [a, b], or one entry on each line after '- '",
    )


def _no_choice(details: ErrorDetails) -> Words:
    expected = str(_context(details)["expected"]).replace(" or ", ", ").split(", ")
    choices = [choice.strip("'") for choice in expected]
    near = nearest(str(details["input"]), choices, NEAR_CHOICE)
    is_quoted = isinstance(details["input"], str) and details["input"] in choices
    hint = (
        "remove the quotes"
        if is_quoted
        else f"did you mean '{near}'?"
        if near
        else f"write {choices[0]}"
        if len(choices) == 1
        else "one of " + ", ".join(choices)
    )
    return f"{_shown(details)} is not one of the choices", hint


def _no_name(details: ErrorDetails) -> Words:
    return (
        f"{_shown(details)} is not a name",
        f"use letters, digits, - and _, at most {NAME_CHARACTERS_MAX}",
    )


def _no_text(details: ErrorDetails) -> Words:
    return f"{_shown(details)} is not a text", "put it in quotes"


def _no_integer(details: ErrorDetails) -> Words:
    is_text = isinstance(details["input"], str) and any(
        letter.isdigit() for letter in details["input"]
    )
    hint = "omit the unit and the quotes" if is_text else "write a number such as 20"
    return f"{_shown(details)} is not a whole number", hint


def _no_switch(details: ErrorDetails) -> Words:
    return f"{_shown(details)} is neither true nor false", "write true or false"


def _out_of_range(details: ErrorDetails) -> Words:
    context = _context(details)
    bound = (
        f"write at least {context['ge']}" if "ge" in context else f"write at most {context['le']}"
    )
    return f"{_shown(details)} is out of range", bound


def _wrong_length(details: ErrorDetails) -> Words:
    context = _context(details)
    bound = (
        f"at least {context['min_length']}"
        if "min_length" in context
        else f"at most {context['max_length']}"
    )
    # pydantic does not count a mapping or generator that is too long.
    actual = context["actual_length"]
    counted = len(details["input"]) if actual is None else actual
    return f"it has {counted} entries", f"there must be {bound}"


def _other(details: ErrorDetails) -> Words:
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{_shown(details)}: {message[:1].lower()}{message[1:]}", ""


_WORDS: dict[str, Callable[[ErrorDetails], Words]] = {
    "scenario": _stated,
    "union_tag_invalid": _unknown_kind,
    "union_tag_not_found": _no_kind,
    "dict_type": _no_mapping,
    "model_type": _no_mapping,
    "model_attributes_type": _no_mapping,
    "list_type": _no_list,
    "literal_error": _no_choice,
    "string_pattern_mismatch": _no_name,
    "string_type": _no_text,
    "int_type": _no_integer,
    "int_parsing": _no_integer,
    "bool_type": _no_switch,
    "bool_parsing": _no_switch,
    "greater_than_equal": _out_of_range,
    "less_than_equal": _out_of_range,
    "too_short": _wrong_length,
    "too_long": _wrong_length,
}


def _key_hint(loc: Sequence[str | int], path: KeyPath) -> str:
    known = _keys_at(loc[:-1])
    near = get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return "keys here: " + ", ".join(known) if known else ""


def _keys_at(loc: Sequence[str | int]) -> list[str]:
    """The keys of the model at a location of pydantic."""
    models: list[Any] = [Scenario]
    for key in loc:
        models = [inner for model in models for inner in _step(model, key)]
    known = [model for model in models if isinstance(model, type) and issubclass(model, BaseModel)]
    return [field.alias or name for model in known for name, field in model.model_fields.items()]


def _step(annotation: Any, key: str | int) -> list[Any]:
    if isinstance(annotation, _Inside):
        return list(annotation.models)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field, kind = (annotation.model_fields.get(name) for name in (str(key), "kind"))
        tagged = [annotation] if kind is not None and key in get_args(kind.annotation) else []
        return tagged + (_flattened(field.annotation) if field is not None else [])
    return []


def _flattened(annotation: Any) -> list[Any]:
    """Models inside unions, lists, mappings and annotations."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    inner = [model for argument in get_args(annotation) for model in _flattened(argument)]
    is_container = getattr(annotation, "__origin__", None) in (dict, list)
    return [_Inside(tuple(inner))] if is_container else inner


@dataclass(frozen=True)
class _Inside:
    """A list or mapping of models: its key or position leads to the models."""

    models: tuple[Any, ...]
