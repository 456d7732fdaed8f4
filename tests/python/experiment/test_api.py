"""`import tailrace` in a program or a notebook."""

import pydoc
from pathlib import Path

import pytest

import tailrace
from lab import sound
from tailrace.errors import RunRefusedError
from tailrace.files import read_json

pytestmark = pytest.mark.usefixtures("fake", "workplace")


def test_a_dictionary_can_be_run() -> None:
    result = tailrace.run(sound(), trials=1, scale=0.5, seed=7, set={"workloads.orders.users": 2})
    assert isinstance(result, tailrace.Result)
    assert result.summary.run.seed == 7
    assert result.summary.arms.keys() == {"fifo", "dpp"}


def test_a_file_can_be_run_and_run_again(workplace: Path) -> None:
    from tailrace.scenario.starter import STARTER

    (workplace / "lab.yaml").write_text(STARTER, encoding="utf-8")
    first = tailrace.run("lab.yaml", trials=1, arms=["dpp"], out="mine", jobs=1)
    assert (workplace / "mine" / "report.html").is_file()
    assert (
        tailrace.run(Path("lab.yaml"), trials=1, arms=["dpp"], out="mine").summary == first.summary
    )


def test_mistakes_raise_scenario_errors_with_all_problems() -> None:
    with pytest.raises(tailrace.ScenarioError) as refused:
        tailrace.load(sound(nme="x", workloads__orders__users=0))
    assert len(refused.value.problems) == 2


def test_one_arm_can_be_named_by_itself() -> None:
    assert list(tailrace.run(sound(), trials=1, arms="dpp").summary.arms) == ["dpp"]


@pytest.mark.parametrize("jobs", [0, -1])
def test_no_jobs_are_refused(jobs: int) -> None:
    with pytest.raises(tailrace.TailraceError, match="jobs must be at least 1"):
        tailrace.run(sound(), trials=1, jobs=jobs)


def test_unknown_names_of_the_package_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'runs'"):
        _ = tailrace.runs


def test_what_deserves_a_look_is_a_warning() -> None:
    policy = {
        "queues": {"san": {"share": "50%", "limit": "10kB"}, "lan": {}},
        "pfc": {"priorities": [3]},
    }
    scenario = sound(policies__fifo=policy | {"priorities": {3: "san"}})
    assert tailrace.load(scenario).warnings
    with pytest.warns(tailrace.ScenarioWarning, match="lossless queue 'san' drops above"):
        tailrace.run(scenario, trials=1, arms="fifo")


def test_arms_with_the_workload_are_compared_where_another_arm_is_without_it() -> None:
    arms = {
        "without": {"workloads.backup.enabled": False},
        "fifo": {"switches.leaf.policy": "fifo"},
        "dpp": {},
    }
    summary = tailrace.run(sound(arms=arms, workloads__backup__size="1MB"), trials=1).summary
    assert {arm: list(found.workloads) for arm, found in summary.arms.items()} == {
        "without": ["orders"],
        "fifo": ["orders", "backup"],
        "dpp": ["orders", "backup"],
    }
    assert {effect.workload for effect in summary.comparisons} == {"orders"}


def test_the_package_shows_its_interface_and_nothing_else() -> None:
    assert [name for name in dir(tailrace) if not name.startswith("__")] == sorted(tailrace.__all__)
    shown = pydoc.plain(pydoc.render_doc(tailrace))
    for name in (
        "run(scenario",
        "sweep(scenario",
        "load(scenario",
        "latency(self",
        "compare(self",
        "class ScenarioError",
    ):
        assert name in shown


def test_a_search_and_a_study_have_functions_that_no_module_hides(workplace: Path) -> None:
    import tailrace.search.search
    import tailrace.sensitivity.study

    users = "workloads.orders.users"
    found = tailrace.search_for(
        sound(), {users: [1, 2, 4]}, "orders.p50 < 5ms", maximise="users", out="found"
    )
    assert found.found is not None
    assert found.found.values == {users: 4}
    assert read_json(workplace / "found" / "search.json")["found"]["trials"] == 6
    study = tailrace.sensitivity_of(
        sound(),
        {"network.link.delay": "1us..5us"},
        assumptions=False,
        figures="orders.p99",
        trajectories=2,
        samples=0,
        checks=0,
        out="study",
    )
    assert [factor.name for factor in study.factors] == ["delay"]
    assert {"sensitivity.json", "sensitivity.md", "tornado.svg"} <= {
        file.name for file in study.path.iterdir()
    }


def test_places_and_large_sweeps_are_refused_in_words() -> None:
    with pytest.raises(RunRefusedError, match="--jobs requires --on local"):
        tailrace.run(sound(), on="dask://127.0.0.1:9", jobs=2)
    with pytest.raises(RunRefusedError, match="no Dask scheduler answers: Connection refused"):
        tailrace.run(sound(), on="dask://127.0.0.1:9")
    axes: dict[str, list[object]] = {
        "workloads.orders.users": list(range(1, 52)),
        "switches.leaf.buffer": [f"{n}MB" for n in range(1, 51)],
    }
    with pytest.raises(RunRefusedError, match="more than 2000 points"):
        tailrace.sweep(sound(), axes)
