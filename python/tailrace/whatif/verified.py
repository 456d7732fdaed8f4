"""Several values together change plans and configurations as a scenario with all of them: verified
by lowering some."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailrace.scenario.lowering.plan import canonical_json
from tailrace.scenario.policies.pause import PRIORITIES
from tailrace.whatif.classes import VENDOR, named
from tailrace.whatif.configurations import VENDORS
from tailrace.whatif.content import Bundle
from tailrace.whatif.moves import CONFIGURATION, Moved, changes
from tailrace.whatif.patch import PatchStep, applied
from tailrace.whatif.together import Never, drawn_row, smallest

TRIED = 12
"""Combinations of positions and numbers that are compared with plans lowered for them."""
PLANS = ""
"""Plans are compared, and not the configuration of a vendor."""


def _combinations(bundle: Bundle) -> Iterator[dict[str, str]]:
    """The lowest and the highest positions of all knobs, and some in between, the same ones each
    time; by path."""
    drawn = random.Random(len(bundle.moved))
    for turn in range(TRIED):
        yield drawn_row(bundle.moved, drawn, ("low", "high")[turn] if turn < 2 else "any")


def check_combinations(bundle: Bundle) -> None:
    """The steps of several knobs together give the plan of a scenario with all of their values; a
    knob with which they do not is left out. One with which only configurations differ is kept
    without them.
    """
    for row in list(_combinations(bundle)):
        texts = _apart(bundle, bundle.together.repaired(bundle.moved, row))
        wrong = _first_that_depends(bundle, texts, PLANS)
        while wrong is not None:
            bundle.moved = [one for one in bundle.moved if one.path != wrong.path]
            bundle.left_out.append(f"{wrong.path}: what it changes depends on another knob")
            wrong = _first_that_depends(bundle, texts, PLANS)
        for vendor in VENDORS:
            wrong = _first_that_depends(bundle, texts, vendor)
            while wrong is not None:
                wrong.unwritten.add(vendor)
                wrong = _first_that_depends(bundle, texts, vendor)


def _apart(bundle: Bundle, texts: dict[str, str]) -> dict[str, str]:
    """These values, without pairs of positions whose effects depend on each other: they are not
    offered together."""
    while _is_same(bundle, texts, PLANS) is False:
        choices = [one for one in bundle.moved if one.number is None and texts[one.path] != one.own]

        def is_wrong(some: Sequence[Moved], here: Mapping[str, str] = texts) -> bool:
            return _is_same(bundle, {one.path: here[one.path] for one in some}, PLANS) is False

        pair = smallest(choices, is_wrong) if is_wrong(choices) else []
        if len(pair) != 2:
            break
        paths = (pair[0].path, pair[1].path)
        at = (texts[paths[0]], texts[paths[1]])
        bundle.together.nevers.append(
            Never(paths, at, "this page cannot put these values together")
        )
        texts = bundle.together.repaired(bundle.moved, texts)
    return texts


def _first_that_depends(bundle: Bundle, texts: Mapping[str, str], what: str) -> Moved | None:
    """The first knob, in their order, with which the plans are not those of the scenario any
    more."""
    kept = [one for one in bundle.moved if one.path in texts]
    if what:
        lacking = [one for one in kept if not one.is_written(what, texts[one.path])]
        groups = {one.knob.group for one in lacking if one.knob.group}
        kept = [one for one in kept if one not in lacking and one.knob.group not in groups]
    here = {one.path: texts[one.path] for one in kept}
    if _is_same(bundle, here, what) is not False:
        return None
    # The shortest beginning with which they differ, found by halving: it ends with the knob.
    same, other = 0, len(kept)
    while other - same > 1:
        middle = (same + other) // 2
        if _is_same(bundle, {one.path: texts[one.path] for one in kept[:middle]}, what) is False:
            other = middle
        else:
            same = middle
    return kept[other - 1]


def _is_same(bundle: Bundle, texts: Mapping[str, str], what: str) -> bool | None:
    """Whether steps and lowering agree; None where the scenario refuses these values together."""
    tried = bundle.lowering.tried(changes(bundle.moved, texts))
    if not tried.arms:
        return None
    for size in bundle.sizes:
        if (size.name == CONFIGURATION) != bool(what):
            continue
        plans = bundle.lowering.plans(tried.arms, size)
        for arm in bundle.lowering.chosen:
            steps = _steps(bundle, size.name, arm, texts, what)
            try:
                mine = None if steps is None else applied(bundle.plans[size.name][arm], steps)
            except LookupError:
                return False
            if mine is not None and what == VENDOR:
                mine = named(mine, bundle.locations[arm], _maps(bundle, texts))
            if mine is None or _compared(mine, what) != _compared(plans[arm], what):
                return False
    return True


def _maps(bundle: Bundle, texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The queue of each class of every policy."""
    found: dict[str, list[str]] = {}
    own = {one.path: one.own for one in bundle.moved} | dict(texts)
    for name, policy in bundle.loaded.scenario.policies.items():
        paths = [f"policies.{name}.priorities.{priority}" for priority in range(PRIORITIES)]
        found[name] = [
            own.get(path, policy.queue_of(priority)) for priority, path in enumerate(paths)
        ]
    return found


def _compared(plan: Any, what: str) -> str:
    """The plan, or the lines of a vendor."""
    if not what:
        return canonical_json(plan)
    return json.dumps({name: one["lines"] for name, one in plan[what].items()})


def _steps(
    bundle: Bundle, size: str, arm: str, texts: Mapping[str, str], what: str
) -> list[PatchStep] | None:
    """The steps to these values, of the plan or of the configuration of a vendor; None where a
    number has none."""
    found: list[PatchStep] = []
    for one in bundle.moved:
        steps = one.steps_of(size, arm, texts[one.path]) if one.path in texts else []
        if steps is None:
            return None
        found += [step for step in steps if not what or step[1][0] == what]
    return found
