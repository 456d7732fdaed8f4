"""Recordings of requests that a run keeps, so that it can be repeated without the scenario's
original file.

They are stored in `recordings/` of the run directory under the beginning of their SHA-256;
`scenario.yaml` and `scenario.json` of the run refer to them.
"""

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from tailrace.errors import RunRefusedError
from tailrace.files import read_bytes
from tailrace.outcome.run_files import RunFiles
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.recording import Recording

FOLDER = "recordings"
"""Below the run directory."""
HASH_DIGITS = 8
"""Of the SHA-256 in names."""
KEY = "file"
"""Key of a recording: of a workload, or the end of the dotted path of an arm or a sweep."""


@dataclass(frozen=True)
class Kept:
    """A recording as the run keeps it."""

    source: Path
    """As the scenario names it."""
    name: str
    """Relative to the run directory."""
    sha256: str
    """Of the whole file."""


def recordings_of(loaded: Loaded) -> list[Kept]:
    """Every recording of a scenario, its arms and points, each file once."""
    found: dict[Path, Kept] = {}
    for scenario in (loaded.scenario, *loaded.arms.values(), *loaded.swept.values()):
        for recording in _in(scenario):
            found.setdefault(
                recording.path, Kept(recording.path, _name(recording), recording.digest)
            )
    return list(found.values())


def _in(scenario: Scenario) -> Iterator[Recording]:
    yield from (recording for one in scenario.workloads.values() for recording in one.recordings())


def _name(recording: Recording) -> str:
    stem, end = recording.path.stem, f"-{recording.digest[:HASH_DIGITS]}"
    return f"{FOLDER}/{stem.removesuffix(end)}{end}.csv"


def copy_recordings(kept: list[Kept], files: RunFiles) -> None:
    """Copies them into a run; raises `RunRefusedError` for a file that has changed since it was
    read."""
    for one in kept:
        content = read_bytes(one.source)
        if hashlib.sha256(content).hexdigest() != one.sha256:
            raise RunRefusedError(
                f"{one.source}: the file has changed since it was read (hint: run it again)"
            )
        files.write(one.name, content)


def recordings_data(kept: list[Kept]) -> list[dict[str, str]]:
    """For the manifest."""
    return [{"file": one.name, "sha256": one.sha256, "source": str(one.source)} for one in kept]


def data_with(kept: list[Kept], data: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A copy of the scenario that names the kept files; `folder` is that of the scenario, whose
    names are relative."""
    names = _names(kept)

    def renamed(key: object, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: renamed(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [renamed(key, inner) for inner in value]
        return (
            names.get(folder / value, value) if isinstance(value, str) and _is_key(key) else value
        )

    return {name: renamed(name, value) for name, value in copy.deepcopy(dict(data)).items()}


def text_with(kept: list[Kept], text: str, folder: Path) -> str:
    """The text of a scenario that names the kept files; all other text, including comments, is
    unchanged."""
    names = _names(kept)
    if not names:
        return text
    spans = {
        (node.start_mark.index, node.end_mark.index): names[folder / node.value]
        for node in _files(YAML(pure=True).compose(text))
        if folder / node.value in names
    }
    for (begin, end), name in sorted(spans.items(), reverse=True):
        before = text[:begin] + _PROPERTIES.match(text, begin).group()  # type: ignore[union-attr]
        text = f"{before}{json.dumps(name, ensure_ascii=False)}{text[end:]}"
    return text


_PROPERTIES = re.compile(r"(?:&\S+\s+)?")
"""An anchor is a part of the value's place; it matches an empty text too."""


def _names(kept: list[Kept]) -> dict[Path, str]:
    return {one.source: one.name for one in kept}


def _is_key(key: object) -> bool:
    return isinstance(key, str) and (key == KEY or key.endswith(f".{KEY}"))


def _files(root: Node | None) -> Iterator[ScalarNode]:
    """Values of keys that may name recordings. Aliases are nodes that are there several times."""
    left: list[tuple[Node | None, bool]] = [(root, False)]
    seen: set[tuple[int, bool]] = set()
    while left:
        node, is_file = left.pop()
        if node is None or (id(node), is_file) in seen:
            continue
        seen.add((id(node), is_file))
        if isinstance(node, MappingNode):
            left += [(value, _is_key(key.value)) for key, value in node.value]
        elif isinstance(node, SequenceNode):
            left += [(value, is_file) for value in node.value]
        elif is_file and isinstance(node, ScalarNode):
            yield node
