"""Generated pages are what the program would write now, and the pieces that write them do what they
say."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import cli_reference
import crate_types
import generate_docs
import package_table
import readme_figure
import readme_table
import scenario_reference
from tailrace.live import registry
from tailrace.live.service import Service
from tailrace.programs.needed import Needed
from tailrace.results.directory.published import Band
from tailrace.scenario.lowering.plan import plan_hash
from tailrace.scenario.text import units

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", generate_docs.PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_generated_page_is_up_to_date(page: Path) -> None:
    assert page.read_text() == generate_docs.PAGES[page](), "run `make docs`"


@pytest.mark.parametrize("package", crate_types.PACKAGES, ids=lambda package: package.crate)
def test_the_types_of_a_crate_are_those_of_its_schema(package: crate_types.Package) -> None:
    schema = json.loads(package.schema.read_text())
    assert package.types.read_text() == package.render(schema), "run scripts/crate_types.py"


@pytest.mark.slow
@pytest.mark.parametrize("package", crate_types.PACKAGES, ids=lambda package: package.crate)
def test_the_schema_of_a_crate_is_that_of_its_types(package: crate_types.Package) -> None:
    assert package.schema.read_text() == package.printed_schema(), "run scripts/crate_types.py"


def test_the_committed_figures_belong_to_the_scenario_as_it_stands() -> None:
    summary = json.loads(readme_table.SUMMARY.read_text())
    scenario, scale = str(readme_table.SUMMARY.parent / "scenario.yaml"), str(summary["scale"])
    printed = {
        arm: cli_reference.printed(["plan", scenario, "--arm", arm, "--scale", scale])
        for arm in summary["completion_full_scale_s"]
    }
    hashes = {arm: plan_hash(json.loads(plan)) for arm, plan in printed.items()}
    assert {arm: summary["plan_hashes"][arm] for arm in hashes} == hashes, (
        "run it again, then `make docs RUN=runs/...`"
    )


def test_the_tutorial_lists_the_package_of_every_registered_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Second(Service):
        service_name = "second"
        needs = (
            Needed(
                "second-server", "second-db", version_option="--version", is_for="a second database"
            ),
        )

    services = {**registry.services(), "second": Second}
    assert "second-db" not in package_table.render()
    monkeypatch.setattr(registry, "services", lambda: services)
    assert (
        "| `second-server` | `second-db` | a second database |"
        in package_table.render().splitlines()
    )


def judged(metric: str, arm: str, value: float, published: float, passed: bool) -> dict[str, Any]:
    """An expectation as results hold it."""
    tolerance = "±10 %"
    names = {"metric": metric, "arm": arm, "baseline": None, "workload": "XS"}
    return names | {
        "value": value,
        "published": published,
        "tolerance": tolerance,
        "passed": passed,
        "source": "p. 7",
    }


@pytest.fixture
def result() -> dict[str, Any]:
    """A small `result.json`."""
    run = {
        "name": "sample",
        "seed": 7,
        "scale": 0.1,
        "trials_planned": 2,
        "is_partial": False,
        "problems": [],
    }
    workloads = {"XS": {"completion_full_scale_s": [570.123456789, 580]}}
    return {
        "run": run | {"versions": {"tailrace": "0.1.0"}, "plan_hashes": {"fifo": "ab"}},
        "workloads": ["XS"],
        "arms": {arm: {"workloads": workloads} for arm in ("fifo", "dpp")},
        "expectations": [
            judged("completion_s", "solo:XS", 300.4, 300, True),
            judged("completion_s", "fifo", 575.06, 572, True),
            judged("completion_s", "dpp", 306.0, 390, False),
            judged("acceleration_percent", "dpp", 46.8, 31.8, False),
        ],
    }


@pytest.fixture
def bands() -> list[Band]:
    """What the figures of `result` can prove."""
    xs = {"workload": "XS", "tolerance": "10%"}
    return [
        Band.parse(raw | xs, "test")
        for raw in (
            {"metric": "completion_s", "arm": "solo:XS", "value": 300, "kind": "fitted"},
            {"metric": "completion_s", "arm": "fifo", "value": 572, "kind": "independent"},
            {"metric": "completion_s", "arm": "dpp", "value": 390, "kind": "independent"},
            {
                "metric": "acceleration_percent",
                "arm": "dpp",
                "baseline": "fifo",
                "value": 31.8,
                "kind": "derived",
            },
        )
    ]


@pytest.fixture
def region() -> dict[str, Any]:
    """A small `map.json`."""
    value = {"name": "cores", "kind": "fitted", "base": "24", "stated": "20 to 28"}
    other = value | {"name": "clock error", "kind": "assumed"}
    holds = {"holds": {"6": "24", "5": "24", "4": None}}
    return {
        "figures": 2,
        "again_scale": 0.2,
        "values": [value | holds, other | holds],
        "verdict": "It does not hold.",
        "corners": {"5": 1, "3": 3},
    }


def test_the_table_groups_the_figures_by_what_they_can_prove(
    result: dict[str, Any], bands: list[Band], region: dict[str, Any]
) -> None:
    assert readme_table.table(readme_table.condense(result), bands, region).splitlines() == [
        "| kind | figure | XS |",
        "|---|---|---|",
        "| independent | fifo, s | 575 (572 ✓) |",
        "| independent | dpp, s | 306 (390 ✗) |",
        "| derived | faster with dpp, % | 46.8 (31.8 ✗) |",
        "| fitted one for one | alone, s | 300 (300 ✓) |",
        "",
        "Here (published, ✓ within the stated tolerance). 1 of 2 independent figures hold (and 0 "
        "of 1 derived, 1 of 1 fitted). With the mechanism disabled (arm equal to baseline), 1 of 2 "
        "would hold. Run with 0.1 of the published counts, 2 trials per arm, seed 7.",
        "",
        "1 values are fitted to the 2 independent figures together. The table shows the range over "
        "which all six, at least five or at least four figures hold when each value is varied "
        "alone, over its stated range and at least ±15 % (at 0.2 of the counts):",
        "",
        "| fitted value | here | stated range | six hold | five or more | four or more |",
        "|---|---|---|---|---|---|",
        "| cores | 24 | 20 to 28 | 24 | 24 | nowhere |",
        "",
        "It does not hold. With all of them at ±15 % simultaneously, six hold at 0 and four or "
        "more at 1 of 4 corners.",
    ]


def test_the_readme_counts_the_independent_figures_and_not_all_of_them() -> None:
    for page in (generate_docs.README, generate_docs.REPRODUCTION):
        text = page.read_text()
        assert "6 of 6 independent figures hold" in text
        assert "(arm equal to baseline), 3 of 6 would hold" in text
        assert "20 of 20" not in text


def test_a_partial_run_is_not_shown(result: dict[str, Any]) -> None:
    result["run"]["is_partial"] = True
    with pytest.raises(ValueError, match="complete runs only"):
        readme_table.condense(result)


def test_the_committed_summary_is_rounded(result: dict[str, Any]) -> None:
    summary = json.loads(readme_table.written(readme_table.condense(result)))
    assert summary["completion_full_scale_s"]["fifo"]["XS"] == [570.123, 580]


def test_only_the_block_between_the_markers_changes() -> None:
    page = f"before\n{readme_table.BEGIN}\nold\n{readme_table.END}\nafter\n"
    assert readme_table.replace_block(page, "new") == page.replace("old", "new")
    with pytest.raises(ValueError, match="lost the marker"):
        readme_table.replace_block("before\nafter\n", "new")


def test_the_figure_has_a_bar_per_arm_and_a_point_per_trial(result: dict[str, Any]) -> None:
    svg = ElementTree.fromstring(readme_figure.render(readme_table.condense(result)))
    tags = [element.tag.rpartition("}")[2] for element in svg.iter()]
    # The background, two bars and two keys; four points and one in the legend.
    assert (tags.count("rect"), tags.count("circle")) == (5, 5)
    assert "fifo: XS 575 s" in svg.attrib["aria-label"]


def test_the_reference_shows_defaults_with_units() -> None:
    assert scenario_reference.quantity(500_000, units.TIME) == "500ns"
    assert scenario_reference.quantity(10**10, units.RATE) == "10Gbit/s"
    assert scenario_reference.quantity(65_536, units.SIZE) == "64KiB"
    assert scenario_reference.quantity(4096, units.FRAMES) == "4096 frames"
    assert scenario_reference.quantity(0, units.TIME) == "0s"


def test_the_reference_follows_the_file_from_the_top() -> None:
    def refer(name: str) -> dict[str, str]:
        return {"$ref": f"#/$defs/{name}"}

    schema = {
        "properties": {"a": refer("A"), "b": {"type": "array", "items": refer("B")}},
        "$defs": {
            "B": {"properties": {}},
            "C": {"properties": {}},
            "A": {"properties": {"c": refer("C")}},
        },
    }
    assert scenario_reference.reading_order(schema) == ["A", "C", "B"]


def test_the_command_line_page_has_every_verb() -> None:
    page = cli_reference.render(lambda arguments: f"help of {arguments}")
    assert cli_reference.commands()
    assert [
        words
        for words in cli_reference.commands()
        if f"## tailrace {' '.join(words)}\n" not in page
    ] == []
