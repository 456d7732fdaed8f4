"""A workload of requests: its work, and what engines refuse of it."""

import json
from pathlib import Path
from typing import Any

import pytest

import tailrace.exact.refuse
from tailrace.errors import ScenarioError
from tailrace.exact.refuse import refuse as refuse_exact
from tailrace.live.refuse import refuse
from tailrace.programs.needed import Needed
from tailrace.programs.requests import RequestWork
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.planned import planned_workloads


def scenario(**keys: Any) -> dict[str, Any]:
    """A scenario of one workload of requests."""
    workload = {"kind": "requests", "client": "a", "server": "b", "users": 3, "requests": 4} | keys
    return {
        "tailrace": 1,
        "name": "s",
        "network": {"topology": {"kind": "star", "hosts": ["a", "b", "c"]}},
        "workloads": {"web": {key: value for key, value in workload.items() if value is not None}},
        "experiment": {"duration": "2s"},
    }


def work(**keys: Any) -> RequestWork:
    """The work of that workload, as it stands in a plan."""
    sizes = {} if "preset" in keys else {"request": "200B", "response": "4kB"}
    plan = lower(load_scenario(scenario(**sizes | keys)).scenario, "base", 1)
    [planned] = planned_workloads(json.loads(json.dumps(plan)))
    return RequestWork.of(planned.flat, 7)


def refusals(*, is_exact: bool = True, **keys: Any) -> list[str]:
    """What live runs, and exact ones for a named program, refuse of that workload; the latter as if
    every program were installed.
    """
    loaded = load_scenario(scenario(**{"request": "200B", "response": "4kB"} | keys))
    found = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tailrace.exact.refuse, "path_of", _installed)
        for each in (refuse, refuse_exact) if is_exact and "load_generator" in keys else (refuse,):
            try:
                each(loaded, loaded.arms)
            except ScenarioError as error:
                found.append(
                    [
                        str(problem).removeprefix("scenario: workloads.web")
                        for problem in error.problems
                    ]
                )
            else:
                found.append([])
    assert all(one == found[0] for one in found), "both engines refuse the same"
    return found[0]


def _installed(needed: Needed) -> Path:
    return Path("/usr/bin") / needed.program
