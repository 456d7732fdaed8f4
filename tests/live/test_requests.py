"""Web server, cache and name server with their load generators, from the command line to the
results."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import machine
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.load import Task
from tailrace.live.programs.nginx_service import Nginx
from tailrace.live.programs.wrk import Wrk
from tailrace.live.trial.servers import Servers
from tailrace.programs import lua_log, nginx
from tailrace.programs.command import Command
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.planned import planned_workloads
from test_lab import DISTRIBUTIONS

SCENARIO = Path(__file__).with_name("requests.yaml")
RUN_LIMIT_S = 120
DONE_LIMIT_S = 30
LATE_S = 0.5
"""A program counts until it hears of the end of the trial, on a busy machine so much later."""
BYTES = {
    "visits": 4000,
    "batches": 109,
    "pages": 4000,
    "files": 20_000,
    "values": 1009,
    "queries": 60,
    "transfers": 4000,
}
DONE = {
    "visits": 2 * 30,
    "batches": 2 * 64,
    "pages": 3 * 40,
    "values": 4 * 60,
    "queries": 8 * 30,
    "transfers": 4 * 20,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run."""
    return tmp_path_factory.mktemp("requests") / "run"


@pytest.fixture(scope="module")
def finished(run: Path) -> dict[str, Any]:
    """The outcome of the run, which leaves the machine as it was."""
    return machine.finished_run(SCENARIO, run, RUN_LIMIT_S, "--log-ingress")


def test_every_request_is_done_and_its_response_has_its_size(finished: dict[str, Any]) -> None:
    for each in finished["workloads"]:
        name, done = each["name"], each["transactions"]
        assert each["goodput_bytes"] == done * BYTES[name]
        assert each["latency"]["count"] == done == each["request_counts"]["answered"]
        assert each["request_counts"]["failed"] == 0
        assert (
            0
            < each["latency"]["min_ps"]
            <= each["latency"]["p99_ps"]
            <= each["latency"]["max_ps"]
            < finished["end_ps"]
        )
        if name in DONE:
            assert (done, each["completion_ps"] is not None) == (DONE[name], True)
        else:
            assert each["cut_off"]["count"] <= 2
    [files] = [each for each in finished["workloads"] if each["name"] == "files"]
    # Two users at 100 Mbit/s, of which the others take a part.
    assert 20 < files["transactions"] < (finished["end_ps"] / 1e12 + LATE_S) * 100e6 / 8 / 20_000


def test_new_connections_are_as_many_as_requests(finished: dict[str, Any]) -> None:
    counts = {each["name"]: each["request_counts"] for each in finished["workloads"]}
    assert (counts["visits"]["connections"], counts["pages"]["connections"]) == (60, 3)
    assert finished["live"]["counters"]["client"]["ActiveOpens"] > 60


def test_programs_versions_and_configurations_are_recorded(finished: dict[str, Any]) -> None:
    assert {"nginx", "wrk", "redis-server", "redis-benchmark", "knotd", "dnsperf"} <= set(
        finished["versions"]
    )
    record = finished["live"]["programs"]
    assert record["commands"]["wrk-pages"][:3] == ["wrk", "--threads", "3"]
    assert "keepalive_requests 1000000000;" in record["configurations"]["nginx-web"]
    assert "Average packet size:  request 44, response 60" in record["reports"]["queries"]
    assert "> NOERROR" not in record["reports"]["queries"]


@pytest.mark.usefixtures("finished")
def test_frames_have_the_ports_of_the_protocols(run: Path) -> None:
    assert machine.server_ports(run) == {"web": {80}, "cache": {6379}, "names": {53}}


def lab_of(folder: Path) -> tuple[str, dict[str, Any]]:
    """The plan, and its first workload."""
    plan = lower(load_scenario(SCENARIO).arms["base"], "base", 1)
    return canonical_json(plan), planned_workloads(plan)[0].flat


@dataclass(frozen=True)
class Serving:
    """A lab with a web server, and the workload that it serves."""

    lab: Lab
    servers: Servers
    raw: dict[str, Any]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """One for all loads."""
    folder = tmp_path_factory.mktemp("serving")
    plan, raw = lab_of(folder)
    servers = Servers([("requests", raw)], folder / "templates")
    servers.make_templates()
    with Lab(plan, folder / "lab") as lab:
        servers.start(lab, {})
        yield Serving(lab, servers, raw)
        servers.stop()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=lambda raw: next(iter(raw)))
def test_wrk_waits_as_long_as_is_computed(serving: Serving, distribution: dict[str, Any]) -> None:
    lab, name = serving.lab, next(iter(distribution))
    changed = {"name": name, "gap": distribution, "requests": 20}
    load = Wrk(Task(serving.raw | changed, 7, DONE_LIMIT_S, serving.servers.of("pages")))
    load.prepare(lab)
    load.tick(lab, 0)
    deadline_s = time.monotonic() + DONE_LIMIT_S
    while not load.is_done and time.monotonic() < deadline_s:
        time.sleep(0.02)
    load.stop(lab)
    # Raises for a pause that is not the one of the seed.
    done = lua_log.transactions(load.work, "wrk", lab.folder / "logs" / f"requests-{name}")
    assert sorted((one.user, one.number) for one in done) == [
        (user, n) for user in range(3) for n in range(1, 21)
    ]
    assert all(one.latency_us > 0 for one in done)


def test_a_port_in_use_is_told_in_words(tmp_path: Path) -> None:
    plan, raw = lab_of(tmp_path)
    service = Nginx("web", [raw], tmp_path / "templates")
    service.make_template()
    with Lab(plan, tmp_path / "lab") as lab:
        first = Nginx("web", [raw], tmp_path / "templates")
        first.start(lab, None)
        first.wait_until_ready()
        other = lab.start(
            Command(
                "other",
                ["nginx", "-e", "stderr", "-c", f"{lab.scratch}/nginx-web/conf"],
                host="web",
            )
        )
        assert not other.wait(DONE_LIMIT_S).is_good
        assert "Address already in use" in other.complaint()
        first.stop()


def test_a_server_that_does_not_start_is_told_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, raw = lab_of(tmp_path)
    monkeypatch.setattr(nginx, "configuration", lambda *_: "daemon off;\nnonsense on;\n")
    servers = Servers([("requests", raw)], tmp_path / "templates")
    servers.make_templates()
    with (
        Lab(plan, tmp_path / "lab") as lab,
        pytest.raises(FabricError, match=r'nginx-web: .*unknown directive "nonsense"'),
    ):
        servers.start(lab, {})


def test_a_response_of_another_size_is_told_before_the_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, raw = lab_of(tmp_path)
    monkeypatch.setattr(nginx, "body_bytes", lambda size, **_: size)
    servers = Servers([("requests", raw)], tmp_path / "templates")
    servers.make_templates()
    with (
        Lab(plan, tmp_path / "lab") as lab,
        pytest.raises(FabricError, match=r"a response of pages has 4\d\d\d bytes, not 4000"),
    ):
        servers.start(lab, {})
