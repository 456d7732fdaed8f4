"""Loads a file as checked scenarios, one for each arm, and reports all of their problems at
once."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from tailrace.errors import KeyPath, Problem, ScenarioError, closest, dotted, few
from tailrace.scenario.checks.cautions import cautions
from tailrace.scenario.checks.problems import PROBLEMS_MAX, check
from tailrace.scenario.checks.unused import keys_of_kinds
from tailrace.scenario.large import refuse_unsound_values
from tailrace.scenario.misplaced import misplaced
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import AT, Point
from tailrace.scenario.text.document import Document, Edit, data_document, read_yaml
from tailrace.scenario.text.including import read_scenario, with_includes
from tailrace.scenario.wording import problem_of, real_path
from tailrace.scenario.workloads.recording import FOLDER

WARNED_MAX = 200
"""Arms at points of a sweep that are checked for warnings; beyond it, only the arms without the
sweep are."""
NAMED_MAX = 3
"""Arms that a warning names at most."""
ANY_DURATION = "1h"
"""Replaces a missing duration while the rest is checked."""
FIXED = ("tailrace", "arms", "include")
"""Sections that no override can change."""
TOGETHER = ("policies",)
"""Sections of entries that are units: an ill-formed value may be the cause of any other problem in
its entry."""
WHOLE = ("workloads", "expect", "assumptions")
"""Sections whose entries with an ill-formed value are not checked further."""


@dataclass(frozen=True)
class Loaded:
    """A checked scenario file."""

    document: Document
    """The file with the overrides of the command line, before those of the arms."""
    scenario: Scenario
    """The scenario without the overrides of any arm."""
    arms: dict[str, Scenario]
    """The scenario of each arm."""
    warnings: tuple[Problem, ...] = ()
    """Warnings about settings that may make the results misleading."""
    points: tuple[Point, ...] = ()
    """Points of the sweep, in order; none without one, and of a large one, whose points are made
    when they run."""
    swept: dict[str, Scenario] = field(default_factory=dict)
    """The scenario of each arm at each point, by `Point.arm`; points in order, and arms in order at
    each."""

    @property
    def is_large(self) -> bool:
        """Whether the sweep has so many points that it keeps only figures of its trials."""
        return self.scenario.sweep is not None and self.scenario.sweep.is_large

    @property
    def published_path(self) -> Path | None:
        """The file with published figures."""
        name = self.scenario.published
        return None if name is None else self.document.folder / name


@dataclass(frozen=True)
class Given:
    """A value that an option of the command line other than `--set` gave."""

    option: str
    value: Any


Source = Path | str | Sequence[Path | str] | Mapping[str, Any]
"""A scenario file, several that are merged in order, or a scenario as data."""


def load_scenario(source: Source, overrides: Mapping[str, Any] | None = None) -> Loaded:
    """Reads and checks a scenario; raises `ScenarioError` with all of its problems.

    `overrides` are dotted paths and values, as given by `--set`, or by another option (`Given`);
    they take precedence over the file, and arms over both.
    """
    document = _document(source)
    if overrides:
        edit = document.edited()
        for key, override in overrides.items():
            given = override if isinstance(override, Given) else Given("--set", override)
            _override(
                edit,
                key,
                given.value,
                at=edit.on_command_line(given.option),
                name=f"{given.option} {key}",
            )
        document = edit.document()
    return load_document(document)


def load_document(document: Document) -> Loaded:
    """Checks a document with its included files merged; raises `ScenarioError` with all of its
    problems."""
    base, problems = _parsed(document)
    if base is None:
        raise ScenarioError(problems)
    arms: dict[str, Scenario] = {}
    documents: dict[str, Document] = {}
    for name in base.arm_names:
        arm_document, arm_problems = _arm_document(document, name, base.arms.get(name, {}))
        # An arm without changes equals the scenario, whose problems are already known.
        scenario, found = (base, []) if arm_document is document else _parsed(arm_document, base)
        problems += arm_problems + found
        if scenario is not None:
            arms[name], documents[name] = scenario, arm_document
    if problems:
        raise ScenarioError(problems)
    if base.sweep is not None and base.sweep.is_large:
        if both := contested(document, base):
            raise ScenarioError(both)
        refuse_unsound_values(document, base, lambda *at: scenario_at(*at)[1])
        points: tuple[Point, ...] = ()
    else:
        points = tuple(base.sweep.points()) if base.sweep is not None else ()
    swept, swept_documents = _swept(document, base, points)
    warned = {**arms, **swept} if len(swept) <= WARNED_MAX else arms
    warnings = (*_replaced(base, document), *_warnings(warned, {**documents, **swept_documents}))
    return Loaded(document, base, arms, tuple(sorted(warnings)), points, swept)


def document_of(loaded: Loaded, arm: str) -> Document:
    """The document with the changes of one arm, which must exist."""
    return _arm_document(loaded.document, arm, loaded.scenario.arms.get(arm, {}))[0]


def try_changes(
    document: Document, changes: Mapping[str, Any]
) -> tuple[Document, Scenario | None, list[Problem]]:
    """The document with values set at dotted paths, as an arm sets them, its scenario, and its
    problems. Without a scenario there is at least one.
    """
    changed, problems = _changed(document, changes, ("arms",))
    scenario, found = _parsed(changed) if not problems else (None, [])
    return changed, scenario, problems + found


def scenario_at(
    document: Document, arm: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[Scenario | None, list[Problem]]:
    """The scenario of an arm, given by its changes, at one point of a sweep, and its problems. The
    document has no sections `arms` and `sweep`.
    """
    here, problems = _changed(document, values, ("sweep", "axes"))
    of_arm, more = _changed(here, arm, ("arms",)) if not problems else (here, [])
    scenario, found = _parsed(of_arm) if not problems and not more else (None, [])
    return scenario, problems + more + found


def _swept(
    document: Document, base: Scenario, points: Sequence[Point]
) -> tuple[dict[str, Scenario], dict[str, Document]]:
    """Every arm at every point, and its document; raises `ScenarioError` with the problems of all
    of them."""
    problems = contested(document, base)
    swept: dict[str, Scenario] = {}
    documents: dict[str, Document] = {}
    for point in points if not problems else ():
        here, found = _changed(document, point.values, ("sweep", "axes"))
        problems += found
        for name in base.arm_names if not found else ():
            arm_document, arm_problems = _arm_document(here, name, base.arms.get(name, {}))
            scenario, of_arm = _parsed(arm_document)
            problems += arm_problems + of_arm
            if scenario is not None:
                swept[point.arm(name)], documents[point.arm(name)] = scenario, arm_document
    if problems:
        raise ScenarioError(problems)
    return swept, documents


def contested(document: Document, base: Scenario) -> list[Problem]:
    """Keys that both an arm and the sweep set."""
    return [
        document.problem(
            ("arms", arm, path),
            "the arm sets what the sweep varies",
            "remove it from the arm, or remove the axis",
        )
        for arm, changes in base.arms.items()
        for path in (base.sweep.axes if base.sweep else ())
        if any(f"{key}.".startswith(f"{path}.") for key in changes)
    ]


def _document(source: Source) -> Document:
    if isinstance(source, Mapping):
        return with_includes(data_document(dict(source)))
    paths = [source] if isinstance(source, Path | str) else source
    return read_scenario([Path(path) for path in paths])


def _warnings(
    arms: Mapping[str, Scenario], documents: Mapping[str, Document]
) -> tuple[Problem, ...]:
    """Warnings of all arms, each once; arms are named where not all of them have it."""
    arms_of: dict[Problem, list[str]] = {}
    for name, scenario in arms.items():
        for path, what, hint in cautions(scenario, scenario.graph):
            arms_of.setdefault(documents[name].problem(path, what, hint), []).append(name)
    of_arms = [
        problem
        if len(names) == len(arms)
        else replace(problem, what=f"in arm {few(names, NAMED_MAX)}: {problem.what}")
        for problem, names in arms_of.items()
    ]
    return tuple(sorted([*of_arms, *_unused(arms, documents), *_equal_arms(arms, documents)]))


def _unused(arms: Mapping[str, Scenario], documents: Mapping[str, Document]) -> Iterator[Problem]:
    """Warnings about keys that none of the arms that have them uses."""
    is_used: dict[Problem, bool] = {}
    lists: dict[Problem, tuple[KeyPath, int]] = {}
    # Arms may have different hints about one key.
    known: dict[Problem, Problem] = {}
    for name, scenario in arms.items():
        for path, what, hint, uses in keys_of_kinds(scenario):
            found = documents[name].problem(path, what, hint)
            problem = known.setdefault(replace(found, hint=""), found)
            is_used[problem] = is_used.get(problem, False) or uses
            if isinstance(path[-1], int):
                lists[problem] = path[:-1], path[-1]
    unused = [problem for problem, uses in is_used.items() if not uses]
    yield from (problem for problem in unused if problem not in lists)
    yield from _of_lists({problem: lists[problem] for problem in unused if problem in lists})


def _of_lists(found: Mapping[Problem, tuple[KeyPath, int]]) -> Iterator[Problem]:
    """One problem for all entries of a list with the same problem: lists that were imported have
    dozens."""
    grouped: dict[tuple[str, KeyPath, str], list[tuple[int, Problem]]] = {}
    for problem, (at, key) in found.items():
        grouped.setdefault((problem.file, at, problem.what), []).append((key, problem))
    for entries in grouped.values():
        (_, first), *rest = sorted(entries)
        others = few([str(key) for key, _ in rest], NAMED_MAX)
        noun = "entry" if len(rest) == 1 else "entries"
        yield (
            replace(first, what=f"{first.what}; the same holds for {noun} {others}")
            if rest
            else first
        )


def _replaced(base: Scenario, document: Document) -> Iterator[Problem]:
    """Warnings about arms that replace a whole section and so lose some of its keys, which is
    rarely intended."""
    for name, changes in base.arms.items():
        for section, value in changes.items():
            written = document.data.get(section)
            if "." in section or not isinstance(value, dict) or not isinstance(written, dict):
                continue
            lost = [dotted((section, *path)) for path in _lost(written, value)]
            if lost:
                what = f"it replaces the whole section and removes {few(lost, NAMED_MAX)}"
                hint = f"write dotted paths, such as {_first_path(section, value)}"
                yield document.problem(("arms", name, section), what, hint)


def _lost(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[KeyPath]:
    for key, value in before.items():
        if key not in after:
            yield (key,)
        elif isinstance(value, dict) and isinstance(after[key], dict):
            yield from ((key, *path) for path in _lost(value, after[key]))


def _first_path(section: str, value: Mapping[str, Any]) -> str:
    path, inner = [section], value
    while isinstance(inner, Mapping) and inner:
        key = next(iter(inner))
        path.append(str(key))
        inner = inner[key]
    return f"{'.'.join(path)}: {inner}"


def _equal_arms(
    arms: Mapping[str, Scenario], documents: Mapping[str, Document]
) -> Iterator[Problem]:
    """Warnings about arms that equal an earlier arm."""
    first: dict[str, str] = {}
    for name, scenario in arms.items():
        if AT in name:
            continue
        same = first.setdefault(repr(scenario.model_copy(update={"arms": {}})), name)
        if same != name:
            what = f"arm '{name}' equals arm '{same}': both give the same results"
            yield documents[name].problem(
                ("arms", name), what, "add a change to it, such as switches.leaf.policy: dpp"
            )


def parse_assignment(text: str) -> tuple[str, Any]:
    """Parses `key.path=value` of the command line; the value is YAML."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(
            [
                Problem(
                    f"--set {text}",
                    0,
                    "",
                    "expected key=value",
                    "write, for example, experiment.trials=3",
                )
            ]
        )
    try:
        data, _ = read_yaml(value, f"--set {key.strip()}")
    except (
        ScenarioError
    ) as error:  # line numbers within a command-line value are not lines of a file
        raise ScenarioError([replace(problem, line=0) for problem in error.problems]) from None
    return key.strip(), data


