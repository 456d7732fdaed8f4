"""The Cisco reproduction's `sensitivity.md` covers every fitted and assumed value of its
scenario."""

import re
from pathlib import Path

from tailrace.scenario.loading import load_scenario
from tailrace.sensitivity.factor import of_assumptions
from tailrace.sensitivity.figures import of_published

HERE = Path(__file__).resolve().parents[2] / "reproductions" / "cisco-dpp"
LOADED = load_scenario(HERE / "scenario.yaml")
PAGE = (HERE / "sensitivity.md").read_text(encoding="utf-8")


def test_every_fitted_and_assumed_value_can_be_varied_and_is() -> None:
    factors, left = of_assumptions(LOADED.scenario, LOADED.document)
    assert left == []
    marked = [
        part.name for part in LOADED.scenario.assumptions if part.mark in ("assumed", "fitted")
    ]
    assert [factor.name for factor in factors if factor.mark != "default"] == marked
    for factor in factors:
        assert f"| {factor.name} | {factor.mark} | {factor.present} | {factor.range_text} |" in PAGE
        for share in factor.ends:
            factor.applied(LOADED.document, share)


def test_the_conclusions_are_the_published_signs_and_orders() -> None:
    figures, conclusions = of_published(LOADED, list(LOADED.arms))
    assert len(figures) == 15
    words = [one.words for one in conclusions]
    assert "XS: dpp better than fifo: above zero (published 31.8 %)" in words
    assert not any(word.startswith(("L1: dpp better", "L2: dpp better")) for word in words), (
        "negligible, says the paper"
    )
    assert "XS.completion, dpp below XS.completion, fifo (published 390 and 572 s)" in words
    for word in words:
        assert f"| {word} |" in PAGE
    assert re.search(r"All hold in this region: |No region around the present", PAGE)
