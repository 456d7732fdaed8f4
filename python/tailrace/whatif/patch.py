"""The changes of a scenario's value in a plan, as steps that a page can apply without lowering.

A step is `["set", path, value]`, `["remove", path]`, `["insert", path, index, value]`, or, of a
number within a line of text, `["digits", [*path, which], number]`. A path leads through keys,
indices, and, in lists whose elements have names, `{"name": ..}`: a workload keeps its position by
its name when another one is switched off.
"""

import re
from collections.abc import Sequence
from typing import Any

_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"0|[1-9]\d{0,14}")
"""A number that has the same digits again when it is written."""

PatchStep = list[Any]
Path = tuple[Any, ...]


def name_of(value: Any) -> str | None:
    """The name of an element of a plan: a host's, a switch's, a queue's or a workload's."""
    if not isinstance(value, dict):
        return None
    name = value.get(
        "name",
        value.get("header", {}).get("name") if isinstance(value.get("header"), dict) else None,
    )
    return name if isinstance(name, str) else None


def difference(before: Any, after: Any, path: Path = ()) -> list[PatchStep]:
    """The steps that make `before` equal to `after`."""
    if isinstance(before, dict) and isinstance(after, dict):
        removed: list[PatchStep] = [["remove", [*path, key]] for key in before if key not in after]
        changed = [
            step for key, value in after.items() for step in _of_key(before, key, value, path)
        ]
        return removed + changed
    if isinstance(before, list) and isinstance(after, list):
        found = _of_lists(before, after, path)
        if found is not None:
            return found
    same = type(before) is type(after) and before == after
    return [] if same else [["set", list(path), after]]


def in_lines(before: Any, steps: Sequence[PatchStep]) -> list[PatchStep]:
    """The same steps, in which lines that differ only in numbers have these changed: two values may
    be in one line."""
    found: list[PatchStep] = []
    for step in steps:
        old = _found(before, step[1]) if step[0] == "set" and isinstance(step[2], str) else None
        if not isinstance(old, str) or _DIGITS.split(old) != _DIGITS.split(step[2]):
            found.append(step)
            continue
        pairs = list(enumerate(zip(digits_of(old), digits_of(step[2]), strict=True)))
        if not all(_NUMBER.fullmatch(one) for _, pair in pairs for one in pair):
            found.append(step)
            continue
        found += [
            ["digits", [*step[1], which], int(new)] for which, (one, new) in pairs if one != new
        ]
    return found


def digits_of(line: str) -> list[str]:
    """The numbers in a line of text."""
    return _DIGITS.findall(line)


def _found(value: Any, path: Sequence[Any]) -> Any:
    """The value at a path; None where there is none."""
    for key in path:
        resolved = _resolved_key(value, key)
        if isinstance(value, dict) and resolved not in value:
            return None
        value = value[resolved]
    return value


def _of_key(before: dict[str, Any], key: str, value: Any, path: Path) -> list[PatchStep]:
    return (
        difference(before[key], value, (*path, key))
        if key in before
        else [["set", [*path, key], value]]
    )


def _of_lists(before: list[Any], after: list[Any], path: Path) -> list[PatchStep] | None:
    old, new = [name_of(value) for value in before], [name_of(value) for value in after]
    if None not in (*old, *new) and len(set(old)) == len(old) and len(set(new)) == len(new):
        kept = [name for name in old if name in new]
        if kept != [name for name in new if name in old]:
            return None
        steps: list[PatchStep] = [
            ["remove", [*path, {"name": name}]] for name in old if name not in new
        ]
        for index, (name, value) in enumerate(zip(new, after, strict=True)):
            if name in old:
                steps += difference(before[old.index(name)], value, (*path, {"name": name}))
            else:
                steps.append(["insert", list(path), index, value])
        return steps
    if len(before) != len(after):
        return None
    return [
        step
        for index, (one, other) in enumerate(zip(before, after, strict=True))
        for step in difference(one, other, (*path, index))
    ]


def applied(plan: Any, steps: Sequence[PatchStep]) -> Any:
    """A copy of the plan after the steps; `LookupError` where one leads nowhere."""
    for step in steps:
        plan = _applied(plan, step[1], step)
    return plan


def _applied(value: Any, path: Sequence[Any], step: PatchStep) -> Any:
    if isinstance(value, str) and step[0] == "digits":
        which = iter(range(len(value)))
        return _DIGITS.sub(
            lambda match: str(step[2]) if next(which) == path[0] else match[0], value
        )
    if not path:
        if step[0] == "insert":
            return [*value[: step[2]], step[3], *value[step[2] :]]
        return step[2]
    key = _resolved_key(value, path[0])
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    if len(path) == 1 and step[0] == "remove":
        # Two values may have the same remark, and take it away both.
        if isinstance(copy, list) or key in copy:
            del copy[key]
    elif len(path) == 1 and step[0] == "set":
        copy[key] = step[2]
    else:
        copy[key] = _applied(value[key], path[1:], step)
    return copy


def _resolved_key(value: Any, key: Any) -> Any:
    """A key or an index; for a name, the index of that element."""
    if not isinstance(key, dict):
        return key
    names = [name_of(element) for element in value]
    if key["name"] not in names:
        raise LookupError(f"no element is named {key['name']}")
    return names.index(key["name"])
