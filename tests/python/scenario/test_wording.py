"""What is said about ill-formed values: in the words of YAML, with units, and without what follows
from them."""

import json
from pathlib import Path

import pytest

from lab import problems, sound
from tailrace.errors import ScenarioError
from tailrace.scenario.loading import load_scenario, parse_assignment

QUEUES = "policies__dpp__queues__"
FLOWS = {"kind": "flows", "sizes": "web-search"}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "policies__dpp__dpp__max_packets",
            2**32,
            "dpp.max_packets: 4294967296 is out of range (hint: write at most 4294967295)",
        ),
        ("hosts__db__nic__tso", "5GB", "write at most 4294967295B"),
        ("hosts__db__nic__gro", "5GB", "write at most 4294967295B"),
        ("hosts__db__nic__rx_ring", "4294967296 frames", "write at most 4294967295 frames"),
        ("network__framing__header", "5GB", "write at most 32768B"),
        ("network__framing__overhead", "5GB", "write at most 4294967295B"),
        ("workloads__orders__round_trips__0__write", "5GB", "write at most 4294967295B"),
        (QUEUES + "normal__limit", "4294967296 frames", "write at most 4294967295 frames"),
        (
            QUEUES + "normal__qcn",
            {"set_point": "50B"},
            "50B is out of range (hint: write at least 100B)",
        ),
        (
            "workloads__orders__kind",
            None,
            "orders.kind: it has no value (hint: one of oltp, stream, flows, datagrams, frames, "
            "requests, blocks, storage, mpi, replay)",
        ),
        ("workloads__orders__users", True, "true is not a whole number"),
        ("network__topology__hosts", True, "true is not a list of hosts"),
        ("switches__leaf__classify", [{"class": 1, "source_port": True}], "true is not a port"),
        ("switches__leaf__classify", [{"class": 1, "protocol": "icmp"}], "(hint: one of tcp, udp)"),
        (
            "workloads__backup",
            FLOWS | {"load": 0.6},
            "0.6 has no unit (hint: write 60%; 0.6% is a hundredth of that)",
        ),
        ("workloads__backup", FLOWS | {"load": 60}, "60 has no unit (hint: write 60%)"),
        (
            "workloads__backup",
            FLOWS | {"sources": "db"},
            "'db' is not a list of hosts (hint: write [db], or all)",
        ),
        (
            "workloads__backup",
            FLOWS | {"sources": [1]},
            "1 is not the name of a host (hint: put it in quotes)",
        ),
        (
            "observe__ports",
            "leaf>db",
            "'leaf>db' is not a list of ports (hint: write [leaf>db], or auto)",
        ),
        (
            "policies__dpp__dpp__priorities",
            [*range(8), 0],
            "it has 9 entries (hint: there must be at most 8)",
        ),
    ],
)
def test_one_problem_is_told_once_in_the_words_of_the_file(
    path: str, value: object, words: str
) -> None:
    (found,) = problems(sound(**{path: value}))
    assert words in found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (QUEUES + "express__strict", "high"),  # not: queue 'express' is not strict
        # not: no frame comes into queue 'normal'
        ("policies__dpp__priorities", dict.fromkeys(range(1, 8), "express") | {0: "nope"}),
        ("policies__dpp__dpp__express", "nope"),  # not: no frame comes into queue 'express'
        ("policies__dpp__priorities", {8: "express"}),
    ],
)
def test_what_follows_from_a_wrong_value_is_not_told(path: str, value: object) -> None:
    assert len(problems(sound(**{path: value}))) == 1


def test_a_problem_of_the_command_line_comes_first(tmp_path: Path) -> None:
    path = tmp_path / "lab.yaml"
    path.write_text(
        json.dumps(sound(workloads__backup__source="nobody"), indent=1), encoding="utf-8"
    )
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path, {"workloads.orders.client": "nobody"})
    assert [problem.path for problem in caught.value.problems] == [
        "workloads.orders.client",
        "workloads.backup.source",
    ]


def test_a_value_on_the_command_line_has_no_line() -> None:
    with pytest.raises(ScenarioError) as caught:
        parse_assignment("experiment.trials=[1")
    assert str(caught.value).startswith("--set experiment.trials: YAML: ")


def test_an_override_of_a_workload_that_is_not_there_is_told_as_such() -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(sound(), {"workloads.order.users": 4})
    (found,) = caught.value.problems
    assert (
        str(found) == "--set workloads.order.users: there is no workload 'order' "
        "(hint: did you mean 'orders'?)"
    )


def test_a_missing_experiment_whose_keys_stand_at_the_top_is_one_error() -> None:
    data = sound()
    experiment = data.pop("experiment")
    (found,) = problems(data | {"duration": "5s", "trials": 2, "seed": 3, "solo": True})
    assert "'duration', 'trials', 'seed', 'solo' belong to 'experiment'" in found
    assert "indent them below 'experiment:'" in found
    (found,) = problems(data | {"experiments": experiment})
    assert "experiments: unknown key (hint: did you mean 'experiment'?)" in found
    (found,) = problems(data)
    assert "experiment: it is missing (hint: add 'experiment: {duration: 10s}')" in found
    (found,) = problems(sound() | {"trials": 3})
    assert "'trials' belongs to 'experiment'" in found


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (
            "arms",
            ["fifo", "dpp"],
            "not a list (hint: such as arms: {plain: {}, dpp: {switches.leaf.policy: dpp}})",
        ),
        ("network__topology", "star", "such as topology: {kind: star, hosts: 4}"),
        (
            "workloads__orders__round_trips",
            {"response": "18kB"},
            "expected a list, not a mapping of keys",
        ),
        ("workloads__orders__users", "ten", "write a number such as 20"),
        ("workloads__backup__kind", "Stream", "did you mean 'stream'?"),
        ("switches__leaf__policy", "FIFO", "did you mean 'fifo'?"),
        ("experiment__duration", 10, "write 10s or 10ms or 10us"),
        ("workloads__backup__rate", "2Gbs", "write 2Gbit/s"),
        ("tailrace", 2, "write 1"),
    ],
)
def test_a_usual_slip_is_answered_with_what_to_write(path: str, value: object, words: str) -> None:
    assert words in "\n".join(problems(sound(**{path: value})))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "tailrace: 1\nexperiment:\n  trials 2\n  duration: 1s\n",
            "a colon is missing on this line or above",
        ),
        ("tailrace: 1\nname: 'bad\n", "a quote or bracket is not closed"),
        ("a:\n\tb: 1\n", "indent with spaces"),
        ("a:\n  - name: x\n    kind: y\n  b: 1\n", "'- ' entries and keys are mixed"),
    ],
)
def test_what_the_yaml_reader_says_has_a_remedy(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=words):
        load_scenario(path)


def test_an_arm_that_replaces_a_section_is_told_what_it_loses() -> None:
    arms = {"fifo": {}, "dpp": {"switches": {"leaf": {"policy": "dpp"}}}}
    switches = {"leaf": {"policy": "fifo", "buffer": "12MB"}}
    (found,) = load_scenario(sound(arms=arms, switches=switches)).warnings
    assert (
        "arms.dpp.switches: it replaces the whole section and removes switches.leaf.buffer"
        in str(found)
    )
    assert "write dotted paths, such as switches.leaf.policy: dpp" in str(found)
    dotted = {"fifo": {}, "dpp": {"switches.leaf.policy": "dpp"}}
    assert load_scenario(sound(arms=dotted, switches=switches)).warnings == ()
