"""Every example is a lesson: it is loaded, run by the real simulator, and what it expects holds."""

from pathlib import Path

import pytest

import tailrace
from scenario_files import EXAMPLES, ROOT, SCENARIOS
from tailrace.experiment.plans import Plans
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.starter import STARTER

NAMES = [path.stem for path in EXAMPLES]
COMMENT_LINES_MIN = 2
LONG = {"frames", "leaf-spine", "nexus", "qcn", "slowdown", "spanning-tree", "wred"}
"""Examples that take more than a second. `test_an_example_is_explained` runs a fiftieth of each."""
EXPECTING = [
    pytest.param(path, marks=[pytest.mark.slow] * (path.stem in LONG), id=path.stem)
    for path in EXAMPLES
]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_an_example_explains_itself_and_expects_something(path: Path) -> None:
    head = path.read_text(encoding="utf-8").splitlines()
    assert all(line.startswith("# ") for line in head[:COMMENT_LINES_MIN])
    loaded = load_scenario(path)
    assert loaded.scenario.name == path.stem
    assert loaded.scenario.description.endswith("?")
    assert loaded.scenario.expect


@pytest.mark.parametrize("path", SCENARIOS, ids=[str(path.relative_to(ROOT)) for path in SCENARIOS])
def test_the_arms_of_a_shipped_scenario_differ(path: Path) -> None:
    hashes = Plans(load_scenario(path).arms).hashes
    assert len(set(hashes.values())) == len(hashes) > 1


# Some show what is warned of.
@pytest.mark.filterwarnings("ignore::tailrace.errors.ScenarioWarning")
@pytest.mark.parametrize("path", EXPECTING)
def test_what_an_example_expects_holds(path: Path, workplace: Path) -> None:
    summary = tailrace.run(path, trials=1, out=workplace / "run", explain=False).summary
    assert summary.run.problems == []
    assert [verdict for verdict in summary.expectations if verdict.passed is not True] == []
    assert (workplace / "run" / "report.html").stat().st_size < 1_000_000


@pytest.mark.smoke
def test_the_starter_runs_and_shows_its_point(workplace: Path) -> None:
    (workplace / "lab.yaml").write_text(STARTER, encoding="utf-8")
    summary = tailrace.run("lab.yaml", trials=1).summary
    assert [verdict.passed for verdict in summary.expectations] == [True]


@pytest.mark.smoke
def test_the_same_seed_has_the_same_digest_with_one_job_and_with_two(workplace: Path) -> None:
    one = tailrace.run(
        ROOT / "examples" / "dpp.yaml", trials=2, jobs=1, scale=0.2, out=workplace / "one"
    ).summary
    two = tailrace.run(
        ROOT / "examples" / "dpp.yaml", trials=2, jobs=2, scale=0.2, out=workplace / "two"
    ).summary
    for arm, outcome in one.arms.items():
        assert outcome.digests == two.arms[arm].digests
        assert None not in outcome.digests
    assert len({digest for arm in one.arms.values() for digest in arm.digests}) == 6
