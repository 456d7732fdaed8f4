"""Whatever a run has found, its headline is at most three sentences whose numbers and directions
are the table's."""

import re
from collections.abc import Sequence
from math import isclose, log

from hypothesis import given, settings
from hypothesis import strategies as st

from parts import part
from tailrace.results.compare.headline import headline
from tailrace.results.compare.phrases import DIGITS, SHORT
from tailrace.results.compare.tone import tone_of
from tailrace.results.format.numbers import change_text, digits_text
from tailrace.results.metrics.definitions import NAMES
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.figure import TableSubject
from tailrace.results.summary.summary import ArmSummary, RunFacts, Summary

MAINS = ("rate_per_s", "goodput_gbps", "completion_s", "latency_p99_ms", "latency_p50_ms")
NOUN = "requests"
NAMED = {"rate_per_s": f"{NOUN} per second"} | NAMES | SHORT
VALUE = r"(?:at least )?[\d.\u202fe−]+"
CLAUSE = re.compile(
    r"the (?P<metric>[a-z][a-z0-9. ]*?) of (?P<workload>w\d+) (?P<verb>rises?|falls?)"
    rf" from (?P<before>{VALUE}) to (?P<after>{VALUE})(?: (?:s|ms|Gbit/s))?"
    r"(?: \((?P<change>[^;)]*)[^)]*\))?(?P<unclear>, which is not significant)?"
)
COUNT = re.compile(
    r"(?:All (\d+) others|(\d+)) (?:is|are) (worse|better (?:in|with) one|better|undecided|known|without)"  # noqa: E501
)
VERB = re.compile(r"\b(?:rises?|falls?|is|are|do|does|cannot)\b")


@st.composite
def effects(draw: st.DrawFn, arm: str, workload: str, metric: str, *, is_main: bool) -> ArmEffect:
    before = draw(st.floats(0.01, 1e6))
    is_same = draw(st.booleans()) and draw(st.booleans())
    ratio = 1.0 if is_same else draw(st.floats(0.001, 300).filter(lambda one: abs(log(one)) > 1e-4))
    after = before * ratio
    way = "higher" if after > before else "lower"
    verdicts = (way, way, "no significant difference", "too few trials", "not comparable")
    told = draw(st.sampled_from(verdicts)) if is_main else "not tested"
    return part(
        ArmEffect,
        arm=arm,
        baseline="base",
        workload=workload,
        metric=metric,
        noun=NOUN,
        is_main=is_main,
        is_same=is_same,
        verdict="no significant difference" if is_same else told,
        baseline_value=before,
        arm_value=after,
        difference=after - before,
        ratio=ratio,
        change_percent=100 * (ratio - 1),
        trials=(4, 4),
        tests=9,
        trials_needed=6 if told == "too few trials" and not is_same else None,
    )


@st.composite
def summaries(draw: st.DrawFn) -> Summary:
    arms = [f"arm{number}" for number in range(1, 1 + draw(st.integers(1, 7)))]
    names = [f"w{number}" for number in range(1, 1 + draw(st.integers(1, 15)))]
    mains = {name: draw(st.sampled_from(MAINS)) for name in names}
    comparisons = [
        draw(effects(arm, name, metric, is_main=metric == main))
        for arm in arms
        for name, main in mains.items()
        for metric in dict.fromkeys((main, "latency_p99_ms"))
    ]
    return part(
        Summary,
        workloads=names,
        subjects=[part(TableSubject, name=name, members=[name]) for name in names],
        arms={arm: part(ArmSummary) for arm in ["base", *arms]},
        run=part(RunFacts, scale=1.0),
        comparisons=comparisons,
    )


@settings(max_examples=300, deadline=None)
@given(summaries())
def test_every_number_and_direction_is_that_of_the_table(summary: Summary) -> None:
    sentences = headline(summary)
    mains = [effect for effect in summary.comparisons if effect.is_main]
    assert 1 <= len(sentences) <= 3
    for sentence in sentences:
        assert sentence.endswith(".")
        assert VERB.search(sentence), sentence
    text = " ".join(sentences)
    for found in CLAUSE.finditer(text):
        assert any(_says(found, effect) for effect in summary.comparisons), found.group()
    if len(sentences) > 1 and sentences[1].startswith(("They", "It")):
        _values_are_those_of_arms(sentences[1], mains)
    _counts_are_those_of_tones(sentences[-1], mains, text)


def _says(found: re.Match[str], effect: ArmEffect) -> bool:
    """Whether a clause is what this effect is: name, values, direction, change and significance."""
    if (NAMED[effect.metric], effect.workload) != (found["metric"], found["workload"]):
        return False
    texts = [
        (digits_text(effect.baseline_value, digits), digits_text(effect.arm_value, digits))
        for digits in DIGITS
    ]
    way = "rise" if effect.arm_value > effect.baseline_value else "fall"
    is_unclear = effect.verdict == "no significant difference"
    return (
        (found["before"], found["after"]) in texts
        and found["verb"].startswith(way)
        and found["change"] == change_text(effect.change_percent)
        and bool(found["unclear"]) == is_unclear
    )


def _values_are_those_of_arms(sentence: str, mains: Sequence[ArmEffect]) -> None:
    """`They are 643 with arm2 and 12.5 with arm3`: best first, each the value of that arm."""
    shown = re.findall(r"([\d.\u202fe−]+)(?: ms| s| Gbit/s)? with (arm\d)", sentence)
    for value, arm in shown:
        own = [effect for effect in mains if effect.arm == arm]
        assert any(
            value in (digits_text(effect.arm_value, digits) for digits in DIGITS) for effect in own
        )


def _counts_are_those_of_tones(sentence: str, mains: Sequence[ArmEffect], text: str) -> None:
    found = COUNT.findall(sentence)
    counts = {
        "both" if " one" in words else words: int(every or some) for every, some, words in found
    }
    if not counts:
        return
    first = CLAUSE.search(text)
    lead = first["workload"] if first else re.findall(r" of (w\d+) ", text)[0]
    tones: dict[str, set[str]] = {}
    for effect in mains:
        tones.setdefault(effect.workload, set()).add(tone_of(effect))
    tones.pop(lead)
    both = sum({"better", "worse"} <= own for own in tones.values())
    worse = sum("worse" in own and "better" not in own for own in tones.values())
    better = sum("better" in own and "worse" not in own for own in tones.values())
    few = sum("few" in own and not own & {"better", "worse"} for own in tones.values())
    known = sum(
        "censored" in own and not own & {"better", "worse", "few"} for own in tones.values()
    )
    expected = {"worse": worse, "better": better, "undecided": few, "both": both, "known": known}
    expected["without"] = len(tones) - sum(expected.values())
    assert counts == {words: count for words, count in expected.items() if count}


@given(st.floats(1, 1e5), st.floats(1.0001, 1.01))
def test_values_that_differ_little_are_told_with_the_digits_that_show_it(
    before: float, ratio: float
) -> None:
    effect = part(
        ArmEffect,
        arm="b",
        baseline="a",
        workload="w1",
        metric="goodput_gbps",
        is_main=True,
        verdict="higher",
        baseline_value=before,
        arm_value=before * ratio,
        difference=before * (ratio - 1),
        ratio=ratio,
        change_percent=100 * (ratio - 1),
    )
    [sentence] = headline(part(Summary, comparisons=[effect]))
    found = CLAUSE.search(sentence)
    assert found
    low, high = (float(found[key].replace("\u202f", "")) for key in ("before", "after"))
    assert low < high
    assert isclose(high - low, before * (ratio - 1), rel_tol=0.26)
