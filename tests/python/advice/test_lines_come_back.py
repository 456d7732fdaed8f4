"""Lines for switches, read again by the importers: the simulated policy comes back, or a remark
names what differs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tailrace.advice.candidates import candidates
from tailrace.advice.configuration import SwitchLines, configuration
from tailrace.advice.situation import Situation
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import Section, normal
from tailrace.importers.sonic.importer import import_sonic
from tailrace.scenario.loading import load_scenario, try_changes
from tailrace.scenario.scenario import Scenario

CASES = Path(__file__).parent / "cases"
READERS: dict[str, Callable[[str], tuple[Section, Remarks]]] = {
    "NX-OS": import_nxos,
    "SONiC": import_sonic,
}
WITHOUT_REMARKS = {
    ("NX-OS", "afd"),
    ("NX-OS", "wred-ecn"),
    ("NX-OS", "larger-share"),
    ("NX-OS", "mtu-9000"),
    ("SONiC", "alpha-0_5"),
    ("SONiC", "larger-share"),
}
"""Vendors and changes that all of which can be said."""


def lines_of(name: str) -> list[tuple[str, Scenario, SwitchLines]]:
    """The lines of every candidate of a case for every switch, with what they should mean."""
    loaded = load_scenario(CASES / f"{name}.yaml")
    present = next(iter(loaded.arms.values()))
    target = next(iter(present.running))
    found = []
    for one in candidates(Situation(loaded.document, present, (target,), "latency_p99_ms")):
        changed = try_changes(loaded.document, one.changes)[1] if one.changes else None
        if changed is not None:
            found += [
                (one.name, changed, lines)
                for lines in configuration(present, changed, one).switches
            ]
    return found


@pytest.mark.parametrize("name", ["prioritise", "pauses"])
def test_the_policy_comes_back_or_a_remark_names_what_differs(name: str) -> None:
    seen = 0
    for candidate, changed, lines in lines_of(name):
        section, remarks = READERS[lines.vendor](lines.text)
        assert [
            one for one in remarks.data() if one["verdict"] in ("not-understood", "not-modelled")
        ] == []
        policies, switch = section.models()
        wanted = changed.policy(changed.switch(lines.switch).policy)
        assert wanted is not None
        is_same = normal(policies[switch.policy]) == normal(wanted)
        is_same &= switch.classify == changed.switch(lines.switch).classify
        told = [one for one in lines.remarks if not one.startswith("switches.buffer:")]
        assert is_same or told, (candidate, lines)
        seen += 1
    assert seen > 10


def test_what_can_be_said_comes_back_without_a_remark() -> None:
    found = {
        (lines.vendor, candidate)
        for candidate, _, lines in lines_of("weights")
        if not [one for one in lines.remarks if not one.startswith("switches.buffer:")]
    }
    assert found >= WITHOUT_REMARKS


def test_lines_that_do_not_make_the_change_say_so() -> None:
    found = {(lines.vendor, candidate): lines for candidate, _, lines in lines_of("prioritise")}
    for key in (("SONiC", "dpp-120"), ("NX-OS", "codel"), ("SONiC", "codel")):
        assert not found[key].is_change
        assert found[key].remarks
    assert found["NX-OS", "dpp-120"].is_change
