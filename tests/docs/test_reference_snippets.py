"""The reference shows how every key is written, and the schema takes what it shows."""

import json

import pytest

import cli_reference
import scenario_reference
from mini_schema import faults
from reference_snippets import SNIPPETS
from tailrace.scenario.text.yaml import load_yaml

SCHEMA = json.loads(cli_reference.printed(["schema"]))
SECTIONS = scenario_reference.reading_order(SCHEMA)


def test_every_section_has_a_snippet() -> None:
    assert [name for name in SECTIONS if name not in SNIPPETS] == []
    assert [name for name in SNIPPETS if name not in SECTIONS] == []


@pytest.mark.parametrize("name", SECTIONS)
def test_a_snippet_has_every_key_and_the_schema_takes_it(name: str) -> None:
    written = load_yaml(SNIPPETS[name][1], is_marked=False)
    assert set(written) == set(SCHEMA["$defs"][name]["properties"])
    assert faults(written, SCHEMA["$defs"][name], SCHEMA) == []


def test_no_range_ends_at_the_largest_number_of_the_machine() -> None:
    page = scenario_reference.render(SCHEMA)
    assert str(2**63 - 1) not in page
    assert "whole number, at least 1" in page


def test_code_points_are_listed_once() -> None:
    page = scenario_reference.render(SCHEMA)
    assert page.count("`af43`") == 1
    assert "[code point](#code-points)" in page
