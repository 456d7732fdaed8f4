"""The cost of a client: its arithmetic, the rule that was set before, and the page."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import client_cost
from client_cost_page import (
    ABOVE,
    BELOW,
    NEEDED_NS,
    SIZES,
    WITHIN,
    Cost,
    conclusion,
    costs_of,
    data_of,
    is_contradicted,
    line_of,
    page,
    place,
    verdicts,
)
from tailrace.programs.postgres import Installation
from tailrace.scenario.text.units import RATE, parse
from variations import WORKLOADS

MACHINE = {
    "processor": "a processor",
    "clock": "2.00 GHz",
    "clock_hz": 2e9,
    "counts_cycles": False,
    "system": "Linux",
    "postgresql": "15",
    "tcl": "8.6",
    "pgtcl": "2.7",
    "rounds": 3,
}


def costs(per_byte_ns: float, per_call_us: float = 50, program: str = "tcl list") -> list[Cost]:
    """A client that needs so much for each byte and for each call."""
    listed = []
    for size, size_bytes in SIZES.items():
        cpu_s = 10 * (per_call_us * 1e-6 + per_byte_ns * 1e-9 * size_bytes)
        listed.append(Cost(program, "one field", size, 10, (2 * cpu_s, cpu_s, 1.5 * cpu_s)))
    return listed


def test_a_cost_is_that_of_the_fastest_round() -> None:
    cost = Cost("tcl exec", "one field", "XS", 100, (0.2, 0.1, 0.12))
    assert cost.per_call_us == pytest.approx(1000)
    assert cost.per_byte_ns == pytest.approx(1e6 / 18_000)
    assert cost.spread_percent == pytest.approx(20)


def test_cycles_are_counted_or_the_time_at_the_clock() -> None:
    cost = Cost("tcl exec", "one field", "XS", 100, (0.2, 0.1))
    assert cost.per_byte_cycles(2e9) == pytest.approx(2 * cost.per_byte_ns)
    counted = replace(cost, cycles=(9e6, 5.4e6))
    assert counted.per_byte_cycles(2e9) == pytest.approx(3)


def test_the_line_tells_the_call_from_the_bytes() -> None:
    line = line_of(costs(20, per_call_us=70)[:3])
    assert line.per_byte_ns == pytest.approx(20)
    assert line.per_call_us == pytest.approx(70)


@pytest.mark.parametrize(
    ("per_byte_ns", "where"),
    [(8.99, BELOW), (9, WITHIN), (20, WITHIN), (44, WITHIN), (44.01, ABOVE)],
)
def test_the_rule_has_its_bounds_where_it_says(per_byte_ns: float, where: str) -> None:
    assert place(per_byte_ns) == where


@pytest.mark.parametrize(("per_byte_ns", "contradicted"), [(5, True), (20, False), (60, True)])
def test_a_client_outside_the_bounds_contradicts(per_byte_ns: float, contradicted: bool) -> None:
    found = costs(per_byte_ns)
    assert is_contradicted(found) == contradicted
    assert conclusion(found).startswith(
        "The hypothesis is contradicted" if contradicted else "The hypothesis is not"
    )


def test_one_size_outside_contradicts_a_way_and_one_way_within_saves_the_hypothesis() -> None:
    cheap = [replace(cost, cpu_s=(1e-6,)) if cost.size == "L2" else cost for cost in costs(20)]
    assert is_contradicted(cheap)
    other = costs(20, program="tcl select")
    assert not is_contradicted(cheap + other)
    assert [verdict.is_contradicted for verdict in verdicts(cheap + other)] == [True, False]


def test_other_programs_are_no_judges() -> None:
    found = costs(3) + costs(20, program="psql")
    assert is_contradicted(found)
    assert [verdict.program for verdict in verdicts(found)] == ["tcl list"]


def test_the_page_says_a_contradiction() -> None:
    assert "**The hypothesis is contradicted." in page(data_of(costs(3), MACHINE))
    assert "**The hypothesis is not contradicted for 1 of 1 ways" in page(
        data_of(costs(20), MACHINE)
    )


def test_what_each_size_needs_is_what_the_scenario_says() -> None:
    statements = {name: work["round_trips"][0] for name, work in WORKLOADS.items()}
    for name, rate in (
        ("XS to M", statements["M"]),
        ("L1", statements["L1"]),
        ("L2", statements["L2"]),
    ):
        assert NEEDED_NS[name] == pytest.approx(8e9 / parse(rate["consume_rate"], RATE), abs=0.1)


def test_data_survives_the_file() -> None:
    found = costs(20)
    again = costs_of(json.loads(json.dumps(data_of(found, MACHINE))))
    assert [cost.per_byte_ns for cost in again] == pytest.approx(
        [cost.per_byte_ns for cost in found], rel=1e-2
    )


def test_the_committed_page_is_that_of_the_committed_data() -> None:
    data = json.loads(client_cost.DATA.read_text())
    assert client_cost.PAGE.read_text() == page(data), "run client_cost.py --page"
    assert data == data_of(costs_of(data), data["machine"]), "run client_cost.py --page"
    ways = {cost.program for cost in costs_of(data)}
    assert ways == {"tcl exec", "tcl list", "tcl select", "pgbench", "psql"}


def test_what_perf_prints_is_read() -> None:
    assert client_cost.cycles_in("1234567,,cycles:u,1000,100.00,,\n") == 1_234_567
    assert client_cost.cycles_in("<not supported>,,cycles,0,100.00,,\n") is None
    assert client_cost.cycles_in("") is None


def test_the_clock_and_the_processor_are_those_that_the_system_states() -> None:
    cpuinfo = (
        "model name\t: EPYC\ncpu family\t: 25\nmodel\t: 1\ncpu MHz\t: "
        "2445.430\n\ncpu MHz\t: 2000.0\n"
    )
    assert client_cost.clock_of(cpuinfo) == pytest.approx(2.44543e9)
    assert client_cost.processor_of(cpuinfo) == "EPYC (family 25, model 1)"


def test_each_program_does_as_many_calls_as_it_is_told(tmp_path: Path) -> None:
    psql = client_cost.Client("psql", "psql")
    installed = Installation(Path("/usr/bin"), "15")
    argv = psql.argv(installed, tmp_path, "select 1", 3)
    assert (tmp_path / "psql-3.sql").read_text() == "select 1;\n" * 3
    assert f"--file={tmp_path / 'psql-3.sql'}" in argv
    bench = client_cost.Client("pgbench", "pgbench").argv(installed, tmp_path, "select 1", 7)
    assert "--transactions=7" in bench
    tcl = client_cost.Client("tcl list", "tcl", "list").argv(installed, tmp_path, "select 1", 5)
    assert tcl[2:] == ["list", "select 1", "5"]
