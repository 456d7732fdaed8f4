"""No stage between a scenario file and its report takes work that grows faster than the
scenario."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from growth import EXPONENT_MAX, exponent, searched_lists
from tailrace import report, results
from tailrace.cli.listing import find_runs
from tailrace.cli.showing import show_queues
from tailrace.errors import ScenarioError
from tailrace.experiment.options import Options
from tailrace.experiment.plans import Plans
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.experiment.schedule import TrialKey
from tailrace.results.summary.summary import Summary
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.network.network import Network
from tailrace.scenario.network.topology import expand

Scenario = dict[str, Any]

FLOWS = {"all": {"kind": "flows", "sizes": "web-search", "load": "30%"}}
PFC = {
    "pfc": {"priorities": [3], "xoff": "30kB"},
    "queues": {"usual": {}, "kept": {"limit": "8MB"}},
}
LOSSLESS = {"lossless": {**PFC, "priorities": {3: "kept"}}}
DEEP = {"buffer": "4GB", "policy": "lossless"}


def scenario(network: Scenario, **sections: Any) -> Scenario:
    """A scenario of one trial that ends before anything arrives."""
    usual = {"workloads": FLOWS, "experiment": {"duration": "1us", "trials": 1}}
    return {"tailrace": 1, "name": "growth", "network": network} | usual | sections


def leaf_spine(size: int, **network: Any) -> Scenario:
    """As many leaves as the size, with four hosts each."""
    topology = {"kind": "leaf-spine", "leaves": size, "spines": 2, "hosts_per_leaf": 4}
    return {"topology": topology, **network}


def star(size: int) -> Scenario:
    """Four hosts for each unit of the size."""
    return {"topology": {"kind": "star", "hosts": 4 * size}}


def streams(size: int) -> Scenario:
    """One stream from each host of the star to the next."""
    hosts = 4 * size
    return {
        f"w{n}": {"kind": "stream", "source": f"h{n}", "destination": f"h{n % hosts + 1}"}
        for n in range(1, hosts + 1)
    }


def hosts(size: int) -> Scenario:
    """Settings for every host by itself."""
    return {
        f"h{n}": {"mtu": "1500B", "nic": {"rx_ring": "1000 frames"}} for n in range(1, 4 * size + 1)
    }


def expectations(size: int) -> list[Scenario]:
    """One of each host's stream, one of each port."""
    goodput = [
        {"metric": "goodput_gbps", "workload": f"w{n}", "at_least": 0}
        for n in range(1, 4 * size + 1)
    ]
    shares = [one | {"metric": "goodput_share_percent"} for one in goodput]
    return [
        *goodput,
        *shares,
        *(
            {"metric": "drops_frames", "port": f"switch>h{n}", "at_most": 0}
            for n in range(1, 4 * size + 1)
        ),
        *(
            {"metric": "paused_percent", "port": f"h{n}>switch", "at_most": 0}
            for n in range(1, 4 * size + 1)
        ),
    ]


SHAPES: dict[str, Callable[[int], Scenario]] = {
    "leaf-spine": lambda size: scenario(leaf_spine(size)),
    "spanning tree": lambda size: scenario(
        leaf_spine(size, spanning_tree={"protocol": "rapid-pvst", "vlans": {10: {}, 20: {}}})
    ),
    "pauses": lambda size: scenario(
        leaf_spine(size),
        policies=LOSSLESS,
        switches={"defaults": DEEP},
        workloads={"all": FLOWS["all"] | {"priority": 3}},
    ),
    "one switch with pauses": lambda size: scenario(
        star(size),
        policies=LOSSLESS,
        switches={"defaults": DEEP},
        workloads={"all": FLOWS["all"] | {"priority": 3}},
    ),
    "a stream for each host": lambda size: scenario(star(size), workloads=streams(size)),
    "settings of each host": lambda size: scenario(leaf_spine(size), hosts=hosts(size)),
    "settings of each switch": lambda size: scenario(
        leaf_spine(size),
        switches={f"leaf{n}": {"buffer": f"{n + 4000}kB"} for n in range(1, size + 1)},
    ),
    "policies of ports": lambda size: scenario(
        star(size),
        policies={"own": {"queues": {"usual": {"limit": "50kB"}}}},
        switches={"switch": {"ports": {f"h{n}": "own" for n in range(1, 4 * size + 1)}}},
    ),
    "observed ports": lambda size: scenario(
        star(size), observe={"ports": [f"switch>h{n}" for n in range(1, 4 * size + 1)]}
    ),
    "expectations": lambda size: scenario(
        star(size),
        workloads=streams(size),
        experiment={"duration": "1ms", "trials": 1},
        expect=expectations(size),
    ),
    "arms": lambda size: scenario(
        star(2), arms={f"a{n}": {"switches.defaults.buffer": f"{n + 4000}kB"} for n in range(size)}
    ),
    "workloads alone": lambda size: scenario(
        star(2),
        workloads={
            f"w{n}": {"kind": "stream", "source": "h1", "destination": "h2", "size": "1kB"}
            for n in range(size)
        },
        experiment={"duration": "1ms", "trials": 1, "solo": True},
    ),
}
"""By name a scenario of any size."""


