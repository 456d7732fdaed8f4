"""A goal that no trial can have a figure for is refused before the first trial, by every command
that takes goals."""

import sys
from pathlib import Path

import pytest

from tailrace.cli import main

STREAM = """tailrace: 1
name: fitgoal
network: {topology: {kind: star, switch: leaf, hosts: [a, b, c]}}
workloads:
  w: {kind: oltp, client: a, server: b, users: 5, gap: 2ms, round_trips: [{response: 9kB, server_time: 200us}]}
  s: {kind: stream, source: c, destination: a, connections: 2}
experiment: {trials: 2, duration: 100ms}
"""  # noqa: E501
VARY = ("--vary", "switches.leaf.buffer=1MB,2MB")
SEARCH = ("search", *VARY, "--minimise", "buffer", "--goal")
COMMANDS = [("advise", "--goal"), SEARCH, ("sensitivity", *VARY, "--figure")]


def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str
) -> str:
    monkeypatch.setattr(sys, "argv", ["tailrace", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert not Path("runs").exists(), "nothing was run"
    return capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
@pytest.mark.parametrize(
    ("goal", "told"),
    [
        ("s.p99 < 5ms", "'s' is of kind stream, which has no p99 (hint: s has goodput, loss)"),
        ("w.p99 < 5", "5 has no unit (hint: p99 is a time: write 5ms)"),
        ("x.p99 < 5ms", "there is no workload 'x' (hint: workloads and groups: w, s)"),
    ],
)
def test_a_goal_without_a_figure_is_refused(
    workplace: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    goal: str,
    told: str,
) -> None:
    (workplace / "g.yaml").write_text(STREAM, encoding="utf-8")
    name, *options = command
    assert told in refused(capsys, monkeypatch, name, "g.yaml", *options, goal)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "expect: ['s.p99 < 5ms']\n",
            "'s' is of kind stream, which has no p99 (hint: s has goodput, loss)",
        ),
        (
            "headline: [{workload: s, metric: latency_p99_ms}]\n",
            "'s' has no latency_p99_ms (hint: it has goodput_gbps",
        ),
        (
            "arms: {now: {}, then: {network.link.rate: 1Gbit/s}}\nexperiment: {baseline: nwo}\n",
            "no arm 'nwo'",
        ),
    ],
)
def test_what_a_scenario_asks_of_results_is_refused_too(
    workplace: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    lines: str,
    told: str,
) -> None:
    (workplace / "g.yaml").write_text(STREAM, encoding="utf-8")
    (workplace / "more.yaml").write_text(lines, encoding="utf-8")
    assert told in refused(capsys, monkeypatch, "run", "g.yaml", "more.yaml")


def test_a_baseline_that_is_no_arm_is_refused(
    workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "g.yaml").write_text(
        STREAM + "arms: {now: {}, then: {network.link.rate: 1Gbit/s}}\n"
    )
    told = refused(capsys, monkeypatch, "run", "g.yaml", "--baseline", "nwo")
    assert "there is no arm 'nwo' (hint: did you mean 'now'?)" in told
