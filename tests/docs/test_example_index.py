"""The index of the examples has all of them, with their own questions and arms; the README's table
takes from it."""

import json
from pathlib import Path

import pytest

import example_index
from scenario_files import EXAMPLES
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.yaml import load_yaml

RESULTS = json.loads(example_index.RESULTS.read_text())["examples"]


def test_every_example_is_in_the_index_with_its_question() -> None:
    page = example_index.PAGE.read_text()
    assert (
        sorted(example_index.LESSONS) == sorted(path.stem for path in EXAMPLES) == sorted(RESULTS)
    )
    for path in EXAMPLES:
        question = load_yaml(path.read_text(), is_marked=False)["description"]
        assert f"| [{path.stem}]({path.name}) | {question} | " in page


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_recorded_results_are_of_the_arms_and_the_figure_of_today(path: Path) -> None:
    result = RESULTS[path.stem]
    assert list(result["values"]) == list(load_scenario(path).arms), "run scripts/example_index.py"
    assert result["figure"] == example_index.LESSONS[path.stem].figure, (
        "run scripts/example_index.py"
    )
    assert None not in result["values"].values()


def test_the_table_of_features_takes_its_figures_from_the_examples() -> None:
    table = example_index.features()
    assert table.count("\n") == len(example_index.FEATURES) + 1
    for feature in example_index.FEATURES:
        assert set(feature.arms) <= set(RESULTS[feature.example]["values"])
