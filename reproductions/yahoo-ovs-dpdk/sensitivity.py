"""What each assumed value does to each published factor, one at a time, and what noise costs:
writes sensitivity.md.

.venv/bin/python reproductions/yahoo-ovs-dpdk/sensitivity.py
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.experiment.native import make_trial, run_trial
from tailrace.outcome.types import Outcome
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

HERE = Path(__file__).resolve().parent
NODES = ("node1", "node2")
APPLICATIONS = ("http", "dns", "mq", "sql")
ARMS = [
    f"{what}-{switch}"
    for what in ("short", "light", *APPLICATIONS)
    for switch in ("bridge", "dpdk")
]
PS_PER_S = 10**12
CORES = 14


@dataclass(frozen=True)
class Variation:
    """Other values of the scenario."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)


def hypervisors(**keys: Any) -> dict[str, Any]:
    """Keys of both hypervisors."""
    return {f"hypervisors.{node}.{key}": value for node in NODES for key, value in keys.items()}


def users(number: int) -> dict[str, Any]:
    """The users of each application."""
    return {f"workloads.{name}.users": number for name in APPLICATIONS}


VARIATIONS = [
    Variation("as it is"),
    Variation("vhost thread: 1500 cycles a frame", hypervisors(vhost_frame="750ns")),
    Variation("vhost thread: 6000 cycles a frame", hypervisors(vhost_frame="3us")),
    Variation("exit: 1000 cycles", hypervisors(exit="500ns")),
    Variation("exit: 6000 cycles", hypervisors(exit="3us")),
    Variation("entry: 500 cycles", hypervisors(entry="250ns")),
    Variation("entry: 3000 cycles", hypervisors(entry="1500ns")),
    Variation("interrupt of a machine: 500 cycles", hypervisors(signal="250ns")),
    Variation("interrupt of a machine: 4000 cycles", hypervisors(signal="2us")),
    Variation("wake-up and switch: half", hypervisors(wake_up="255ns", context_switch="340ns")),
    Variation("wake-up and switch: twice", hypervisors(wake_up="1020ns", context_switch="1360ns")),
    Variation("interrupt of the uplink: at once", hypervisors(coalesce="0s")),
    Variation("interrupt of the uplink: after 20 us", hypervisors(coalesce="20us")),
    Variation("halted cores are watched for 200 us", hypervisors(halt_poll="200us")),
    Variation("small pages: DPDK costs 1.5 times", hypervisors(page_factor=1.5)),
    Variation("4 users", users(4)),
    Variation("16 users", users(16)),
    Variation("64 users", users(64)),
    Variation(
        "servers work a fifth",
        {
            "workloads.http.server_work": "2us",
            "workloads.dns.server_work": "1us",
            "workloads.mq.server_work": "10us",
            "workloads.sql.round_trips.0.server_work": "6us",
        },
    ),
    Variation(
        "servers work five times",
        {
            "workloads.http.server_work": "50us",
            "workloads.dns.server_work": "25us",
            "workloads.mq.server_work": "250us",
            "workloads.sql.round_trips.0.server_work": "150us",
        },
    ),
    Variation(
        "the mechanism off: a hypervisor costs nothing",
        hypervisors(profile="none", poll="1ns", coalesce="0s"),
    ),
]
NOISES = [0, 7, 14, 28]
"""Tasks that compute on 14 cores."""


def outcome(arm: str, changes: Mapping[str, Any]) -> Outcome:
    """The outcome of one trial, seed 1."""
    scenario = load_scenario(HERE / "scenario.yaml", changes).arms[arm]
    return run_trial(make_trial(canonical_json(lower(scenario, arm, 1)))).outcome


def seconds(found: Outcome) -> float:
    """The time that was counted."""
    return (found.end_ps - (found.counted_from_ps or 0)) / PS_PER_S


def rate(found: Outcome) -> float:
    """What was done in a second."""
    [workload] = found.workloads
    return workload.transactions / seconds(found)


def latency_us(found: Outcome) -> float:
    """Mean latency."""
    [workload] = found.workloads
    assert workload.latency is not None, "requests were answered"
    return workload.latency.mean_ps / 10**6


def switches(found: Outcome) -> int:
    """Switches of context on all hypervisors."""
    return sum(own.voluntary_switches + own.involuntary_switches for own in found.hypervisors or [])


