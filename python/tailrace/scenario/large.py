"""The points of a large sweep: each is made and checked when it runs, and none is kept."""

from collections.abc import Callable, Mapping
from typing import Any

from tailrace.errors import Problem, ScenarioError
from tailrace.scenario.replaced_arms import replace_arms
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.sweep import Sweep
from tailrace.scenario.text.document import Document

VALUES_CHECKED_MAX = 500
"""Values of an axis that are checked before the first trial; of more, evenly spread ones are."""
LEFT_OUT: Mapping[str, object] = {"sweep": None, "expect": [], "published": None, "assumptions": []}
"""Sections about points other than the running one, or about all of them."""


def document_of_points(document: Document) -> Document:
    """The document to which the values of a point are applied."""
    edit = document.edited()
    for section, value in LEFT_OUT.items():
        if section in document.data:
            edit.set((section,), value, document.location_of((section,)))
    replace_arms(edit, {}, document.location_of(("arms",)))
    return edit.document()


Problems = Callable[[Document, Mapping[str, Any], Mapping[str, Any]], list[Problem]]
"""The problems of an arm, given by its changes, at one point of a sweep."""


def refuse_unsound_values(document: Document, base: Scenario, problems_at: Problems) -> None:
    """Raises `ScenarioError` where a value of an axis is invalid in any arm, the other axes at
    their first values.

    Values that are invalid only together are found when their point runs.
    """
    sweep = base.sweep
    assert sweep is not None, "a large sweep is a sweep"
    plain = document_of_points(document)
    for path in sweep.axes:
        found = [
            problem
            for index in _spread(len(sweep.axes[path]))
            for problem in _at(plain, base, sweep, path, index, problems_at)
        ]
        if found:
            raise ScenarioError(
                [document.problem(("sweep", "axes", path), one.what, one.hint) for one in found[:1]]
            )


def _at(
    plain: Document, base: Scenario, sweep: Sweep, path: str, index: int, problems_at: Problems
) -> list[Problem]:
    first = {
        other: values[index if other == path or sweep.combine == "paired" else 0]
        for other, values in sweep.axes.items()
    }
    changes = [base.arms.get(arm, {}) for arm in base.arm_names]
    problems = [problems_at(plain, of_arm, first) for of_arm in changes]
    return problems[0] if all(problems) else []


def _spread(count: int) -> list[int]:
    """Indices of at most `VALUES_CHECKED_MAX` values, the first and the last among them."""
    if count <= VALUES_CHECKED_MAX:
        return list(range(count))
    return sorted(
        {round(step * (count - 1) / (VALUES_CHECKED_MAX - 1)) for step in range(VALUES_CHECKED_MAX)}
    )
