"""Fabrics for comparison: what they cannot be is refused with its line, and what does not act on
them is told."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert
from typer.testing import CliRunner

from lab import sound
from sealing import seal
from tailrace import results
from tailrace.cli.app import app
from tailrace.errors import RunRefusedError, ScenarioError
from tailrace.experiment.options import Options
from tailrace.experiment.run import ExperimentRun, summarise_and_report
from tailrace.experiment.run_options import FabricKind
from tailrace.live.engine import LiveEngine
from tailrace.live.lab import kinds
from tailrace.outcome.types import Port
from tailrace.plan.types import Policy
from tailrace.results.compare.arms import compare, format_compare
from tailrace.results.ports.queuing import port_counters
from tailrace.results.summary.network import Lost
from tailrace.scenario.loading import load_scenario
from trial_files import read_trial, write_trial
from whole import part

QUEUE = {
    "name": "tbf",
    "tx_frames": 10,
    "tx_bytes": 9000,
    "drops": {"tail-drop": {"frames": 2}},
    "depth_bytes": 0,
}
PORT: dict[str, Any] = {
    "node": "leaf",
    "towards": "client",
    "rate_bps": 10**8,
    "tx_frames": 10,
    "tx_bytes": 9000,
    "queues": [QUEUE],
}
"""What a comparison fabric counts at a port."""


def refusals(kind: str, changes: dict[str, object]) -> list[str]:
    """Every refusal of the sound scenario with changes."""
    loaded = load_scenario(sound(**changes))
    try:
        kinds.refuse(kinds.kind_of(kind), loaded, loaded.arms)
    except ScenarioError as error:
        return [str(problem).removeprefix("scenario: ") for problem in error.problems]
    return []


def ignored(kind: str, changes: dict[str, object] | None = None) -> list[str]:
    """What is told to be ignored."""
    loaded = load_scenario(sound(**(changes or {})))
    return [f"{p.path}: {p.what}" for p in kinds.ignored(kinds.kind_of(kind), loaded, loaded.arms)]


def test_the_command_line_has_every_fabric_by_its_name() -> None:
    assert [kind.value for kind in FabricKind] == list(kinds.KINDS)
    assert [name for name, kind in kinds.KINDS.items() if not kind.is_foreign] == [FabricKind.TAP]


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_a_star_with_usual_cables_can_be_compared(kind: str) -> None:
    assert refusals(kind, {}) == []


@pytest.mark.parametrize(
    ("kind", "changes", "refusal"),
    [
        (
            "bridge",
            {
                "network__topology": {
                    "kind": "dumbbell",
                    "left": ["client"],
                    "right": ["db", "bulk"],
                },
                "switches": {},
                "arms": {"fifo": {}},
            },
            "network.topology: --fabric bridge supports one switch with hosts around it, but "
            "this network has 2",
        ),
        (
            "ovs",
            {"network__link": {"delay": "1ms"}},
            "network.link.delay: --fabric ovs adds no delay: links above 20us would differ "
            "from the scenario",
        ),
        (
            "bridge",
            {"network__links": [{"between": ["db", "leaf"], "delay": "1ms"}]},
            "network.links.0.delay: --fabric bridge adds no delay",
        ),
        (
            "ovs-dpdk",
            {"hosts__defaults": {"mtu": "9000B"}},
            "hosts.defaults.mtu: DPDK's ports to the kernel support an MTU "
            "of at most 1500B, not 9000B",
        ),
        (
            "ovs-dpdk",
            {"hosts__db": {"mtu": "9000B"}},
            "hosts.db.mtu: DPDK's ports to the kernel support an MTU of at most 1500B",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_place(
    kind: str, changes: dict[str, object], refusal: str
) -> None:
    [only] = refusals(kind, changes)
    assert only.startswith(refusal)
    assert "(hint: " in only
    assert refusals("tap", changes) == []


def test_jumbo_frames_are_no_problem_without_dpdk() -> None:
    assert refusals("ovs", {"hosts__defaults": {"mtu": "9000B"}}) == []


def test_every_mechanism_that_does_not_act_is_named_with_its_place() -> None:
    assert ignored("tap") == []
    assert ignored("bridge") == [
        "policies.dpp.dpp: ignored by --fabric bridge: dpp",
        "policies.dpp.queues: ignored by --fabric bridge: queues express, normal become one queue "
        "with the sum of their limits",
    ]


@pytest.mark.parametrize(("key", "value"), [("mtu", "9000B"), ("port_mtu", {"db": "1500B"})])
def test_mtus_of_ports_are_told_where_they_are_not_checked(key: str, value: object) -> None:
    [told] = [one for one in ignored("ovs-dpdk", {f"switches__leaf__{key}": value}) if "MTU" in one]
    assert told.startswith(f"switches.leaf.{key}: ignored by --fabric ovs-dpdk: MTUs of ports")
    assert not [one for one in ignored("ovs", {f"switches__leaf__{key}": value}) if "MTU" in one]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            {"policies__fifo": {"queues": {"q": {"aqm": {"kind": "codel"}}}}},
            "policies.fifo.queues.q.aqm: ignored by --fabric ovs: queue management codel",
        ),
        (
            {"policies__fifo": {"queues": {"q": {"shape": {"max": "1Gbit/s"}}}}},
            "policies.fifo.queues.q.shape: ignored by --fabric ovs: the shape of a queue",
        ),
        (
            {"policies__fifo": {"queues": {"q": {"qcn": {}}}}, "hosts__db": {"nic": {"qcn": {}}}},
            "hosts.db.nic: ignored by --fabric ovs: pauses, QCN and ETS of hosts",
        ),
        (
            {"network__links": [{"between": ["db", "leaf"], "loss": "1%"}]},
            "network.links.0.loss: ignored by --fabric ovs: loss on links",
        ),
        (
            {"workloads__orders__priority": 3},
            "workloads.orders.priority: ignored by --fabric ovs: priority 3, since each port "
            "has one queue",
        ),
        (
            {"switches__leaf__classify": [{"class": 3, "source": "db"}]},
            "switches.leaf.classify: ignored by --fabric ovs: 1 classification rules",
        ),
    ],
)
def test_a_mechanism_is_named_wherever_it_stands(changes: dict[str, object], what: str) -> None:
    assert what in ignored("ovs", changes)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        (
            {
                "policies__fifo": {"queues": {"q": {"qcn": {}}}},
                "hosts__defaults": {"nic": {"qcn": {}}},
            },
            "hosts.defaults.nic: ignored by --fabric ovs: pauses, QCN and ETS of hosts",
        ),
        (
            {"switches__defaults": {"classify": [{"class": 3, "source": "db"}]}},
            "switches.defaults.classify: ignored by --fabric ovs: 1 classification rules",
        ),
    ],
)
def test_what_holds_for_all_is_named_once_where_it_stands(
    changes: dict[str, object], what: str
) -> None:
    section = what.partition(".")[0]
    assert [one for one in ignored("ovs", changes) if one.startswith(section)] == [what]


def test_a_policy_that_no_port_has_is_not_named() -> None:
    assert ignored("bridge", {"arms": {"fifo": {}}, "switches__leaf__policy": "fifo"}) == []


def test_the_log_of_what_enters_is_the_own_switchs_alone() -> None:
    with pytest.raises(
        RunRefusedError,
        match="--log-ingress: frames of --fabric ovs do not pass the built-in switch",
    ):
        LiveEngine(kind="ovs", log_ingress=True)
    with pytest.raises(RunRefusedError, match="there is no fabric 'vpp'"):
        LiveEngine(kind="vpp")


def live(out: Path, kind: str) -> ExperimentRun:
    """A live experiment on the stand-in for the fabric."""
    loaded = load_scenario(
        sound(workloads__backup=..., experiment__trials=1, experiment__live={"min_idle": "0%"})
    )
    return ExperimentRun(loaded, Options(out=out), engine=LiveEngine(kind=kind))


@pytest.mark.usefixtures("fake_lab")
def test_a_fabric_that_is_missing_is_told_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_LACKS", "Open vSwitch is not installed")
    with pytest.raises(
        RunRefusedError, match=r'Open vSwitch is not installed \(hint: `make live-deps WITH="ovs"`'
    ):
        live(tmp_path / "run", "ovs")
    live(tmp_path / "run", "bridge")


@pytest.mark.usefixtures("fake_lab")
def test_fabrics_are_recorded_compared_by_name_and_never_mixed(tmp_path: Path) -> None:
    for kind in ("tap", "bridge"):
        live(tmp_path / kind, kind).run()
        manifest = json.loads((tmp_path / kind / "manifest.json").read_text(encoding="utf-8"))
        assert manifest["fabric"] == kind
    with pytest.raises(RunRefusedError, match="holds another run"):
        live(tmp_path / "tap", "bridge").run()
    text = format_compare(compare(tmp_path / "tap", tmp_path / "bridge"))
    assert (
        f"a: {tmp_path / 'tap'} (live, fabric tap)\nb: "
        f"{tmp_path / 'bridge'} (live, fabric bridge)\n" in text
    )
    summary, _ = summarise_and_report(tmp_path / "bridge")
    assert results.format_table(summary).startswith("sound, live over bridge: seed 1")


@pytest.mark.usefixtures("fake_lab")
def test_what_nobody_counts_is_absent_from_every_output(tmp_path: Path) -> None:
    out = tmp_path / "run"
    live(out, "bridge").run()
    early = {"in-switch": {"frames": 1}, "policed": {"frames": 2, "bytes": 99}}
    switch = {"name": "leaf", "buffer_bytes": 4_000_000, "early_drops": early}
    for file in out.glob("trials/*/?.json"):
        data = read_trial(file) | {"ports": [PORT], "switches": [switch]}
        data.pop("conservation")
        write_trial(file, data)
        for table in ("port_series", "queue_depth"):
            file.with_name(f"{file.stem}.{table}.parquet").unlink(missing_ok=True)
        seal(file)
    summary, report = summarise_and_report(out)
    [queue] = summary.arms["fifo"].ports[0].queues
    assert (queue.marked_frames, queue.depth_mean_bytes, queue.depth_max_bytes) == (
        None,
        None,
        None,
    )
    assert queue.drops_frames == 2
    assert queue.drops == {"tail-drop": Lost(frames=2, bytes=None)}
    drops = summary.arms["fifo"].drops
    assert {cause: lost.bytes for cause, lost in drops.items()} == {
        "tail-drop": None,
        "policed": 99,
        "in-switch": None,
    }
    [before_queues] = summary.arms["fifo"].early_drops
    assert before_queues.drops["in-switch"] == Lost(frames=1, bytes=None)
    page = report.read_text(encoding="utf-8")
    assert '<td class="text">in switch</td><td>1</td><td>–</td>' in page
    assert '<td class="text">policed</td><td>2</td><td>99.0 B</td>' in page
    shown = CliRunner().invoke(
        app, ["show", "queues", str(out), "--arm", "dpp"], catch_exceptions=False
    )
    assert "Tail Drop Pkts" in shown.stdout
    assert "Tail Drop Byts" not in shown.stdout
    assert [line.split() for line in shown.stdout.splitlines() if "in-switch" in line] == [
        ["leaf", "in-switch", "1", "–"]
    ]
    assert "ECN Marked" not in shown.stdout


def test_a_port_of_another_switch_has_no_settings_of_the_policy() -> None:
    policy = part(Policy, queues=[{"name": "normal"}], queue_of_priority=[0] * 8)
    [queue] = port_counters(convert(PORT, Port), policy).queues
    assert (queue.setting, queue.drop_packets, queue.drop_bytes) == (None, 2, None)


@pytest.mark.usefixtures("fake_lab")
def test_the_command_line_takes_the_fabric_and_warns_once(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(sound(workloads__backup=...), indent=1), encoding="utf-8")
    words = [
        "run",
        str(file),
        "--live",
        "--fabric",
        "bridge",
        "--dry-run",
        "--out",
        str(tmp_path / "run"),
    ]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0
    [warning] = [line for line in done.stderr.splitlines() if "policies.dpp.dpp" in line]
    assert warning.startswith(f"warning: {file}:")
    with pytest.raises(RunRefusedError, match="--fabric requires --live"):
        CliRunner().invoke(app, ["run", str(file), "--fabric", "ovs"], catch_exceptions=False)
