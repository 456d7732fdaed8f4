"""Two candidates at once: the second one as it is after the first is applied."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from tailrace.advice.candidate import Candidate
from tailrace.advice.candidates import candidates
from tailrace.advice.situation import Situation
from tailrace.scenario.loading import try_changes

NAME_CHARACTERS_MAX = 60
COMBINATION = "combination"
"""The group of combinations of two candidates."""


def combined(situation: Situation, ranked: Sequence[Candidate]) -> Candidate | None:
    """The best two of the ranked candidates that can be combined; None where no two can be
    combined."""
    pairs = sorted(combinations(range(len(ranked)), 2), key=lambda pair: (sum(pair), pair))
    for first, second in pairs:
        if ranked[first].group == ranked[second].group:
            continue
        both = together(situation, ranked[first], ranked[second])
        if both is not None:
            return both
    return None


def together(situation: Situation, first: Candidate, second: Candidate) -> Candidate | None:
    """Both changes at once; None where the second changes nothing after the first, or the result is
    invalid."""
    document, scenario, problems = try_changes(situation.document, first.changes)
    if scenario is None or problems:
        return None
    after = replace(situation, document=document, scenario=scenario)
    later = next(
        (one for one in candidates(after) if one.name == second.name and one.changes), None
    )
    if later is None:
        return None
    changes = _merged(first.changes, later.changes)
    _, found, problems = try_changes(situation.document, changes)
    if found is None or problems:
        return None
    return Candidate(
        name=f"{first.name}_{second.name}"[:NAME_CHARACTERS_MAX],
        group=COMBINATION,
        title=f"Both: {first.title}; {second.title}",
        changes=changes,
        acts_on=first.acts_on | second.acts_on,
        costs=" ".join(dict.fromkeys([first.costs, second.costs])),
        settings=first.settings + second.settings,
        evidence="; ".join(dict.fromkeys([first.evidence, second.evidence])),
    )


def _merged(first: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """The later changes contain the first ones where both set the same key; a key above others
    comes before them."""
    covered = [path for path in first if any(f"{path}.".startswith(f"{other}.") for other in later)]
    return {**{path: value for path, value in first.items() if path not in covered}, **later}
