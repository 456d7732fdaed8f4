"""Flow lists of the HPCC family and connection matrices of htsim."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from counts import cases
from tailrace.errors import Problem, ScenarioError
from tailrace.importers.flow_lists import importer
from tailrace.importers.flow_lists.importer import import_flows
from tailrace.importers.remarks import Remarks
from tailrace.importers.whole import WholeScenario
from tailrace.scenario.loading import load_scenario

HPCC = "3\n2 1 3 100 200000000 2.000000\n3 1 3 100 5000 2.000000085\n4 4 3 100 10 2.1\n"
HTSIM = (
    "Nodes 16\nConnections 3\n0->13 id 1 start 0 size 2000000\n13->0 start 1000000 size "
    "0\n1->2 trigger 1 size 5\n"
)
Imported = tuple[WholeScenario | None, Remarks]


def imported(folder: Path, text: str, **variables: str) -> Imported:
    file = folder / "list.txt"
    file.write_text(text)
    return import_flows(file, variables)


def refusal(folder: Path, text: str, **variables: str) -> str:
    with pytest.raises(ScenarioError) as caught:
        imported(folder, text, **variables)
    [problem] = caught.value.problems
    assert problem.hint
    return str(problem)


def test_each_flow_has_its_ends_size_and_start(tmp_path: Path) -> None:
    scenario, remarks = imported(tmp_path, HPCC)
    assert scenario is not None
    assert scenario.hosts == ["h1", "h2", "h3"]
    assert scenario.workloads["flow1"] == {
        "kind": "flows",
        "sources": ["h2"],
        "destinations": ["h1"],
        "sizes": "200MB",
        "interarrival": "1s",
        "flows": 1,
        "first_at_start": True,
        "group": "list",
        "priority": 3,
        "start": "2s",
    }
    assert scenario.workloads["flow2"]["start"] == "2000000085ns"
    assert [(one.line, one.verdict) for one in remarks.ordered() if one.line] == [
        (1, "understood"),
        (2, "understood"),
        (4, "not-modelled"),
    ]


def test_a_matrix_has_streams_where_the_size_is_zero_and_no_flow_that_another_starts(
    tmp_path: Path,
) -> None:
    scenario, remarks = imported(tmp_path, HTSIM)
    assert scenario is not None
    assert [keys["kind"] for keys in scenario.workloads.values()] == ["flows", "stream"]
    assert scenario.workloads["flow2"]["start"] == "1us", "csg-htsim has picoseconds"
    assert remarks.count("not-modelled") == 1


def test_the_unit_of_starts_may_be_stated_and_a_point_means_microseconds(tmp_path: Path) -> None:
    for text, variables, start in (
        (HTSIM, {"unit": "ns"}, "1ms"),
        (HTSIM.replace("start 1000000", "start 2.500000"), {}, "2500ns"),
    ):
        scenario, _ = imported(tmp_path, text, **variables)
        assert scenario is not None
        assert scenario.workloads["flow2"]["start"] == start
    assert "unit=min is no unit of time" in refusal(tmp_path, HTSIM, unit="min")


def test_a_long_list_has_distributions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "EXACT_MAX", 10)
    lines = [
        f"{number % 4} {4 + number % 2} 3 100 {1000 * (1 + number % 3)} {2 + number / 1000:.9f}"
        for number in range(90)
    ]
    scenario, remarks = imported(tmp_path, "\n".join(["90", *lines]))
    assert scenario is not None
    keys = scenario.workloads["list"]
    assert (keys["flows"], keys["interarrival"], keys["start"], keys["first_at_start"]) == (
        90,
        "1ms",
        "2s",
        True,
    )
    assert [point[0] for point in keys["sizes"]["cdf"]] == [
        "1kB",
        "1kB",
        "2kB",
        "2kB",
        "3kB",
        "3kB",
    ]
    assert keys["destinations"] == ["h4", "h5"]
    assert any("sizes and gaps are distributions" in one.words for one in remarks.found)


def test_the_limit_of_the_trial_is_that_of_the_busiest_host(tmp_path: Path) -> None:
    incast = "".join(f"{sender} 0 3 100 100000000 1.0\n" for sender in (1, 2, 3))
    scenario, _ = imported(tmp_path, f"3\n{incast}")
    assert scenario is not None
    # Ten times the 24 ms of 300 MB on its link, and a second, after the last start.
    assert scenario.duration_ps == 2_240 * 10**9


def test_a_long_list_has_a_priority_if_all_flows_have_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "EXACT_MAX", 2)
    for groups, priority in (((3, 3, 3), 3), ((3, 3, 4), None)):
        lines = "".join(f"1 2 {group} 100 1000 {place}.0\n" for place, group in enumerate(groups))
        scenario, _ = imported(tmp_path, f"3\n{lines}")
        assert scenario is not None
        assert scenario.workloads["list"].get("priority") == priority


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("3\n", "5\n", "list.txt:4: line 1 says 5 flows, and the file has 3"),
        ("3 1 3 100 5000", "3 1 3 100 five", "list.txt:3: 'five' is no size in bytes"),
        ("2.000000085", "soon", "list.txt:3: 'soon' is no start"),
        ("4 4 3 100 10 2.1", "4 4", "list.txt:4: 2 columns in '4 4'"),
        (
            "3\n",
            "flows\n",
            "list.txt:1: 'flows' begins neither a flow list of HPCC nor a connection matrix",
        ),
    ],
)
def test_bad_input_is_refused_with_file_line_fault_and_hint(
    old: str, new: str, problem: str, tmp_path: Path
) -> None:
    assert problem in refusal(tmp_path, HPCC.replace(old, new, 1))


def test_a_truncated_matrix_is_refused(tmp_path: Path) -> None:
    text = HTSIM.rpartition("1->2")[0]
    assert "the file says 3 connections, and has 2" in refusal(tmp_path, text)


def test_every_line_has_one_fate(tmp_path: Path) -> None:
    from tailrace.importers.flow_lists.formats import flows_of
    from tailrace.importers.records.lines import Record

    for text in (HPCC + "\n9 9 9\n", HTSIM + "\n# end\n"):
        (tmp_path / "list.txt").write_text(text)
        record = Record(tmp_path / "list.txt")
        list(flows_of(record, None))
        assert (
            sum(kind.lines for kind in record.kinds.values())
            == record.lines
            == len(text.splitlines())
        )


NUMBERS = ["2", "1", "3", "100", "5000", "2.0", "1e9", "-1", "99999999999999999999", "1e400"]
NAMES = ["x", "0->1", "1->1", "start", "size", "Nodes", "Connections", "trigger", "id", "#"]
WORDS = st.sampled_from([*NUMBERS, *NAMES])


@given(
    lines=st.lists(st.lists(WORDS, max_size=7).map(" ".join), max_size=8),
    head=st.sampled_from(["2", "Nodes 4", "0"]),
)
@settings(max_examples=cases(300, 80))
def test_any_list_is_imported_or_refused(
    lines: list[str], head: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.txt"
    file.write_text("\n".join([head, *lines]))
    scenario = None
    refusals: tuple[Problem, ...] = ()
    try:
        scenario, _ = import_flows(file, {})
    except ScenarioError as error:
        refusals = error.problems
    # A time that no trial may have is the only thing that a list may say and a scenario may not.
    assert all("cannot contain" not in one.what or "duration" in one.path for one in refusals), (
        refusals
    )
    if scenario is not None:
        load_scenario(YAML(typ="safe").load(scenario.text("any.txt")))
