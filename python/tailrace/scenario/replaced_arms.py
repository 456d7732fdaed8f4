"""The arms of a document, replaced by others."""

from collections.abc import Mapping
from typing import Any

from tailrace.scenario.text.document import Edit


def replace_arms(
    edit: Edit, arms: Mapping[str, Mapping[str, Any]], location: tuple[str, int]
) -> None:
    """Sets the arms, of which the first is the baseline; `location` is the file and the line that
    errors name."""
    edit.set(("arms",), {name: dict(changes) for name, changes in arms.items()}, location)
    if edit.section("experiment").get("baseline") is not None:
        edit.set(("experiment", "baseline"), None, location)
