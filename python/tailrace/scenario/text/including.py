"""Scenarios in several files: `include:` in a scenario, and several files on the command line.

Files are merged in order. A later value replaces an earlier one; mappings are merged key by key,
unless both state a `kind` and the kinds differ: then the later mapping replaces the earlier one. A
list replaces a list.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tailrace.errors import KeyPath, ScenarioError
from tailrace.scenario.text.document import Document, read_document

INCLUDE = "include"
FILES_MAX = 64
"""Files of one scenario, at most."""


def read_scenario(paths: Sequence[Path]) -> Document:
    """The document merged from these files and all files that they include; raises `ScenarioError`.

    The name and folder are those of the first file; every key keeps its file and line.
    """
    reader = _Reader()
    documents = [reader.read(path, ()) for path in paths]
    return _all_merged(documents, documents[0])


def with_includes(document: Document) -> Document:
    """A document passed by a program, with the files that it includes, relative to the current
    folder."""
    return _Reader().completed(document, ())


class _Reader:
    """Reads files with the files that each includes, and counts them."""

    def __init__(self) -> None:
        self._left = FILES_MAX

    def read(self, path: Path, chain: tuple[Path, ...]) -> Document:
        """One file; `chain` are the files that led to it."""
        return self.completed(read_document(path), (*chain, path.resolve()))

    def completed(self, document: Document, chain: tuple[Path, ...]) -> Document:
        """The document merged over its included files."""
        if INCLUDE not in document.data:
            return document
        own = replace(
            document, data={key: value for key, value in document.data.items() if key != INCLUDE}
        )
        below = [
            self._included(document, name, position, chain) for position, name in _names(document)
        ]
        return _all_merged([*below, own], own)

    def _included(
        self, document: Document, name: str, position: int | None, chain: tuple[Path, ...]
    ) -> Document:
        at: KeyPath = (INCLUDE,) if position is None else (INCLUDE, position)
        path = document.folder / name
        self._left -= 1
        if path.resolve() in chain:
            raise ScenarioError(
                [document.problem(at, f"'{name}' includes itself", "remove one of the includes")]
            )
        if self._left < 0:
            raise ScenarioError(
                [
                    document.problem(
                        at, f"more than {FILES_MAX} files are included", "merge some of them"
                    )
                ]
            )
        if path.is_dir() or not path.exists():
            what = "is a folder" if path.is_dir() else "does not exist"
            hint = f"paths are relative to {document.folder}"
            raise ScenarioError([document.problem(at, f"the included file '{name}' {what}", hint)])
        return self.read(path, chain)


def _names(document: Document) -> list[tuple[int | None, str]]:
    """The files that a document includes, each with its position in the list."""
    stated = document.data[INCLUDE]
    if isinstance(stated, str):
        return [(None, stated)]
    if not isinstance(stated, list):
        what = "it is neither a file nor a list of files"
        raise ScenarioError([document.problem((INCLUDE,), what, "write include: [hosts.yaml]")])
    for position, name in enumerate(stated):
        if not isinstance(name, str):
            what = f"{name!r} is not a file"
            raise ScenarioError(
                [document.problem((INCLUDE, position), what, "write include: [hosts.yaml]")]
            )
    return list(enumerate(stated))


def _all_merged(documents: Sequence[Document], main: Document) -> Document:
    """One document with the name and folder of `main`."""
    merged = Document(main.file, {}, {}, main.folder)
    for document in documents:
        merged = _merged(merged, document)
    return merged


def _merged(below: Document, above: Document) -> Document:
    data, replaced = _over(below.data, _relocated(above, below.folder), ())
    lines = {path: line for path, line in below.lines.items() if not _is_inside(path, replaced)}
    files = {path: file for path, file in below.files.items() if path in lines}
    for path in above.lines:
        files[path] = above.files.get(path, above.file)
    files = {path: file for path, file in files.items() if file != below.file}
    return Document(below.file, data, lines | above.lines, below.folder, files)


def _relocated(document: Document, folder: Path) -> dict[str, Any]:
    """The data, with its relative file names converted to another folder."""
    name = document.data.get("published")
    if not isinstance(name, str) or document.folder == folder:
        return document.data
    return {**document.data, "published": os.path.relpath(document.folder / name, folder)}


def _over(
    below: dict[str, Any], above: dict[str, Any], at: KeyPath
) -> tuple[dict[str, Any], set[KeyPath]]:
    """`above` merged over `below`, and the paths whose old values were replaced."""
    merged, replaced = dict(below), set[KeyPath]()
    for key, value in above.items():
        old = below.get(key)
        path = (*at, key)
        if isinstance(old, dict) and isinstance(value, dict) and not _is_other_kind(old, value):
            merged[key], inner = _over(old, value, path)
            replaced |= inner
        else:
            merged[key] = value
            if key in below:
                replaced.add(path)
    return merged, replaced


def _is_other_kind(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "kind" in old and "kind" in new and old["kind"] != new["kind"]


def _is_inside(path: KeyPath, replaced: set[KeyPath]) -> bool:
    return any(path[:length] in replaced for length in range(1, len(path) + 1))
