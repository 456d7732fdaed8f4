"""The WebAssembly module that the package ships does what the native simulator does, in 30 plans.

The module is judged by this alone: where all outcomes are the same, an edit of the simulator needs
no new module.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from simulator_module import run_module
from tailrace.experiment.native import drop_causes, make_trial, values
from tailrace.experiment.plans import Plans
from tailrace.experiment.scale import scaled
from tailrace.experiment.schedule import TrialKey
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.workloads.kinds import KINDS

ROOT = Path(__file__).parents[3]
SCALE = 0.1
SHOWN = 8
"""Figures that differ, of those that a failure shows."""
TABLES = ("queue_depth", "port_series")
"""Those that the module gives: crates/web/src/answer.rs."""
TIME_OF_THE_RUN = "wall_s"
UNREACHED = {"no-route"}
"""Plans of scenarios have routes to every host."""


@dataclass(frozen=True, eq=False)
class Case:
    """An arm of a scenario with other values."""

    file: str
    arm: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    scale: float = SCALE

    def __str__(self) -> str:
        return f"{self.file} {self.arm}"


MATCHED = [
    {"pcp": [0], "source_port": "1-65535", "source": "web", "class": 0},
    {"dscp": ["ef"], "destination": "sink", "class": 5},
    {"ingress": "storage", "destination_port": "1-65535", "protocol": "udp", "class": 3},
]
CASES = (
    Case("examples/afd.yaml", "afd"),
    Case("examples/blocks.yaml", "beyond-1500"),
    Case("examples/bond.yaml", "by-flow"),
    Case("examples/cut-through.yaml", "cut-through", scale=1),
    Case("examples/dctcp.yaml", "dctcp", {"policies.marking.queues.all.limit": "500 frames"}),
    Case(
        "examples/dpp.yaml",
        "dpp",
        {"policies.dpp.dpp.when_full": "untracked", "policies.dpp.dpp.table_entries": 16},
    ),
    Case("examples/dpp.yaml", "dpp-naive", {"switches.leaf.port_mtu": {"small": "1500B"}}),
    Case(
        "examples/ets.yaml",
        "floor",
        {"policies.floor.queues.web.shape": {"max": "2Gbit/s"}, "switches.leaf.classify": MATCHED},
    ),
    Case("examples/frames.yaml", "own-queue"),
    Case("examples/limits.yaml", "pacing"),
    Case("examples/host-ets.yaml", "source"),
    Case("examples/iscsi.yaml", "write"),
    Case("examples/jumbo.yaml", "mtu-9000", scale=0.5),
    Case("examples/leaf-spine.yaml", "load-60"),
    Case("examples/limits.yaml", "cap"),
    Case(
        "examples/mpi.yaml",
        "beside-pfc",
        {"policies.lossless.pfc.lossy": "20kB", "workloads.second.priority": 0},
    ),
    Case("examples/nexus.yaml", "dpp-afd-ecn"),
    Case("examples/noisy-neighbour.yaml", "quota"),
    Case("examples/pfc.yaml", "link-pause", {"policies.link-pause.link_pause.headroom": "8kB"}),
    Case("examples/qcn.yaml", "qcn"),
    Case("examples/reassembly-collapse.yaml", "defaults", scale=0.5),
    Case("examples/requests.yaml", "few"),
    Case(
        "examples/shared-buffer.yaml",
        "alpha-1",
        {"policies.one.queues.all.reserved": "20kB"},
        scale=1,
    ),
    Case("examples/spanning-tree.yaml", "tree-per-vlan"),
    Case("examples/storage-local.yaml", "mixed-with-flushes", scale=1),
    Case("examples/storm.yaml", "watchdog", scale=0.2),
    Case("examples/virtual-switch.yaml", "bridge-noise", scale=1),
    Case("examples/wred.yaml", "strict-ecn", {"policies.strict-ecn.queues.all.aqm.gentle": True}),
    Case(
        "reproductions/lock-out/scenario.yaml",
        "codel",
        {
            "policies.codel.queues.all.aqm.ce_threshold": "1ms",
            "policies.codel.queues.all.aqm.ecn": True,
        },
    ),
    Case("tests/live/replay.yaml", "base"),
)


@cache
def plan_of(case: Case) -> str:
    """The text of the plan of its first trial."""
    loaded = load_scenario(ROOT / case.file, dict(case.changes))
    return Plans({case.arm: scaled(loaded.arms[case.arm], case.scale)}).json(TrialKey(case.arm, 1))


@cache
def native(case: Case) -> dict[str, Any]:
    """What the native simulator says, on one core."""
    pieces, _lists, made = make_trial(plan_of(case), 1).run()
    # Numbers are written and read once, as a page reads them.
    told = json.loads("".join(pieces))
    tables = {name: values(made[name]) for name in TABLES if name in made}
    return {"outcome": told, "tables": json.loads(json.dumps(tables, default=list))}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_module_gives_the_outcome_of_the_native_simulator(case: Case) -> None:
    answer = run_module(plan_of(case))
    assert isinstance(answer, dict), (
        f"{case}: the module refuses the plan, it is of an older simulator: make whatif: {answer}"
    )
    different = list(differences(answer, native(case)))
    assert not different, told(case, different)


def told(case: Case, different: list[str]) -> str:
    """Which plan, and the first figures that differ."""
    more = f"\n  and {len(different) - SHOWN} more" if len(different) > SHOWN else ""
    shown = "".join(f"\n  {each}" for each in different[:SHOWN])
    return (
        f"the module is of an older simulator: make whatif ({case}: {len(different)} figures "
        f"differ){shown}{more}"
    )


def differences(module: Any, simulator: Any, path: str = "") -> Iterator[str]:
    """The figures that differ, each with its path; the time that the run took is none of the
    simulator's."""
    if path == f".outcome.{TIME_OF_THE_RUN}":
        return
    if isinstance(module, dict) and isinstance(simulator, dict):
        for key in sorted(module.keys() | simulator.keys()):
            yield from differences(
                module.get(key, "missing"), simulator.get(key, "missing"), f"{path}.{key}"
            )
    elif isinstance(module, list) and isinstance(simulator, list) and len(module) == len(simulator):
        for index, pair in enumerate(zip(module, simulator, strict=True)):
            yield from differences(*pair, f"{path}[{index}]")
    elif module != simulator or type(module) is not type(simulator):
        yield f"{path.removeprefix('.')}: module {_short(module)}, native {_short(simulator)}"


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}.. ({type(value).__name__} of {len(value)})"