def _arm_document(
    document: Document, arm: str, changes: Mapping[str, Any]
) -> tuple[Document, list[Problem]]:
    return _changed(document, changes, ("arms", arm))


def _changed(
    document: Document, changes: Mapping[str, Any], section: KeyPath
) -> tuple[Document, list[Problem]]:
    """The document with values set at dotted paths; `section` is the section with these changes."""
    if not changes:
        return document, []
    problems: list[Problem] = []
    edit = document.edited()
    for key, value in changes.items():
        at: KeyPath = (*section, key)
        try:
            _override(edit, key, value, at=document.location_of(at), name=dotted(at))
        except ScenarioError as error:
            problems += [
                document.problem(at, problem.what, problem.hint) for problem in error.problems
            ]
    return edit.document(), problems


def _override(edit: Edit, key: str, value: object, *, at: tuple[str, int], name: str) -> None:
    path = tuple(int(part) if part.isdecimal() else part for part in re.split(r"\.", str(key)))
    if path[0] not in Scenario.model_fields or path[0] in FIXED:
        settable = [name for name in Scenario.model_fields if name not in FIXED]
        near = get_close_matches(str(path[0]), settable, n=1)
        hint = (
            f"did you mean '{near[0]}'?"
            if near
            else "start the path with workloads, switches, policies, hosts, network, ..."
        )
        raise ScenarioError([Problem(name, 0, "", f"'{path[0]}' cannot be set", hint)])
    known = edit.section("workloads")
    if path[0] == "workloads" and len(path) > 2 and known and path[1] not in known:
        hint = closest(str(path[1]), [str(one) for one in known], "workloads")
        raise ScenarioError([Problem(name, 0, "", f"there is no workload '{path[1]}'", hint)])
    try:
        edit.set(path, value, at)
    except KeyError as error:
        what = f"'{error.args[0]}' does not exist"
        raise ScenarioError(
            [Problem(name, 0, "", what, "a path consists of dotted keys and list positions")]
        ) from None


