"""Sections that are missing because their keys, or a similar name, are at the top level; reported
once."""

from collections.abc import Sequence
from difflib import get_close_matches

from pydantic_core import ErrorDetails

from tailrace.errors import Problem
from tailrace.scenario.experiment import Experiment, Observe
from tailrace.scenario.network.network import Network
from tailrace.scenario.text.document import Document
from tailrace.scenario.text.quantities import Part

SECTIONS: dict[str, type[Part]] = {"experiment": Experiment, "observe": Observe, "network": Network}
"""Sections with keys of their own."""
NEAR_SECTION = 0.8
"""Similarity above which an unknown key is taken for a missing section."""


def misplaced(
    errors: Sequence[ErrorDetails], document: Document
) -> tuple[list[ErrorDetails], list[Problem]]:
    """The errors without those caused by a misplaced section, and a problem for each such
    section."""
    unknown = [
        str(each["loc"][0])
        for each in errors
        if each["type"] == "extra_forbidden" and len(each["loc"]) == 1
    ]
    missing = {
        str(each["loc"][0])
        for each in errors
        if each["type"] == "missing" and len(each["loc"]) == 1
    }
    reported = {
        name for name in missing if get_close_matches(name, unknown, n=1, cutoff=NEAR_SECTION)
    }
    problems = []
    for section, model in SECTIONS.items():
        keys = [key for key in unknown if key in model.model_fields]
        if keys:
            reported |= {*keys, section} if section in missing else set(keys)
            problems.append(_problem(section, keys, document))
    rest = [each for each in errors if len(each["loc"]) != 1 or each["loc"][0] not in reported]
    return rest, problems


def _problem(section: str, keys: Sequence[str], document: Document) -> Problem:
    listed = ", ".join(f"'{key}'" for key in keys)
    what = (
        f"{listed} {'belongs' if len(keys) == 1 else 'belong'} to '{section}', not to the top level"
    )
    hint = f"indent {'it' if len(keys) == 1 else 'them'} below '{section}:'"
    return document.problem((keys[0],), what, hint)
