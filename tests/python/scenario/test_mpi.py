"""MPI jobs: what is refused, where ranks are, and what stands in the plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.mpi import EAGER_LIMIT, SIZES, Mpi

JOB: dict[str, Any] = {"kind": "mpi", "hosts": ["client", "db"]}


def merged(changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (JOB | changes).items() if value is not ...}


def job(**changes: Any) -> Mpi:
    found = load(workloads__job=merged(changes)).scenario.workloads["job"]
    assert isinstance(found, Mpi)
    return found


@pytest.mark.parametrize(
    ("changes", "key", "what"),
    [
        ({"hosts": []}, ".hosts", "the list of hosts is empty"),
        ({"hosts": ["db"]}, ".hosts", "at least two ranks"),
        ({"hosts": ["db", "db"]}, ".hosts", "a host is named twice"),
        ({"hosts": ["db", "dbb"]}, ".hosts.1", "there is no host 'dbb'"),
        ({"ranks": 1}, ".ranks", "2"),
        ({"ranks": 128}, ".ranks", "127"),
        ({"map_by": "core"}, ".map_by", "node"),
        ({"pattern": "gather"}, ".pattern", "allreduce"),
        ({"algorithm": "ring"}, ".algorithm", "pingpong has no choice of algorithms"),
        (
            {"pattern": "allreduce", "algorithm": "bruck"},
            ".algorithm",
            "recursive-doubling, ring, rabenseifner, and not bruck",
        ),
        ({"sizes": []}, ".sizes", "1"),
        ({"sizes": ["8B", "8B"]}, ".sizes", "a size is named twice"),
        ({"sizes": ["2GiB"]}, ".sizes.0", "longer than 1 GiB"),
        ({"pattern": "allreduce", "sizes": ["6B"]}, ".sizes.0", "no whole number of floats"),
        ({"pattern": "allreduce", "sizes": ["0B"]}, ".sizes.0", "no whole number of floats"),
        ({"pattern": "barrier", "sizes": ["8B"]}, ".sizes", "a barrier has no sizes"),
        ({"iterations": 0}, ".iterations", "at least 1"),
        (
            {"compute": "1000s"},
            ".compute",
            "not shorter than the trial: no rank begins an iteration",
        ),
        ({"start": "1000s"}, ".start", "after the end of the trial"),
        ({"reduce_rate": "0bit/s"}, ".reduce_rate", "greater than zero"),
        ({"copy_rate": "0bit/s"}, ".copy_rate", "greater than zero"),
        ({"local_rate": "0bit/s"}, ".local_rate", "greater than zero"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_key(
    changes: dict[str, Any], key: str, what: str
) -> None:
    found = problems(sound(workloads__job=merged(changes)))
    assert any(
        problem.startswith(f"workloads.job{key}: ") and what in problem for problem in found
    ), found


def test_ranks_are_placed_in_turn_or_host_by_host() -> None:
    assert job(ranks=5).rank_hosts == ["client", "db", "client", "db", "client"]
    assert job(ranks=5, map_by="slot").rank_hosts == ["client", "client", "client", "db", "db"]
    assert job().rank_hosts == ["client", "db"]


def test_sizes_and_iterations_are_those_of_the_benchmarks() -> None:
    assert job().message_sizes == SIZES
    assert (SIZES[:4], SIZES[-1]) == ([0, 1, 2, 4], 4 << 20)
    assert job(pattern="allreduce").message_sizes[0] == 4
    assert job(pattern="barrier").message_sizes == [0]
    assert [job().iterations_of(size) for size in (0, 40_000, 64 << 10, 4 << 20)] == [
        1000,
        1000,
        640,
        10,
    ]
    assert job(volume="1B").iterations_of(4) == 1


def test_the_plan_has_every_value() -> None:
    scenario = load(
        workloads__job=merged({"pattern": "bcast", "algorithm": "chain", "sizes": ["1MiB"]})
    ).scenario
    planned = next(
        own for own in lower(scenario, "t", 1)["workloads"] if own["header"]["name"] == "job"
    )
    body = planned["body"]["mpi"]
    assert (body["pattern"], body["algorithm"], body["ranks"]) == (
        "bcast",
        "chain",
        ["client", "db"],
    )
    assert (body["sizes_bytes"], body["iterations"], body["eager_limit_bytes"]) == (
        [1 << 20],
        [40],
        EAGER_LIMIT,
    )
    assert (body["copy_bps"], body["local_bps"]) == (0, 40 * 10**9)
    assert Mpi.work_in(body) == 80
    assert Mpi.work_in(body | {"pattern": "pingpong"}) == 40


def test_a_shorter_trial_has_fewer_iterations() -> None:
    assert job(iterations=100).scaled(0.25).iterations == 25
    assert job(iterations=1).scaled(0.25).iterations == 1


def test_ranks_without_work_and_hosts_without_a_network_are_warnings() -> None:
    def warnings(**changes: Any) -> str:
        return " ".join(str(caution) for caution in load(workloads__job=merged(changes)).warnings)

    assert "the other 2 do nothing" in warnings(ranks=4)
    assert "nothing crosses the network" in warnings(hosts=["db"], ranks=2)
    assert "job" not in warnings(pattern="ring", ranks=4)