def _parsed(
    document: Document, base: Scenario | None = None
) -> tuple[Scenario | None, list[Problem]]:
    """`base` is the scenario of which the document is an arm; its arms have been checked
    already."""
    data = (
        document.data
        if base is None
        else {key: document.data[key] for key in document.data if key != "arms"}
    )
    try:
        scenario = Scenario.model_validate(data, context={FOLDER: document.folder})
    except ValidationError as error:
        errors, problems = misplaced(error.errors(), document)
        listed = islice(errors, PROBLEMS_MAX)
        return None, [
            *problems,
            *(problem_of(details, document) for details in listed),
            *_rest(document, error),
        ]
    if base is not None:
        scenario = scenario.model_copy(update={"arms": base.arms})
    return scenario, check(scenario, document, is_arm=base is not None)


def _rest(document: Document, error: ValidationError) -> list[Problem]:
    """Problems that remain without the ill-formed values, so that all can be corrected at once."""
    blamed: set[KeyPath] = set()
    for details in error.errors():
        path = real_path(details["loc"], document.data)
        # A workload that lacks a value is removed; elsewhere the default is used.
        blamed.add(path[:2] if path[0] in WHOLE and len(path) > 1 else path)
    rest = document.without(blamed)
    if isinstance(experiment := rest.data.setdefault("experiment", {}), dict):
        experiment.setdefault("duration", ANY_DURATION)
    try:
        scenario = Scenario.model_validate(rest.data, context={FOLDER: rest.folder})
    except ValidationError:
        return []
    missing = {str(path[-1]) for path in blamed}
    return [
        problem
        for problem in check(scenario, rest)
        if not any(f"'{name}'" in problem.what for name in missing)
        and not _is_near(problem.path, blamed)
    ]


def _part(at: KeyPath) -> KeyPath:
    """The part of a scenario that an ill-formed value belongs to."""
    if at[0] in TOGETHER and len(at) > 1:
        return at[:2]
    return at if at[0] in WHOLE else at[:-1] or at


def _is_near(path: str, blamed: set[KeyPath]) -> bool:
    """Whether a problem may be caused by an ill-formed value: it is in the part from which the
    value was removed."""
    parts = [(_part(at), at) for at in blamed]
    return any(
        f"{path}.".startswith(dotted(part) + ".") or dotted(at).startswith(f"{path}.")
        for part, at in parts
    )
