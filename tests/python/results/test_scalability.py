"""Scalability of a sweep: the sizes of its points, perfect growth, and what the text says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import tailrace
from lab import sound
from tailrace.results import format_result
from tailrace.results.directory.run_directory import Run
from tailrace.results.summary.sweep import Growth
from tailrace.results.sweep.scalability import summarise_scalability
from tailrace.results.sweep.scalability_text import scalability_sentences, scalability_table
from trial_files import read_trial, write_trial

pytestmark = pytest.mark.usefixtures("fake", "workplace")
USERS = "workloads.orders.users"
ENABLED = "workloads.orders.enabled"
CORES = "hosts.defaults.cpu.program_cores"


def swept(axes: Mapping[str, Sequence[Any]], *, out: str = "swept", **data: Any) -> list[Growth]:
    sweep = {"axes": axes, "combine": "paired" if len(axes) > 1 else "grid"}
    summary = tailrace.run(sound(sweep=sweep, **data), trials=1, arms="fifo", out=out).summary.swept
    return list(summary.scalability)


def with_rates(path: Path, rates: dict[str, int]) -> list[Growth]:
    """The run, with so many transactions of each point in its time."""
    for label, count in rates.items():
        file = path / "trials" / f"fifo@{label}" / "1.json"
        told = read_trial(file)
        [orders] = [own for own in told["workloads"] if own["name"] == "orders"]
        orders |= {"transactions": count, "completion_ps": 10**12}
        write_trial(file, told)
    return summarise_scalability(Run.read(path))


def test_sizes_are_users_and_perfect_growth_is_that_of_the_first_point(workplace: Path) -> None:
    swept({USERS: [4, 8, 12, 16, 20]})
    [grown] = with_rates(
        workplace / "swept", {f"users={n}": 100 * n // 4 - n for n in (4, 8, 12, 16, 20)}
    )
    assert (grown.noun, grown.metric, grown.first) == ("users", "rate_per_s", 4)
    assert [point.size for point in grown.points] == [4, 8, 12, 16, 20]
    assert [point.perfect for point in grown.points] == pytest.approx([96, 192, 288, 384, 480])
    assert [point.share for point in grown.points] == pytest.approx([1.0] * 5)
    assert grown.amdahl
    assert grown.amdahl.contention == pytest.approx(0, abs=1e-9)
    assert grown.amdahl.limit is None


def test_a_saturated_sweep_has_a_knee_and_a_law_that_does_not_fit_says_so(workplace: Path) -> None:
    counts = {1: 100, 2: 200, 3: 300, 4: 400, 5: 400, 6: 400, 7: 400, 8: 400}
    swept({USERS: list(counts)})
    [grown] = with_rates(workplace / "swept", {f"users={n}": count for n, count in counts.items()})
    assert grown.knee == 4
    text = "\n".join(scalability_sentences([grown]))
    assert "fifo: 50.0 % of perfect growth at users = 8, with the knee at users = 4." in text
    assert "fifo, Amdahl: serial share" in text
    assert "the law does not describe these points" in text
    assert "400.0 (50.0 %)" in scalability_table([grown])


def test_the_laws_have_the_coefficients_of_the_points(workplace: Path) -> None:
    """In multiples of the first point, whose four users are one database."""
    sizes = [1, 2, 4, 8, 16, 32]
    swept({USERS: [4 * n for n in sizes]})
    rates = {
        f"users={4 * n}": round(1e9 * n / (1 + 0.02 * (n - 1) + 0.001 * n * (n - 1))) for n in sizes
    }
    [grown] = with_rates(workplace / "swept", rates)
    assert grown.usl
    assert grown.usl.contention == pytest.approx(0.02, rel=1e-4)
    assert grown.usl.coherency == pytest.approx(0.001, rel=1e-4)
    assert grown.usl.peak == pytest.approx(31.3, abs=0.1)
    assert "most throughput at users = 125" in "\n".join(scalability_sentences([grown]))


def test_workloads_that_are_omitted_do_not_count() -> None:
    orders = sound()["workloads"]["orders"]
    workloads = {"orders": orders, "more": orders, "most": orders}
    axes = {
        "workloads.more.enabled": [False, True, True],
        "workloads.most.enabled": [False, False, True],
    }
    [grown] = swept(axes, workloads=workloads)
    users = orders["users"]
    assert [point.size for point in grown.points] == [users, 2 * users, 3 * users]


def test_where_users_do_not_change_the_axis_is_the_size() -> None:
    [grown] = swept({CORES: [1, 2, 4]})
    assert (grown.noun, [point.size for point in grown.points]) == ("program_cores", [1, 2, 4])


@pytest.mark.parametrize(
    "axes",
    [
        {"switches.leaf.buffer": ["1MB", "2MB", "4MB"]},
        {USERS: [1, 2]},
        {"hosts.defaults.mtu": ["1500B"]},
        # Plain numbers that count nothing that works.
        {"hosts.defaults.tcp.initial_window": [2, 4, 8]},
    ],
)
def test_a_sweep_without_sizes_has_no_scalability(axes: dict[str, Sequence[Any]]) -> None:
    assert swept(axes) == []


def test_a_grid_with_several_points_of_one_size_has_none() -> None:
    sweep = {"axes": {USERS: [1, 2, 4], "switches.leaf.buffer": ["1MB", "2MB"]}}
    summary = tailrace.run(sound(sweep=sweep), trials=1, out="grid").summary
    assert summary.swept.scalability == []
    assert "Scalability" not in format_result(summary)
