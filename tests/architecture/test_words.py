"""Words and limits that both languages have. The extension decides: scenarios are refused where
plans are."""

import math

import pytest

from tailrace import _native
from tailrace.scenario import vocabulary
from tailrace.scenario.checks import pause, policies, problems, trees
from tailrace.scenario.network import spanning_tree
from tailrace.scenario.policies import switch, weights
from tailrace.scenario.text import distribution
from tailrace.scenario.text.units import TIME
from tailrace.scenario.workloads import datagrams, oltp, storage_checks, stream

# Name in the extension, and the value that the lab has.
LIMITS = {
    "clock_offset_ppb_max": problems.CLOCK_PPB_MAX,
    "connection_bps_min": stream.CONNECTION_BPS_MIN,
    "datagram_bytes_max": datagrams.PAYLOAD_BYTES_MAX,
    "erlang_shape_max": distribution.ERLANG_SHAPE_MAX,
    "flow_table_entries_min": policies.FLOW_ENTRIES_MIN,
    "mtu_bytes_max": switch.MTU_BYTES_MAX,
    "mtu_bytes_min": switch.MTU_BYTES_MIN,
    "oltp_pieces_max": oltp.PIECES_MAX,
    "oltp_statements_max": oltp.STATEMENTS_MAX,
    "pause_refresh_wire_bytes_min": pause.REFRESH_WIRE_BYTES_MIN,
    "qcn_set_point_bytes_min": switch.QCN_SET_POINT_BYTES_MIN,
    "storage_under_way_max": storage_checks.UNDER_WAY_MAX,
    "trap_entries_min": policies.FLOW_ENTRIES_MIN,
    "tree_bridge_priority_step": switch.BRIDGE_PRIORITY_STEP,
    "tree_links_max": trees.CHOSEN_LINKS_MAX,
    "tree_path_cost_max": spanning_tree.PATH_COST_MAX,
    "tree_port_priority_step": spanning_tree.PORT_PRIORITY_STEP,
    "tree_switches_max": trees.CHOSEN_SWITCHES_MAX,
    "trees_max": 1 + spanning_tree.INSTANCES_MAX,
    "vlan_max": spanning_tree.VLAN_MAX,
    "weight_milli_max": weights.WEIGHT_MAX,
}

# A distribution of each kind, as a scenario has it, with its smallest and largest value in
# milliseconds.
DISTRIBUTIONS: dict[str, tuple[object, float, float]] = {
    "constant": ("8ms", 8, 8),
    "uniform": ("uniform(1ms, 9ms)", 1, 9),
    "exponential": ("exponential(8ms)", 0, math.inf),
    "normal": ("normal(8ms, 1ms)", 0, math.inf),
    "log-normal": ("lognormal(8ms, 0.5)", 0, math.inf),
    "erlang": ("erlang(8ms, 4)", 0, math.inf),
    "cumulative": ({"cdf": [["2ms", "50%"], ["10ms", "100%"]]}, 2, 10),
}
MS_PS = 10**9


def test_an_expectation_can_name_every_cause_of_drops() -> None:
    assert sorted(_native.drop_causes()) == sorted(vocabulary.DROP_CAUSES)


def test_every_limit_of_the_simulator_has_its_constant_in_the_lab() -> None:
    assert set(LIMITS) == set(_native.limits())


@pytest.mark.parametrize("name", LIMITS)
def test_a_scenario_is_refused_where_its_plan_would_be(name: str) -> None:
    assert LIMITS[name] == _native.limits()[name]


def test_a_scenario_can_write_every_distribution_of_a_plan() -> None:
    assert set(DISTRIBUTIONS) == set(_native.distributions())


@pytest.mark.parametrize("kind", DISTRIBUTIONS)
def test_the_lab_knows_the_bounds_and_the_tail_of_a_distribution(kind: str) -> None:
    written, smallest, largest = DISTRIBUTIONS[kind]
    read = distribution.parse_distribution(written, TIME)
    assert list(read.raw) == [kind]
    assert (read.smallest, read.largest) == (smallest * MS_PS, largest * MS_PS)
    assert read.above(1_000 * read.mean) == pytest.approx(0, abs=1e-6)
    assert read.mean_up_to(20 * read.mean) == pytest.approx(read.mean, rel=0.01)