def test_a_difference_is_told_with_its_plan_and_its_figures() -> None:
    case = CASES[0]
    same = native(case)
    assert list(differences(same, json.loads(json.dumps(same)))) == []
    other: dict[str, Any] = json.loads(json.dumps(same))
    other["outcome"]["wall_s"] += 1
    assert list(differences(other, same)) == [], "the time of the run"
    other["outcome"]["ports"][0]["queues"][0]["drops"]["afd"]["frames"] += 1
    del other["tables"]["queue_depth"]["time_ps"][-1]
    other["outcome"]["digest"] = "0"
    words = told(case, list(differences(other, same)))
    assert words.startswith(
        "the module is of an older simulator: make whatif "
        "(examples/afd.yaml afd: 3 figures differ)\n"
    )
    assert f'outcome.digest: module "0", native "{same["outcome"]["digest"]}"' in words
    assert "outcome.ports[0].queues[0].drops.afd.frames: module " in words
    assert "tables.queue_depth.time_ps: module [" in words


def test_the_plans_have_every_kind_of_workload_every_key_of_a_switch_and_every_cause_of_a_drop() -> (  # noqa: E501
    None
):
    plans = [json.loads(plan_of(case)) for case in CASES]
    assert {name for plan in plans for load in plan["workloads"] for name in load["body"]} == set(
        KINDS
    )
    used = {name for plan in plans for name in _used(plan["switches"])}
    assert keys_of_switches() - used == set(), "a mechanism of switches that no plan of CASES uses"
    causes = {name for case in CASES for name in _causes(native(case)["outcome"])}
    assert set(drop_causes()) - causes == UNREACHED


def keys_of_switches() -> set[str]:
    """Names of the keys and of the variants that a switch may have in a plan."""
    text = (ROOT / "crates" / "plan" / "src" / "raw" / "switch.rs").read_text(encoding="utf-8")
    keys = set(re.findall(r"^ {4,8}(?:pub )?([a-z_0-9]+): ", text, flags=re.MULTILINE))
    variants = re.findall(r"^ {4}([A-Z][A-Za-z]*)(?:\(.*\)| \{)?,?$", text, flags=re.MULTILINE)
    found = keys | {re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower() for name in variants}
    assert {
        "store-and-forward",
        "step",
        "threshold_bytes",
        "qcn",
        "watchdog",
        "order-safe",
    } <= found
    return found


def _used(value: Any) -> Iterator[str]:
    """Keys that have a value, and values that are words."""
    if isinstance(value, dict):
        for key, each in value.items():
            # Zero is a number of a queue, and stands for none everywhere else.
            if key == "express_queue" or each not in (None, [], {}, False, 0):
                yield key
            yield from _used(each)
    elif isinstance(value, list):
        for each in value:
            yield from _used(each)
    elif isinstance(value, str):
        yield value


def _causes(outcome: dict[str, Any]) -> Iterator[str]:
    """Causes for which switches have dropped frames."""
    counted = [queue["drops"] for port in outcome["ports"] for queue in port["queues"]]
    for drops in [*counted, *(switch["early_drops"] for switch in outcome["switches"])]:
        yield from (cause for cause, number in drops.items() if number["frames"])
