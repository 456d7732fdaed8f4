"""A scenario file as plain data, with the line of every key for error messages."""

import copy
import datetime
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from ruamel.yaml.comments import CommentedMap, CommentedSeq, TaggedScalar
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.scalarbool import ScalarBoolean
from ruamel.yaml.scalarfloat import ScalarFloat
from ruamel.yaml.scalarint import ScalarInt
from ruamel.yaml.scalarstring import ScalarString

from tailrace.errors import KeyPath, Problem, ScenarioError, dotted
from tailrace.files import DEPTH_MAX, read_text
from tailrace.scenario.text.yaml import TOO_DEEP, TOO_LONG, load_yaml

FILE_BYTES_MAX = 4_000_000
"""Bytes; a larger file is not a scenario."""
YAML_HINTS = {
    "'\\t'": "indent with spaces: tabs are not allowed",
    "mapping values are not allowed": "a colon is missing on this line or above, or a "
    "text with ': ' needs quotes",
    "unexpected end of stream": "a quote or bracket is not closed",
    "expected <block end>": "the indentation is wrong, or '- ' entries and keys are mixed",
    "expected ',' or": "a bracket is not closed, or a comma is missing",
}
"""Hints by parts of the YAML parser's messages."""
VALUES_MAX = 200_000
"""Values of a document, at most, after every alias (`*name`) has been expanded."""

_BEGUN = re.compile(r"[A-Za-z][\w-]*\s*\([^()]*$")
_ENDED = re.compile(r"[^()]*\)$")
"""The first and the last piece of `lognormal(20kB, 1.2)` where it is cut at its comma."""
PIECES_MAX = 8
"""Maximum number of pieces of such a text."""


@dataclass(frozen=True)
class Document:
    """Plain data and the location of each key."""

    file: str
    data: dict[str, Any]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    folder: Path = Path()
    files: dict[KeyPath, str] = field(default_factory=dict)
    """Files of the keys that are not in `file`."""
    changed: dict[KeyPath, tuple[str, int]] = field(default_factory=dict)
    """File and line of later changes; they take precedence over `lines` and `files`."""

    def line(self, path: KeyPath) -> int:
        """Line of `path`, or of the nearest enclosing key that has one; 0 when there is none."""
        return self.location_of(path)[1]

    def location_of(self, path: KeyPath) -> tuple[str, int]:
        """File and line of `path`, or of the nearest enclosing key that has them; line 0 when there
        is none."""
        changed, written = _nearest(path, self.changed), _nearest(path, self.lines)
        if changed is not None:
            return self.changed[changed]
        if written is not None:
            return self.files.get(written, self.file), self.lines[written]
        own = (line for at, line in self.lines.items() if line > 0 and at not in self.files)
        return self.file, min(own, default=0)

    def problem(self, path: KeyPath, what: str, hint: str = "") -> Problem:
        """A problem with the value at `path`."""
        file, line = self.location_of(path)
        return Problem(file, line, dotted(path), what, hint)

    def edited(self) -> "Edit":
        """A copy for any number of changes."""
        return Edit(self)

    def without(self, paths: Collection[KeyPath]) -> "Document":
        """A copy without the values at these paths."""
        data = copy.deepcopy(self.data)
        # The last entries of a list are removed first, so that the positions of the others do not
        # change.
        for path in sorted(paths, key=_order, reverse=True):
            _take_out(data, path)
        return replace(self, data=data)


