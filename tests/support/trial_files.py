"""Stored trials as tests look at them: one object of what is known of the trial and of its
outcome."""

import json
from pathlib import Path
from typing import Any

from tailrace.outcome.stored import StoredTrial, TrialHead
from whole import stored


class Absent(dict[str, Any]):
    """An object in which a key that is absent is None: the types of outcomes do not tell the two
    apart."""

    def __missing__(self, key: str) -> None:
        return None


def read_trial(file: Path) -> Absent:
    """The keys of a stored trial and those of its outcome."""
    held: Absent = json.loads(file.read_text(encoding="utf-8"), object_hook=Absent)
    return Absent((held.pop("outcome") or {}) | held)


def write_trial(file: Path, content: dict[str, Any]) -> StoredTrial:
    """What `read_trial` has given, after a change; what an outcome has to have besides is
    nothing."""
    head = {
        key: content[key]
        for key in TrialHead.__struct_fields__
        if key in content and key != "format"
    }
    parts = {key: value for key, value in content.items() if key not in TrialHead.__struct_fields__}
    return stored(file, head.pop("arm"), head.pop("trial"), parts or None, **head)
