"""From a file to checked scenarios, one for each arm, with every problem of all of them told at once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tailrace.errors import KeyPath, Problem, ScenarioError, dotted
from tailrace.scenario.checks import check
from tailrace.scenario.document import Document, data_document, read_document, read_yaml
from tailrace.scenario.scenario import Scenario

ARMS_MAX = 100


@dataclass(frozen=True)
class Loaded:
    """A checked scenario file."""

    document: Document
    """The file with the overrides of the command line, before those of the arms."""
    scenario: Scenario
    """The scenario without the overrides of any arm."""
    arms: dict[str, Scenario]
    """The scenario of each arm, baseline first."""

    @property
    def published_path(self) -> Path | None:
        """The file with published figures."""
        name = self.scenario.published
        return None if name is None else self.document.folder / name


def load_scenario(source: Path | str | Mapping[str, Any], overrides: Mapping[str, Any] | None = None) -> Loaded:
    """Reads and checks a scenario; raises `ScenarioError` with all of its problems.

    `overrides` are dotted paths and values that win over the file, as `--set` gives them; arms win over both.
    """
    document = data_document(dict(source)) if isinstance(source, Mapping) else read_document(Path(source))
    for key, value in (overrides or {}).items():
        document = _overridden(document, key, value, line=0, place=f"--set {key}")
    base, problems = _parsed(document)
    if base is None:
        raise ScenarioError(problems)
    arms: dict[str, Scenario] = {}
    for name in base.arm_names:
        arm_document, arm_problems = _arm_document(document, name, base.arms.get(name, {}))
        scenario, found = _parsed(arm_document)
        problems += arm_problems + found
        if scenario is not None:
            arms[name] = scenario
    if problems:
        raise ScenarioError(problems)
    return Loaded(document, base, arms)


def parse_assignment(text: str) -> tuple[str, Any]:
    """`key.path=value` of the command line; the value is YAML."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError([Problem(f"--set {text}", 0, "", "this is not key=value", "such as experiment.trials=3")])
    data, _ = read_yaml(value, f"--set {key.strip()}")
    return key.strip(), data


def _arm_document(document: Document, arm: str, changes: Mapping[str, Any]) -> tuple[Document, list[Problem]]:
    problems: list[Problem] = []
    for key, value in changes.items():
        at: KeyPath = ("arms", arm, key)
        try:
            document = _overridden(document, key, value, line=document.line(at), place=dotted(at))
        except ScenarioError as error:
            problems += [document.problem(at, problem.what, problem.hint) for problem in error.problems]
    return document, problems


def _overridden(document: Document, key: str, value: object, *, line: int, place: str) -> Document:
    path = tuple(int(part) if part.isdecimal() else part for part in re.split(r"\.", str(key)))
    if path[0] not in Scenario.model_fields or path[0] in ("arms", "tailrace"):
        near = get_close_matches(str(path[0]), list(Scenario.model_fields), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "begin with workloads, switches, policies, hosts, network, ..."
        raise ScenarioError([Problem(place, line, "", f"'{path[0]}' cannot be set", hint)])
    try:
        return document.with_value(path, value, line)
    except KeyError as error:
        what = f"there is nothing at '{error.args[0]}'"
        raise ScenarioError([Problem(place, line, "", what, "paths are dotted keys and list positions")]) from None


def _parsed(document: Document) -> tuple[Scenario | None, list[Problem]]:
    try:
        scenario = Scenario.model_validate(document.data)
    except ValidationError as error:
        return None, [_problem(details, document) for details in error.errors()]
    return scenario, check(scenario, document)


def _problem(details: ErrorDetails, document: Document) -> Problem:
    path = _real_path(details["loc"], document.data)
    kind, context = details["type"], details.get("ctx", {})
    if kind == "extra_forbidden":
        return document.problem(path, "there is no such key", _key_hint(details["loc"], path))
    if kind == "missing":
        return document.problem(path, "it is missing", f"add '{path[-1]}:' here")
    if kind == "scenario":
        return document.problem(path, str(context["what"]), str(context["hint"]))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        expected = str(context.get("expected_tags") or "see the scenario reference").replace("'", "")
        tag = context.get("tag")
        what = f"there is no kind '{tag}'" if tag else "it needs a kind"
        return document.problem((*path, "kind") if tag else path, what, f"kind: one of {expected}")
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return document.problem(path, f"it is a mapping of keys, not {details['input']!r}", "indent its keys below it")
    if kind == "literal_error":
        return document.problem(path, f"{details['input']!r} is not one of the choices", f"write {context['expected']}")
    if kind == "string_pattern_mismatch":
        return document.problem(path, f"'{details['input']}' is not a name", "use letters, digits, - and _")
    message = details["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return document.problem(path, f"{details['input']!r}: {message[:1].lower()}{message[1:]}", "")


def _real_path(loc: Sequence[str | int], data: Any) -> KeyPath:
    """The location without the tags that pydantic puts between (`workloads.XS.oltp.users`)."""
    path: list[str | int] = []
    place = data
    for position, key in enumerate(loc):
        is_last = position == len(loc) - 1
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and isinstance(key, int) and key < len(place):
            place = place[key]
        elif not is_last or key == "[key]" or (isinstance(place, dict) and place.get("kind") == key):
            continue
        path.append(key)
    return tuple(path)


def _key_hint(loc: Sequence[str | int], path: KeyPath) -> str:
    known = _keys_at(loc[:-1])
    near = get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    if near:
        return f"did you mean '{near[0]}'?"
    return "keys here: " + ", ".join(known) if known else ""


def _keys_at(loc: Sequence[str | int]) -> list[str]:
    """The keys that the model at a location of pydantic's knows."""
    models: list[Any] = [Scenario]
    for key in loc:
        models = [inner for model in models for inner in _step(model, key)]
    known = [model for model in models if isinstance(model, type) and issubclass(model, BaseModel)]
    return [name for model in known for name in model.model_fields]


def _step(annotation: Any, key: str | int) -> list[Any]:
    if isinstance(annotation, _Inside):
        return list(annotation.models)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(key))
        if field is not None:
            return _flattened(field.annotation)
        kind = annotation.model_fields.get("kind")
        return [annotation] if kind is not None and key in get_args(kind.annotation) else []
    return []


def _flattened(annotation: Any) -> list[Any]:
    """Models inside unions, lists, mappings and annotations. A mapping's or list's key is no step of its own."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    arguments = get_args(annotation)
    is_container = getattr(annotation, "__origin__", None) in (dict, list)
    inner = [model for argument in arguments for model in _flattened(argument)]
    return [_Inside(tuple(inner))] if is_container else inner


@dataclass(frozen=True)
class _Inside:
    """A list or mapping of models: one step leads to the models."""

    models: tuple[Any, ...]