class Edit:
    """Changes to a copy of a document. The copy shares unchanged parts with the document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._data = dict(document.data)
        self._own = {id(self._data)}
        self._changed: dict[KeyPath, tuple[str, int]] = {}

    def set(self, path: KeyPath, value: object, location: tuple[str, int]) -> None:
        """Sets the value at `path`; raises `KeyError` with the part of the path that does not
        exist.

        `location` is the file and line where the change is written.
        """
        section: Any = self._data
        for position, key in enumerate(path[:-1]):
            if isinstance(section, dict):
                section.setdefault(key, {})
            elif not has_key(section, key):
                raise KeyError(dotted(path[: position + 1]))
            section = self._owned(section, key)
        if not isinstance(section, dict) and not has_key(section, path[-1]):
            raise KeyError(dotted(path))
        section[path[-1]] = copy.deepcopy(value)
        self._changed.pop(path, None)
        self._changed[path] = location

    def on_command_line(self, option: str) -> tuple[str, int]:
        """The location of a change made by an option of the command line."""
        return f"{self._document.file} with {option}", 0

    def section(self, name: str) -> dict[str, Any]:
        """The entries of a section, read-only; empty when it is not a mapping."""
        found = self._data.get(name)
        return found if isinstance(found, dict) else {}

    def _owned(self, container: Any, key: str | int) -> Any:
        """The mapping or list at a key, copied if it is still shared with the document."""
        inner = container[key]
        if isinstance(inner, dict | list) and id(inner) not in self._own:
            inner = container[key] = copy.copy(inner)
            self._own.add(id(inner))
        return inner

    def document(self) -> Document:
        """The document with the changes; replaced values no longer have lines."""
        later: set[KeyPath] = set()
        changed: dict[KeyPath, tuple[str, int]] = {}
        for path, location in reversed((self._document.changed | self._changed).items()):
            if not any(path[:length] in later for length in range(1, len(path))):
                changed[path] = location
            later.add(path)
        return replace(self._document, data=self._data, changed=changed)


def _nearest(path: KeyPath, lines: Collection[KeyPath]) -> KeyPath | None:
    """`path`, or the nearest enclosing key that has a line."""
    return next(
        (path[:length] for length in range(len(path), 0, -1) if path[:length] in lines), None
    )


def _order(path: KeyPath) -> list[tuple[bool, int, str]]:
    return [
        (isinstance(key, int), key, "") if isinstance(key, int) else (False, 0, key) for key in path
    ]


def _take_out(data: Any, path: KeyPath) -> None:
    container = data
    for key in path[:-1]:
        if not has_key(container, key):
            return
        container = container[key]
    if path and has_key(container, path[-1]):
        del container[path[-1]]


def has_key(container: Any, key: str | int) -> bool:
    """Whether a mapping has a key, or a list a position."""
    if isinstance(container, list):
        return isinstance(key, int) and 0 <= key < len(container)
    return isinstance(container, dict) and key in container


def read_document(path: Path) -> Document:
    """The document in a YAML file; raises `ScenarioError` when it cannot be read."""
    name = str(path)
    try:
        text = read_text(path, FILE_BYTES_MAX)
    except FileNotFoundError:
        hint = "`tailrace init` writes one to start from, `tailrace list` lists the existing ones"
        raise ScenarioError([Problem(name, 0, "", "the file does not exist", hint)]) from None
    except IsADirectoryError:
        raise ScenarioError(
            [Problem(name, 0, "", "this is a directory", "name the scenario file in it")]
        ) from None
    except UnicodeDecodeError as error:
        what = f"the file is not text in UTF-8 (byte {error.start + 1})"
        raise ScenarioError(
            [Problem(name, 0, "", what, "is this a scenario? if so, save it as UTF-8")]
        ) from None
    except OSError as error:
        raise ScenarioError(
            [Problem(name, 0, "", f"the file cannot be read: {error.strerror}", "")]
        ) from None
    return parse_document(text, name, path.parent)


def parse_document(text: str, name: str, folder: Path = Path()) -> Document:
    """The document in YAML text; raises `ScenarioError` when it is not a YAML mapping."""
    data, lines = read_yaml(text, name)
    if not isinstance(data, dict):
        what = "a scenario is a mapping of keys, not " + (
            "empty"
            if data is None
            else "a list"
            if isinstance(data, list)
            else "a text or a number"
        )
        raise ScenarioError(
            [Problem(name, 1, "", what, "`tailrace init` writes one to start from")]
        )
    return Document(name, data, lines, folder)


def read_yaml(text: str, name: str) -> tuple[Any, dict[KeyPath, int]]:
    """Plain data and the line of every key; raises `ScenarioError` when the text is not YAML."""
    try:
        loaded = load_yaml(text, is_marked=True)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = (error.problem or "not valid YAML").strip().splitlines()[0]
        if isinstance(error, DuplicateKeyError):
            what = _duplicate_key(text, what, mark.line if mark else 0)
        raise ScenarioError(
            [Problem(name, mark.line + 1 if mark else 0, "", f"YAML: {what}", _hint(what))]
        ) from None
    except ReaderError as error:
        what = f"YAML: the character U+{error.character:04X} is not allowed"
        line = text.count("\n", 0, error.position) + 1
        raise ScenarioError([Problem(name, line, "", what, "remove it")]) from None
    except (YAMLError, ValueError) as error:
        what = f"YAML: {str(error).partition(';')[0]}"
        raise ScenarioError([Problem(name, 0, "", what, "check numbers and dates")]) from None
    plain = _Plain(name)
    return plain.value(loaded, ()), plain.lines


def _duplicate_key(text: str, what: str, line: int) -> str:
    """The message for a duplicate key: the key, and the line of the first one where it is found."""
    key = what.split('"')[1] if '"' in what else ""
    lines = text.splitlines()
    indent = len(lines[line]) - len(lines[line].lstrip()) if line < len(lines) else 0
    for number in range(line - 1, -1, -1):
        found = lines[number]
        inner = len(found) - len(found.lstrip())
        if inner == indent and re.match(rf"""\s*['"]?{re.escape(key)}['"]?\s*:""", found):
            return f"duplicate key '{key}', first on line {number + 1}"
        if found.strip() and inner < indent:
            break
    return f"duplicate key '{key}'"