def kernel_percent(found: Outcome) -> float:
    """Share of the time for virtual machines that kernels took: neighbours and polling for nothing
    are left out."""
    own = found.hypervisors or []
    tasks = [task for hypervisor in own for task in hypervisor.tasks if task.kind != "neighbour"]
    kernel = sum(task.system_ps for task in tasks)
    kernel += sum(core.softirq_ps for hypervisor in own for core in hypervisor.cores)
    inside = sum(task.user_ps for task in tasks if task.kind != "polling")
    return 100 * float(
        kernel / (kernel + inside + sum(hypervisor.polled_for_frames_ps for hypervisor in own))
    )


def factors(changes: Mapping[str, Any]) -> list[str]:
    """The row of a variation."""
    found = {arm: outcome(arm, changes) for arm in ARMS}
    row = [
        f"{rate(found['short-dpdk']) / rate(found['short-bridge']):.1f}",
        f"1/{latency_us(found['light-bridge']) / latency_us(found['light-dpdk']):.1f}",
    ]
    row += [
        f"{rate(found[f'{name}-dpdk']) / rate(found[f'{name}-bridge']):.2f}"
        for name in APPLICATIONS
    ]
    each = [
        switches(found[arm]) / found[arm]["workloads"][0]["transactions"]
        for arm in ("http-bridge", "http-dpdk")
    ]
    seconds_each = [
        switches(found[arm]) / seconds(found[arm]) for arm in ("http-bridge", "http-dpdk")
    ]
    return row + [f"{100 * (b / a - 1):+.0f} %" for a, b in (each, seconds_each)]


PINS = {
    "hypervisors.node1.pins": {"client": {"cores": [1, 2, 3, 4], "vhost": [5]}},
    "hypervisors.node2.pins": {"server": {"cores": [1, 2, 3, 4], "vhost": [5]}},
}
APART = list(range(6, CORES))
"""Cores of neighbours where virtual machines have cores of their own."""


def noise(arm: str, tasks: int, *, is_pinned: bool) -> str:
    """Lost throughput, and the share of the kernel, beside so many tasks that compute."""
    share: dict[str, Any] = {"tasks": tasks} | ({"cores": APART} if is_pinned else {})
    pins = PINS if is_pinned else {}
    changes = hypervisors(neighbours={"compute": share}) if tasks else {}
    after = outcome(arm, pins | changes)
    return (
        f"{100 * (1 - rate(after) / rate(outcome(arm, pins))):.0f} %, {kernel_percent(after):.0f} %"
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


HEAD = """# What the assumed values do

One trial of 200 ms each, seed 1, one value changed at a time; `sensitivity.py` writes this page. Factors are Open
vSwitch with DPDK over the bridge.

## Factors
"""  # noqa: E501
NOISE_HEAD = """
## Noise

RabbitMQ beside tasks that compute, on 14 cores of each node: lost throughput, and the share of the time
for virtual machines that kernels of hypervisors took.
"""  # noqa: E501


def main() -> None:
    """Writes the page."""
    head = [
        "variation",
        "frames",
        "latency",
        "HTTP",
        "DNS",
        "MQ",
        "SQL",
        "switches, request",
        "switches, second",
    ]
    published = ["**published**", "10", "1/20", "2.0", "", "", "1.5", "-45 %", "-45 %"]
    rows = [published, *([variation.name, *factors(variation.changes)] for variation in VARIATIONS)]
    kinds = [
        ("mq-bridge", False),
        ("mq-ovs", False),
        ("mq-dpdk", False),
        ("mq-bridge", True),
        ("mq-dpdk", True),
    ]
    noises = [
        [str(tasks), *(noise(arm, tasks, is_pinned=pinned) for arm, pinned in kinds)]
        for tasks in NOISES
    ]
    noise_head = ["tasks", "bridge", "ovs", "ovs-dpdk", "bridge, pinned", "ovs-dpdk, pinned"]
    page = (
        HEAD
        + "\n"
        + table(head, rows)
        + "\n"
        + NOISE_HEAD
        + "\n"
        + table(noise_head, noises)
        + "\n"
    )
    (HERE / "sensitivity.md").write_text(page)


if __name__ == "__main__":
    main()
