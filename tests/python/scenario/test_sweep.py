"""Sweeps: values of axes, points, and scenarios at each point."""

import pytest

from lab import load, problems, sound
from tailrace.errors import ScenarioError
from tailrace.scenario.sweep import Sweep, axis_names
from tailrace.scenario.varied import parse_sweep, parse_varied

BUFFER = "switches.leaf.buffer"
USERS = "workloads.orders.users"


def axis(value: object) -> list[object]:
    (values,) = Sweep.model_validate({"axes": {USERS: value}}).axes.values()
    return values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("log(1..64, 7)", [1, 2, 4, 8, 16, 32, 64]),
        ("linear(1..9, 5)", [1, 3, 5, 7, 9]),
        ("1..8", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("log(1MB..8MB, 4)", ["1MB", "2MB", "4MB", "8MB"]),
        ("linear(1ms..2ms, 3)", ["1ms", "1.5ms", "2ms"]),
        ("log(1..3, 9)", [1, 2, 3]),
        ("log(0.1..10, 3)", [0.1, 1, 10]),
    ],
)
def test_ranges_hold_both_ends_and_each_value_once(text: str, values: list[object]) -> None:
    assert axis(text) == values


def test_a_grid_has_every_combination_and_the_last_axis_is_the_fastest() -> None:
    points = Sweep.model_validate({"axes": {USERS: [1, 2], BUFFER: ["1MB", "2MB"]}}).points()
    assert [point.label for point in points] == [
        "users=1,buffer=1MB",
        "users=1,buffer=2MB",
        "users=2,buffer=1MB",
        "users=2,buffer=2MB",
    ]


def test_paired_axes_go_together() -> None:
    sweep = Sweep.model_validate(
        {"axes": {USERS: [1, 2], BUFFER: ["1MB", "2MB"]}, "combine": "paired"}
    )
    assert [point.values for point in sweep.points()] == [
        {USERS: 1, BUFFER: "1MB"},
        {USERS: 2, BUFFER: "2MB"},
    ]


def test_of_paired_axes_one_may_stand_still_and_two_points_may_not_be_equal() -> None:
    axes = {USERS: [1, 1, 2], BUFFER: ["1MB", "2MB", "2MB"]}
    sweep = Sweep.model_validate({"axes": axes, "combine": "paired"})
    assert len({point.label for point in sweep.points()}) == 3
    equal = {"axes": {USERS: [1, 1], BUFFER: ["1MB", "1MB"]}, "combine": "paired"}
    assert "sweep: the value 1, 1MB is listed twice" in "".join(problems(sound(sweep=equal)))
    alike = {"axes": {USERS: [1, 1], BUFFER: ["1MB", "1000kB"]}, "combine": "paired"}
    assert "sweep: 1, 1MB is the same as 1, 1000kB" in "".join(problems(sound(sweep=alike)))


def test_values_of_different_kinds_and_texts_are_not_the_same() -> None:
    values = [
        "1ms",
        "1MB",
        "1MiB",
        "1",
        "1%",
        "1m",
        "1min",
        "fifo",
        "1GB/s",
        "1Gbit/s",
        "true",
        "exponential(1kB)",
    ]
    values += [
        "erlang(1ms, 4)",
        "erlang(1ms, 5)",
        "normal(1ms, 4ms)",
        "exponential(1ms)",
        "constant(2kB)",
        "x(",
    ]
    assert Sweep.model_validate({"axes": {"any": values}}).count == len(values)


def test_axes_have_the_shortest_names_that_tell_them_apart() -> None:
    paths = ["switches.a.buffer", "switches.b.buffer", "workloads.x.round_trips.0.response"]
    assert list(axis_names(paths).values()) == ["a.buffer", "b.buffer", "response"]


def test_a_label_that_is_no_name_of_a_file_ends_in_a_hash() -> None:
    label = Sweep.model_validate({"axes": {"a.b": ["x/y"]}}).points()[0].label
    assert label.startswith("b=x_y-")
    labels = [
        point.label for point in Sweep.model_validate({"axes": {"a.b": ["x/y", "x?y"]}}).points()
    ]
    assert len(set(labels)) == 2, "values that look alike keep their own trials"
    assert "/" not in label