def _hint(what: str) -> str:
    """The hint for a message of the YAML parser."""
    if "duplicate key" in what:
        return "keys in a section are unique; remove one of the two"
    if what == TOO_DEEP:
        return "is this a scenario?"
    if what == TOO_LONG:
        return "is this a scenario? many hosts have a topology, and many arms a sweep"
    if "another document" in what:
        return "a file holds one scenario; remove everything from the second '---' on"
    for words, hint in YAML_HINTS.items():
        if words in what:
            return hint
    return "check indentation, colons and quotes; tabs are not allowed"


def data_document(data: dict[str, Any], name: str = "scenario") -> Document:
    """A document from data passed by a program; it has no lines."""
    return Document(name, copy.deepcopy(data))


class _Plain:
    """Converts the output of the YAML parser to plain data and records the line of every key."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = VALUES_MAX
        self.lines: dict[KeyPath, int] = {}

    def value(self, value: Any, path: KeyPath) -> Any:
        """The plain data of `value` at `path`."""
        self._left -= 1
        if self._left < 0:
            self._refuse(
                (),
                f"it has more than {VALUES_MAX} values",
                "write fewer aliases of aliases (*name)",
            )
        if len(path) > DEPTH_MAX:  # aliases can nest deeper than the text does
            self._refuse(path[:1], f"YAML: {TOO_DEEP}", "write fewer aliases of aliases (*name)")
        if isinstance(value, CommentedMap):
            self._note_lines(value, list(value), path)
            for key in value:
                if isinstance(key, Mapping | tuple):
                    line = next(
                        (line for at, line in reversed(self.lines.items()) if at[:-1] == path), 0
                    )
                    what = f"YAML: a key is a {'list' if isinstance(key, tuple) else 'mapping'}"
                    raise ScenarioError(
                        [Problem(self._name, line, dotted(path), what, "keys are names")]
                    )
            if value.fa.flow_style():
                self._refuse_cut(
                    [(key, item, key if item is None else None) for key, item in value.items()],
                    path,
                )
            return {
                _plain_scalar(key): self.value(item, (*path, key)) for key, item in value.items()
            }
        if isinstance(value, CommentedSeq):
            self._note_lines(value, list(range(len(value))), path)
            if value.fa.flow_style():
                self._refuse_cut([(index, item, item) for index, item in enumerate(value)], path)
            return [self.value(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, TaggedScalar):
            self._refuse(
                path,
                f"YAML: tags such as '{value.tag.value}' are not supported",
                "write the value alone",
            )
        return _plain_scalar(value)

    def _refuse_cut(self, entries: list[tuple[Any, Any, Any]], path: KeyPath) -> None:
        """Raises an error for a text such as `lognormal(20kB, 1.2)` that a comma between braces or
        brackets has cut.

        Each entry has the key, a possible first piece, and a possible later piece (None where the
        entry has a key). Quoted text is whole.
        """
        for index, (key, begun, _) in enumerate(entries):
            if (
                not isinstance(begun, str)
                or isinstance(begun, ScalarString)
                or not _BEGUN.fullmatch(begun)
            ):
                continue
            pieces = [begun]
            for _, _, more in entries[index + 1 : index + PIECES_MAX]:
                if more is None or isinstance(more, ScalarString):
                    break
                pieces.append(str(more))
                if _ENDED.fullmatch(pieces[-1]):
                    whole = ", ".join(pieces)
                    what = (
                        f"'{whole}' needs quotes: between braces or brackets, a comma ends a value"
                    )
                    self._refuse(
                        (*path, key),
                        what,
                        f'write {"" if isinstance(key, int) else f"{key}: "}"{whole}"',
                    )

    def _note_lines(
        self, value: CommentedMap | CommentedSeq, keys: list[Any], path: KeyPath
    ) -> None:
        marks = value.lc.data or {}
        self.lines.update({(*path, key): marks[key][0] + 1 for key in keys if key in marks})

    def _refuse(self, path: KeyPath, what: str, hint: str) -> NoReturn:
        raise ScenarioError(
            [Problem(self._name, self.lines.get(path, 0), dotted(path), what, hint)]
        )


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, ScalarBoolean):
        return bool(value)
    if isinstance(value, ScalarInt):
        return int(value)
    if isinstance(value, ScalarFloat):
        return float(value)
    if isinstance(value, datetime.date):
        return value.isoformat()  # a name such as 2026-11-20 is text, not a date
    return str(value) if isinstance(value, str) else value
