"""Scenarios in several files: merged in order, every problem told with the file and line where its
key stands."""

from pathlib import Path

import pytest

from tailrace.errors import ScenarioError
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.including import read_scenario

NETWORK = """\
network:
  link: {rate: 10Gbit/s}
  topology: {kind: star, hosts: [client, db, bulk]}
"""
WORKLOADS = """\
workloads:
  orders: {kind: oltp, client: client, server: db, users: 4, round_trips: [{response: 18kB}]}
  backup: {kind: stream, source: bulk, destination: client, connections: 4}
experiment: {duration: 1s, trials: 2}
"""
MAIN = "tailrace: 1\nname: main\n"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "main.yaml"


def refusal(*paths: Path) -> str:
    with pytest.raises(ScenarioError) as refused:
        load_scenario(list(paths))
    return str(refused.value)


def test_included_files_lie_under_the_one_that_includes_them(tmp_path: Path) -> None:
    own = MAIN + "include: [net.yaml, parts/work.yaml]\nworkloads:\n  orders: {users: 9}\n"
    main = write(tmp_path, net=NETWORK, parts__work=WORKLOADS, main=own)
    scenario = load_scenario(main).scenario
    assert (scenario.workloads["orders"].users, scenario.experiment.trials) == (9, 2)  # type: ignore[attr-defined]
    assert list(scenario.workloads) == ["orders", "backup"]


def test_later_files_of_the_command_line_win(tmp_path: Path) -> None:
    write(
        tmp_path,
        main=MAIN + NETWORK + WORKLOADS,
        fast="network: {link: {rate: 25Gbit/s}}\nexperiment: {trials: 3}\n",
    )
    scenario = load_scenario([tmp_path / "main.yaml", tmp_path / "fast.yaml"]).scenario
    assert (scenario.network.link.rate, scenario.experiment.trials) == (25 * 10**9, 3)
    assert scenario.name == "main"


def test_an_include_of_an_include_is_relative_to_its_own_file(tmp_path: Path) -> None:
    parts = {"parts__all": "include: work.yaml\n" + NETWORK, "parts__work": WORKLOADS}
    main = write(tmp_path, main=MAIN + "include: parts/all.yaml\n", **parts)
    assert list(load_scenario(main).arms) == ["base"]


def test_a_problem_is_told_with_the_file_where_its_key_stands(tmp_path: Path) -> None:
    work = WORKLOADS.replace("users: 4", "users: 0")
    main = write(
        tmp_path,
        net=NETWORK,
        work=work,
        main=MAIN + "include: [net.yaml, work.yaml]\nworklods: {}\n",
    )
    text = refusal(main)
    assert f"{tmp_path / 'work.yaml'}:2: workloads.orders.users: 0 is out of range" in text
    assert f"{main}:4: worklods: unknown key" in text


def test_a_value_that_the_main_file_replaces_is_blamed_there(tmp_path: Path) -> None:
    own = MAIN + "include: [net.yaml, work.yaml]\nworkloads:\n  backup: {connections: 0}\n"
    text = refusal(write(tmp_path, net=NETWORK, work=WORKLOADS, main=own))
    assert text.startswith(
        f"{tmp_path / 'main.yaml'}:5: workloads.backup.connections: 0 is out of range"
    )


def test_a_mapping_of_another_kind_replaces_the_one_below(tmp_path: Path) -> None:
    tree = (
        "network: {topology: {kind: leaf-spine, leaves: 2, spines: 1, hosts: [client, db, bulk]}}\n"
    )
    write(tmp_path, main=MAIN + NETWORK + WORKLOADS, tree=tree)
    loaded = load_scenario([tmp_path / "main.yaml", tmp_path / "tree.yaml"])
    assert loaded.scenario.network.topology.kind == "leaf-spine"
    assert loaded.scenario.network.link.rate == 10**10


def test_keys_of_a_mapping_that_was_replaced_have_no_line(tmp_path: Path) -> None:
    star = NETWORK.replace("kind: star,", "kind: star, switch: leaf,")
    tree = (
        "network: {topology: {kind: leaf-spine, leaves: 2, spines: 1, hosts: [client, db, bulk]}}\n"
    )
    write(tmp_path, main=MAIN + star + WORKLOADS, tree=tree)
    merged = read_scenario([tmp_path / "main.yaml", tmp_path / "tree.yaml"])
    assert ("network", "link", "rate") in merged.lines
    assert ("network", "topology", "leaves") in merged.lines
    assert ("network", "topology", "switch") not in merged.lines


def test_published_figures_are_relative_to_the_file_that_names_them(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main=MAIN + NETWORK + "include: parts/work.yaml\n",
        parts__work=WORKLOADS + "published: p.yaml\n",
    )
    (path,) = [load_scenario(main).published_path]
    assert path is not None
    assert path.resolve() == tmp_path / "parts" / "p.yaml"


@pytest.mark.parametrize(
    ("include", "words"),
    [
        ("nothing.yaml", "main.yaml:3: include: the included file 'nothing.yaml' does not exist"),
        ("[parts]", "main.yaml:3: include.0: the included file 'parts' is a folder"),
        ("[net.yaml, main.yaml]", "main.yaml:3: include.1: 'main.yaml' includes itself"),
        ("[3]", "main.yaml:3: include.0: 3 is not a file"),
        ("{a: b}", "main.yaml:3: include: it is neither a file nor a list of files"),
    ],
)
def test_a_wrong_include_is_refused_with_its_line(tmp_path: Path, include: str, words: str) -> None:
    (tmp_path / "parts").mkdir()
    assert words in refusal(write(tmp_path, net=NETWORK, main=MAIN + f"include: {include}\n"))


def test_a_circle_of_includes_is_refused(tmp_path: Path) -> None:
    main = write(
        tmp_path, main=MAIN + "include: a.yaml\n", a="include: b.yaml\n", b="include: a.yaml\n"
    )
    assert "b.yaml:1: include: 'a.yaml' includes itself" in refusal(main)


def test_the_number_of_files_is_limited(tmp_path: Path) -> None:
    main = write(tmp_path, main=MAIN + f"include: [{', '.join(['a.yaml'] * 65)}]\n", a="{}\n")
    assert "include.64: more than 64 files are included" in refusal(main)
