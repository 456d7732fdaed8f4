"""A kind of workload is known to its own modules: nothing else compares its name or takes its
class.

What follows from outcomes does not even name one: `results`, `report` and `timeline` have no kind
among their texts, but in the modules of the registry by which kinds add figures and tables.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.facts import ALWAYS_RECORDED, LATENCY
from tailrace.scenario.workloads.kinds import KINDS, UnknownKindError, facts_of, kind_named

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python" / "tailrace"
FOLDER = PACKAGE / "scenario" / "workloads"
FIT = PACKAGE / "fit"
"""Writes workloads into a scenario, as a user does."""
LIVE = {PACKAGE / "live", PACKAGE / "programs", PACKAGE / "exact" / "programs"}
"""Programs of live and exact runs read the bodies of the loads that they generate."""
COMMON = {"frames"}
"""Names that are ordinary words of outcomes too: their kinds are only seen where their classes are
imported."""
NAMES = set(KINDS) - COMMON
OF_OUTCOMES = [PACKAGE / name for name in ("results", "report", "timeline")]
REGISTRY = PACKAGE / "results" / "kinds"
ORDINARY = {
    "report/charts/flow_slowdown.py": ["flows"],
    "results/causes/causes.py": ["datagrams"],
}
"""Texts that are no kind: a column of a chart's data, and a column of a table."""
CLASSES = {kind.__name__ for kind in KINDS.values()}


def choices(source: str) -> Iterator[str]:
    """Places where a kind is told from another: a name that is compared, matched or looked up, or a
    class."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from (text for side in (left, *others) for text in _names(side))
            case ast.Subscript(slice=key):
                yield from _names(key)
            case ast.Dict(keys=keys):
                yield from (text for key in keys if key is not None for text in _names(key))
            case ast.MatchValue(value=value):
                yield from _names(value)
            case ast.ImportFrom(module=str(module)) if module.startswith(
                "tailrace.scenario.workloads."
            ):
                yield from (alias.name for alias in node.names if alias.name in CLASSES)


def _names(node: ast.expr) -> Iterator[str]:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    yield from (
        part.value for part in parts if isinstance(part, ast.Constant) and part.value in NAMES
    )


@pytest.mark.parametrize(
    "source",
    [
        "if kind == 'oltp': pass",
        "found = kind in ('flows', 'datagrams')",
        "raw = tagged['stream']",
        "words = {'datagrams': 'delay'}",
        "match kind:\n    case 'oltp': pass",
        "from tailrace.scenario.workloads.oltp import Oltp",
    ],
)
def test_a_choice_by_kind_is_seen(source: str) -> None:
    assert list(choices(source))


def test_nothing_outside_its_modules_chooses_by_kind() -> None:
    files = [file for file in PACKAGE.rglob("*.py") if not {FOLDER, FIT, *LIVE} & set(file.parents)]
    found = {
        str(file.relative_to(PACKAGE)): list(choices(file.read_text(encoding="utf-8")))
        for file in files
    }
    assert {file: named for file, named in found.items() if named} == {}


def texts(source: str) -> list[str]:
    """Names of kinds among the texts of a module, wherever they stand."""
    return [
        text
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr)
        for text in _text(node)
    ]


def _text(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and node.value in NAMES:
        yield node.value


@pytest.mark.parametrize(
    "source",
    [
        "KINDS = frozenset({'flows', 'mpi'})",
        "own = bodies.get('stream')",
        "HEAD = ['blocks', 'arm']",
        "say(kind='oltp')",
    ],
)
def test_a_name_of_a_kind_is_seen(source: str) -> None:
    assert texts(source)


def test_what_follows_from_outcomes_names_no_kind() -> None:
    files = [
        file
        for folder in OF_OUTCOMES
        for file in folder.rglob("*.py")
        if REGISTRY not in file.parents
    ]
    found = {
        str(file.relative_to(PACKAGE)): texts(file.read_text(encoding="utf-8")) for file in files
    }
    assert {file: named for file, named in found.items() if named} == ORDINARY


def test_modules_of_kinds_do_not_know_the_scenario() -> None:
    for file in FOLDER.glob("*.py"):
        assert "tailrace.scenario.scenario" not in file.read_text(encoding="utf-8"), file.name


def test_every_kind_of_the_plan_has_its_class() -> None:
    folder = ROOT / "crates" / "plan" / "src" / "workloads"
    others = {"mod", "distribution"}
    assert {file.stem for file in folder.glob("*.rs")} - others == set(KINDS)


def test_every_kind_has_a_module_of_its_name() -> None:
    assert {name: kind.__module__.rpartition(".")[2] for name, kind in KINDS.items()} == {
        name: name for name in KINDS
    }


def test_a_kind_without_an_answer_cannot_be_made() -> None:
    class Silent(WorkloadKind):
        """Answers nothing."""

        kind: Literal["silent"]

    with pytest.raises(TypeError, match="abstract method"):
        Silent(kind="silent")  # type: ignore[abstract]


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_registered_kind_answers_everything(kind: type[WorkloadKind]) -> None:
    assert kind.__abstractmethods__ == frozenset()


@pytest.mark.parametrize("name", KINDS)
def test_a_kind_is_compared_by_metrics_that_it_has(name: str) -> None:
    facts = facts_of(name)
    load = [facts.load_metric[0]] if facts.load_metric else []
    for metric in (*facts.main_metrics, *facts.sweep_metrics, *load):
        assert facts.has_metric(metric), metric
    assert not any(
        metric.startswith(LATENCY) or metric in ALWAYS_RECORDED for metric in facts.metrics
    )


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(UnknownKindError, match="no kind of workload 'streams'"):
        kind_named("streams")