@pytest.fixture(autouse=True)
def _lists_are_watched() -> Iterator[None]:
    with searched_lists():
        yield


@pytest.fixture(params=SHAPES)
def shape(request: pytest.FixtureRequest) -> Callable[[int], Scenario]:
    """One of the scenarios."""
    return SHAPES[request.param]


SIZE = 8
"""Of the smallest of the three scenarios."""


def test_a_search_of_all_hosts_for_each_host_is_seen() -> None:
    def action_of(size: int) -> Callable[[], object]:
        graph = expand(Network.model_validate(star(size)))
        return lambda: [name in graph.hosts for name in list(graph.hosts)]

    assert exponent(action_of, SIZE) > EXPONENT_MAX


def test_loading_is_linear(shape: Callable[[int], Scenario]) -> None:
    def action_of(size: int) -> Callable[[], object]:
        data = shape(size)
        return lambda: load_scenario(data)

    assert exponent(action_of, SIZE) <= EXPONENT_MAX


def test_many_overrides_are_linear() -> None:
    def action_of(size: int) -> Callable[[], object]:
        data = SHAPES["a stream for each host"](size)
        overrides = {f"workloads.{name}.connections": 2 for name in data["workloads"]}
        return lambda: load_scenario(data, overrides)

    assert exponent(action_of, SIZE) <= EXPONENT_MAX


def test_many_mistakes_are_told_in_linear_work() -> None:
    def action_of(size: int) -> Callable[[], object]:
        data = SHAPES["a stream for each host"](size)
        data["workloads"] = {
            name: {**one, "size": "1 kb s"} for name, one in data["workloads"].items()
        }

        def load() -> None:
            with pytest.raises(ScenarioError):
                load_scenario(data)

        return load

    assert exponent(action_of, SIZE) <= EXPONENT_MAX


def test_planning_is_linear(shape: Callable[[int], Scenario]) -> None:
    def action_of(size: int) -> Callable[[], object]:
        loaded = load_scenario(shape(size))

        def plan() -> None:
            experiment = ExperimentRun(loaded, Options())
            for arm in experiment.arms:
                json.loads(Plans({arm: experiment.scenarios[arm]}).json(TrialKey(arm, 1)))

        return plan

    assert exponent(action_of, SIZE) <= EXPONENT_MAX


def test_running_is_linear(shape: Callable[[int], Scenario], tmp_path: Path) -> None:
    def action_of(size: int) -> Callable[[], object]:
        experiment = ExperimentRun(
            load_scenario(shape(size)), Options(jobs=1, out=tmp_path / str(size))
        )
        return lambda: experiment.run()

    # The trials run in a thread, whose steps are not counted; what is planned and kept is.
    assert exponent(action_of, SIZE) <= EXPONENT_MAX


def test_results_are_linear(
    shape: Callable[[int], Scenario], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summaries: dict[Path, Summary] = {}
    for size in (SIZE, 2 * SIZE, 4 * SIZE):
        experiment = ExperimentRun(
            load_scenario(shape(size)), Options(jobs=1, out=tmp_path / str(size) / "run")
        )
        path = experiment.run().path
        summaries[path], _ = summarise_and_report(path)
    stages: dict[str, Callable[[Path], object]] = {
        "summarise": results.summarise,
        "report": report.write,
        "table": lambda run: results.format_table(summaries[run]),
        "list": lambda run: find_runs(run.parent),
        "compare": lambda run: results.format_compare(results.compare(run, run)),
        "show": lambda run: show_queues(run, None, 1, None, json_=True),
    }
    found = {stage: exponent(at_size(work, tmp_path), SIZE) for stage, work in stages.items()}
    capsys.readouterr()
    assert {stage: power for stage, power in found.items() if power > EXPONENT_MAX} == {}


def at_size(work: Callable[[Path], object], folder: Path) -> Callable[[int], Callable[[], object]]:
    """Work on the run of each size."""
    return lambda size: lambda: work(folder / str(size) / "run")