def test_every_arm_runs_at_every_point() -> None:
    loaded = load(sweep={"axes": {USERS: [2, 3]}})
    assert list(loaded.swept) == ["fifo@users=2", "dpp@users=2", "fifo@users=3", "dpp@users=3"]
    assert [scenario.workloads["orders"].users for scenario in loaded.swept.values()] == [  # type: ignore[attr-defined]
        2,
        2,
        3,
        3,
    ]
    assert loaded.swept["fifo@users=3"].switches["leaf"].policy == "fifo"
    assert loaded.arms["fifo"].workloads["orders"].users == 4  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ({"axes": {}}, "a sweep needs an axis"),
        ({"axes": {USERS: []}}, "[] is not a list of values"),
        ({"axes": {"experiment.trials": [2, 4]}}, "'experiment.trials' cannot vary in a sweep"),
        ({"axes": {"name": ["a", "b"]}}, "'name' cannot vary in a sweep"),
        (
            {"axes": {BUFFER: "1MB..4MB"}},
            "'1MB..4MB' does not say how many values (hint: write log(1MB..4MB, 7))",
        ),
        ({"axes": {USERS: "log(1, 4)"}}, "'log(1, 4)' is no range"),
        (
            {"axes": {USERS: "log(1, 64, 7)"}},
            "'log(1, 64, 7)' is no range (hint: write log(1..64, 7))",
        ),
        ({"axes": {USERS: "fifo"}}, "'fifo' is not a list of values"),
        ({"axes": {USERS: [1, 1]}}, "the value 1 is listed twice"),
        ({"axes": {USERS: [1, 1.0]}}, "1 is the same as 1.0"),
        ({"axes": {BUFFER: ["1MB", "2MB", "1000 kB"]}}, "1MB is the same as 1000kB"),
        ({"axes": {"network.link.delay": ["1ms", "1_000us"]}}, "1ms is the same as 1_000us"),
        ({"axes": {"network.link.delay": ["1ps", "1000fs"]}}, "1ps is the same as 1000fs"),
        (
            {"axes": {"network.link.delay": ["1us", "exponential(1ms)", "exponential( 1000 us )"]}},
            "the same as expon",
        ),
        (
            {"axes": {BUFFER: ["lognormal(20kB, 1.2)", "lognormal(20000B, 1.20)"]}},
            "the same as lognormal(20000B,1.20)",
        ),
        ({"axes": {BUFFER: ["20kB", "constant(20000B)"]}}, "20kB is the same as constant(20000B)"),
        ({"axes": {BUFFER: "log(1MB..4kB, 3)"}}, "1MB is above 4kB"),
        (
            {"axes": {USERS: "log(0..4, 3)"}},
            "cannot begin at zero (hint: write a first value above zero, or linear)",
        ),
        ({"axes": {USERS: "linear(4..4, 3)"}}, "both ends are 4"),
        (
            {"axes": {USERS: [1, 2], BUFFER: ["1MB"]}, "combine": "paired"},
            "different numbers of values",
        ),
        (
            {"axes": {USERS: list(range(1, 4001)), BUFFER: [f"{n}kB" for n in range(1, 4001)]}},
            "the sweep has 16 000 000 points",
        ),
        ({"axes": {USERS: [1, 0]}}, "workloads.orders.users: 0 is out of range"),
        ({"axes": {"workloads.nope.users": [1]}}, "there is no workload 'nope'"),
        ({"axes": {"arms.x": [1]}}, "'arms' cannot be set"),
        ({"axes": {"switches.leaf.policy": ["fifo"]}}, "the arm sets what the sweep varies"),
    ],
)
def test_a_sweep_that_makes_no_sense_is_refused(sweep: dict[str, object], words: str) -> None:
    assert any(words in found for found in problems(sound(sweep=sweep)))


def test_the_command_line_takes_lists_and_ranges() -> None:
    given = parse_sweep(
        [f"{USERS}=1,2,4", f"{BUFFER}=log(1MB..4MB, 3)", "a.gap=uniform(1ms, 2ms),5ms", "a.b=1..3"]
    )
    buffers = ["1MB", "2MB", "4MB"]
    assert given["axes"] == {
        USERS: [1, 2, 4],
        BUFFER: buffers,
        "a.gap": ["uniform(1ms, 2ms)", "5ms"],
        "a.b": [1, 2, 3],
    }


@pytest.mark.parametrize("option", ["--vary", "--sweep"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"{USERS}=lin(1, 40, 4)",
            "'lin(1, 40, 4)' is no range (hint: write a list (1MB,2MB,4MB), a range",
        ),
        (f"{USERS}=log(1, 40, 4)", "'log(1, 40, 4)' is no range (hint: write log(1..40, 4))"),
        (f"{USERS}=1..4,8", "'1..4' is a range in a list (hint: write a list"),
        (f"{USERS}=8..4", "8 is above 4 (hint: the smaller end comes first: 4..8)"),
        ("users", "expected key=values (hint: write a list"),
        ("users=", "expected key=values"),
        ("=1,2", "expected key=values"),
    ],
)
def test_what_varies_is_written_in_one_way(option: str, text: str, told: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_varied([text], option)
    assert str(refused.value).startswith(f"{option} {text}: ")
    assert told in str(refused.value)


def test_a_key_that_is_varied_twice_is_refused() -> None:
    with pytest.raises(
        ScenarioError, match=r"it is varied twice \(hint: write all of its values in one --sweep\)"
    ):
        parse_sweep([f"{USERS}=1,2", f"{USERS}=3,4"])


def test_a_sweep_takes_a_range_of_few_whole_numbers_alone() -> None:
    with pytest.raises(
        ScenarioError, match=r"does not say how many values \(hint: write log\(1MB..64MB, 7\)\)"
    ):
        parse_sweep([f"{BUFFER}=1MB..64MB"])
