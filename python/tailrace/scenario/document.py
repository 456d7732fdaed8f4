"""A scenario file as plain data, with the line of every key, so that errors can say where."""

import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarbool import ScalarBoolean
from ruamel.yaml.scalarfloat import ScalarFloat
from ruamel.yaml.scalarint import ScalarInt

from tailrace.errors import KeyPath, Problem, ScenarioError, dotted

FILE_BYTES_MAX = 4_000_000
"""A scenario is written by people; a larger file is something else."""


ON_COMMAND_LINE = -1
"""The line of values that were given as `--set`."""


@dataclass(frozen=True)
class Document:
    """Plain data and where each key of it stands."""

    file: str
    data: dict[str, Any]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    folder: Path = Path()

    def line(self, path: KeyPath) -> int:
        """Line of `path`, or of the nearest enclosing key that has one; 0 when there is none."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return min((line for line in self.lines.values() if line > 0), default=0)

    def problem(self, path: KeyPath, what: str, hint: str = "") -> Problem:
        """A problem with the value at `path`."""
        line = self.line(path)
        file = f"{self.file} with --set" if line == ON_COMMAND_LINE else self.file
        return Problem(file, max(0, line), dotted(path), what, hint)

    def with_value(self, path: KeyPath, value: object, line: int) -> "Document":
        """A copy in which `path` has `value`; raises `KeyError` with the part of the path that does not exist."""
        data = copy.deepcopy(self.data)
        place: Any = data
        for position, key in enumerate(path[:-1]):
            if isinstance(place, dict):
                place = place.setdefault(key, {})
            elif has_key(place, key):
                place = place[key]
            else:
                raise KeyError(dotted(path[: position + 1]))
        if not isinstance(place, dict) and not has_key(place, path[-1]):
            raise KeyError(dotted(path))
        place[path[-1]] = copy.deepcopy(value)
        kept = {at: number for at, number in self.lines.items() if at[: len(path)] != path}
        return Document(self.file, data, {**kept, path: line}, self.folder)

    def without(self, path: KeyPath) -> "Document":
        """A copy in which `path` is not there."""
        data = copy.deepcopy(self.data)
        place: Any = data
        for key in path[:-1]:
            if not has_key(place, key):
                return self
            place = place[key]
        if path and has_key(place, path[-1]):
            del place[path[-1]]
        return Document(self.file, data, self.lines, self.folder)


def has_key(place: Any, key: str | int) -> bool:
    """Whether a mapping has a key, or a list a position."""
    if isinstance(place, list):
        return isinstance(key, int) and 0 <= key < len(place)
    return isinstance(place, dict) and key in place


def read_document(path: Path) -> Document:
    """The document in a YAML file; raises `ScenarioError` when it cannot be read."""
    name = str(path)
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise ScenarioError([Problem(name, 0, "", "the file is larger than 4 MB", "is this a scenario?")])
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = "`tailrace init` writes one to start from, `tailrace list` shows those that are there"
        raise ScenarioError([Problem(name, 0, "", "there is no such file", hint)]) from None
    except IsADirectoryError:
        raise ScenarioError([Problem(name, 0, "", "this is a folder", "name the scenario file in it")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError([Problem(name, 0, "", f"the file cannot be read: {error}", "")]) from None
    return parse_document(text, name, path.parent)


def parse_document(text: str, name: str, folder: Path = Path()) -> Document:
    """The document in YAML text; raises `ScenarioError` when it is not a YAML mapping."""
    data, lines = read_yaml(text, name)
    if not isinstance(data, dict):
        what = "a scenario is a mapping of keys, not " + ("empty" if data is None else f"a {type(data).__name__}")
        raise ScenarioError([Problem(name, 1, "", what, "`tailrace init` writes one to start from")])
    return Document(name, data, lines, folder)


def read_yaml(text: str, name: str) -> tuple[Any, dict[KeyPath, int]]:
    """Plain data and the line of every key; raises `ScenarioError` when the text is not YAML."""
    try:
        loaded = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = (error.problem or "this is not YAML").strip().splitlines()[0]
        hint = "check indentation, colons and quotes; tabs are not allowed"
        raise ScenarioError([Problem(name, mark.line + 1 if mark else 0, "", f"YAML: {what}", hint)]) from None
    except YAMLError as error:
        raise ScenarioError([Problem(name, 0, "", f"YAML: {error}", "")]) from None
    lines: dict[KeyPath, int] = {}
    return _plain(loaded, (), lines), lines


def data_document(data: dict[str, Any], name: str = "scenario") -> Document:
    """A document from data that came from a program; it has no lines."""
    return Document(name, copy.deepcopy(data))


def _plain(value: Any, path: KeyPath, lines: dict[KeyPath, int]) -> Any:
    if isinstance(value, CommentedMap):
        marks = value.lc.data or {}
        for key in value:
            if key in marks:
                lines[(*path, key)] = marks[key][0] + 1
        return {_plain(key, path, {}): _plain(item, (*path, key), lines) for key, item in value.items()}
    if isinstance(value, CommentedSeq):
        marks = value.lc.data or {}
        for index in range(len(value)):
            if index in marks:
                lines[(*path, index)] = marks[index][0] + 1
        return [_plain(item, (*path, index), lines) for index, item in enumerate(value)]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, ScalarBoolean):
        return bool(value)
    if isinstance(value, ScalarInt):
        return int(value)
    if isinstance(value, ScalarFloat):
        return float(value)
    return str(value) if isinstance(value, str) else value
