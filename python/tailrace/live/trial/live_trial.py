"""One live trial: a fresh lab, restored databases, the load of every workload, and what all of it measured."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.experiment.native import Outcome
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.measure import probe, settings, waits
from tailrace.live.measure.closings import Closings
from tailrace.live.measure.waits import Watch, losses
from tailrace.live.programs import hammerdb, iperf3
from tailrace.live.programs.bulk import Bulk
from tailrace.live.programs.generators import Generator, Interval
from tailrace.live.programs.hammerdb import HammerDb
from tailrace.live.programs.oltp import Oltp, Users
from tailrace.live.programs.pgbench import Load, Pgbench
from tailrace.live.programs.template import Templates
from tailrace.live.trial import outcome as outcomes
from tailrace.live.trial.databases import Databases
from tailrace.live.trial.outcome import Readings
from tailrace.scenario.workloads.planned import planned_workloads

PS_PER_S = 10**12
US_PER_S = 10**6
POLL_S = 0.02
FIRST_SAMPLE_S = 0.5
SAMPLE_EVERY_S = 2.0
"""Connections are looked at this often: six hosts cost about ten milliseconds of one core."""


class CancelledError(Exception):
    """Somebody asked the trial to stop."""


class LiveTrial:
    """A trial that can be run once."""

    def __init__(
        self,
        plan: Mapping[str, Any],
        plan_json: str,
        folder: Path,
        templates: Templates,
        expected: Callable[[], float],
        options: Sequence[str] = (),
    ) -> None:
        """`expected` tells how many seconds a trial takes, 0 while unknown; `options` are the fabric's."""
        self._plan = plan
        self._plan_json = plan_json
        self._folder = folder
        self._templates = templates
        self._expected = expected
        self._options = options
        self._cancelled = threading.Event()
        self._started_s: float | None = None
        self._limit_s = plan["stop_at_ps"] / PS_PER_S
        self._warm_up_s = plan["observe"].get("warm_up_ps", 0) / PS_PER_S

    def progress(self) -> float:
        """Part that is done, judged by how long the last trial took; 0 for the first one."""
        expected_s = self._expected()
        if self._started_s is None or not expected_s:
            return 0.0
        return min(0.99, (time.monotonic() - self._started_s) / expected_s)

    def cancel(self) -> None:
        """Asks `run` to return soon."""
        self._cancelled.set()

    def run(self) -> Outcome:
        """Runs to the end; raises `FabricError` when a program or the fabric fails."""
        self._started_s = time.monotonic()
        databases = Databases([raw for kind, raw in self._workloads() if kind == "oltp"], self._templates)
        databases.make_templates()
        try:
            with Lab(self._plan_json, self._folder, *self._options) as lab:
                return self._run_in(lab, databases)
        except CancelledError:
            return Outcome({"cancelled": True})

    def _workloads(self) -> list[tuple[str, Mapping[str, Any]]]:
        return [(own.kind, own.flat) for own in planned_workloads(self._plan)]

    def _run_in(self, lab: Lab, databases: Databases) -> Outcome:
        databases.start(lab, {host["name"]: _cpus(host) for host in self._plan["hosts"]})
        generators = self._generators(databases)
        for generator in generators:
            generator.prepare(lab)
        closings = Closings(lab, [host["name"] for host in self._plan["hosts"]])
        trips = self._round_trips(lab)
        found = {host["name"]: settings.read(lab, host["name"]) for host in self._plan["hosts"]}
        settings.require_clean(found, lab.call("counters")["outcome"])
        watch = Watch(int(lab.ready.get("lab_pid", 0)))
        readings = self._measure(lab, generators, closings, watch)
        closings.stop()
        servers = {host: server.stop("INT") for host, server in databases.programs.items()}
        fabric = lab.call("down")["outcome"]
        measured = [generator.measured(readings.interval) for generator in generators]
        whole = outcomes.assemble(self._plan, fabric, measured, readings, servers, trips)
        whole["live"]["core_waits"] = self._core_waits(whole, watch, generators, databases, readings)
        span_s = readings.interval.span_s
        whole["live"]["kernel_wait_share"] = {name: wait / span_s for name, wait in watch.kernel_wait_s().items()}
        whole["live"]["settings"] = found
        whole["live"]["warnings"] = list(lab.ready.get("warnings", []))
        tables = outcomes.tables(self._plan, fabric, measured, whole["end_ps"])
        assert self._started_s is not None, "run sets it"
        return Outcome(whole | {"wall_s": time.monotonic() - self._started_s}, tables)

    def _core_waits(
        self,
        whole: Mapping[str, Any],
        watch: Watch,
        generators: Sequence[Generator],
        databases: Databases,
        readings: Readings,
    ) -> dict[str, dict[str, float]]:
        """What every workload lost because its programs waited for a core."""
        servers = {host: program.command.name for host, program in databases.programs.items()}
        names = {program.pid: program.command.name for program in databases.programs.values()}
        names |= {program.pid: program.command.name for each in generators for program in each.programs}
        waited = {names[pid]: one for pid, one in watch.waited().items() if pid in names}
        programs = {each.name: [program.command.name for program in each.programs] for each in generators}
        for kind, raw in self._workloads():
            if kind == "oltp":
                programs[raw["name"]].append(servers[raw["server"]])
        span_ps = readings.interval.span_s * PS_PER_S
        seconds = {one["name"]: (one["completion_ps"] or span_ps) / PS_PER_S for one in whole["workloads"]}
        return losses(self._plan, waited, seconds, programs, readings.cpu.shares)

    def _generators(self, databases: Databases) -> list[Generator]:
        made: list[Generator] = []
        port = iperf3.FIRST_PORT
        for kind, raw in self._workloads():
            if kind == "oltp":
                load = Load(raw, self._plan["seed"], databases.template(raw["server"]).rows)
                made.append(Oltp(load, self._users(load)))
                continue
            pairs_of = iperf3.stream_pairs if kind == "stream" else iperf3.datagram_pairs
            pairs = pairs_of(raw, port, self._limit_s)
            port += len(pairs)
            made.append(Bulk(kind, raw["name"], pairs))
        return made

    def _users(self, load: Load) -> Users:
        if load.raw.get("load_generator") == "hammerdb":
            installed = hammerdb.installation()
            if installed is None:
                raise FabricError("HammerDB is not installed any more")
            return HammerDb(load, installed, self._limit_s)
        return Pgbench(load, self._templates.installed.program("pgbench"), self._limit_s)

    def _round_trips(self, lab: Lab) -> dict[str, dict[str, float]]:
        """Pings between the two hosts of each workload, before anything else is sent."""
        ends = {(*_client_and_server(kind, raw), int(raw.get("vlan") or 0)) for kind, raw in self._workloads()}
        places = {(a, b, vlan): f"{a}>{b} in VLAN {vlan}" if vlan else f"{a}>{b}" for a, b, vlan in sorted(ends)}
        return {
            place: probe.round_trip_us(lab, a, f"{b}-{vlan}", lab.address(b, vlan))
            for (a, b, vlan), place in places.items()
        }

    def _measure(self, lab: Lab, generators: Sequence[Generator], closings: Closings, watch: Watch) -> Readings:
        hosts = [host["name"] for host in self._plan["hosts"]]
        before = {host: probe.counters(lab, host, "before") for host in hosts}
        cpu = probe.cpu()
        watch.begin()
        lab.call("begin")
        begun_s, begun_wall_us = time.monotonic(), time.time_ns() // 1000
        samples = self._drive(lab, generators, begun_s, watch)
        watch.look()
        ended_s = time.monotonic()
        lab.call("end")
        used = probe.cpu().used_since(cpu)
        for generator in generators:
            generator.stop(lab)
        after = {host: probe.counters(lab, host, "after") for host in hosts}
        counted = {host: probe.difference(before[host], after[host]) for host in hosts}
        meant = {generator.name: generator.connections(lab) for generator in generators}
        closed = {name: closings.pair(wanted) for name, wanted in meant.items() if wanted}
        programs = [program for generator in generators for program in generator.programs]
        return Readings(
            Interval(begun_wall_us, ended_s - begun_s, self._warm_up_s), counted, used, samples, programs, closed
        )

    def _drive(
        self, lab: Lab, generators: Sequence[Generator], begun_s: float, watch: Watch
    ) -> list[probe.Connections]:
        """Until every workload with an end has come to it, or the time is over."""
        finite = [generator for generator in generators if generator.is_finite]
        senders = sorted({outcomes.sender_and_receiver(kind, raw)[0] for kind, raw in self._workloads()})
        samples: list[probe.Connections] = []
        next_sample_s, next_look_s = FIRST_SAMPLE_S, waits.SAMPLE_EVERY_S
        while (elapsed_s := time.monotonic() - begun_s) < self._limit_s:
            for generator in generators:
                generator.tick(lab, elapsed_s)
                _refuse_failures(generator)
            if finite and all(generator.is_done for generator in finite):
                break
            if elapsed_s >= next_look_s:
                next_look_s = elapsed_s + waits.SAMPLE_EVERY_S
                watch.look()
            if elapsed_s >= next_sample_s:
                next_sample_s = elapsed_s + SAMPLE_EVERY_S
                samples += [probe.connections(lab, host, len(samples) + i) for i, host in enumerate(senders)]
            if self._cancelled.wait(POLL_S):
                raise CancelledError
        return samples


def _refuse_failures(generator: Generator) -> None:
    """A load generator that fails would make a network look fast."""
    for program in generator.programs:
        if program.ended is not None and not program.ended.is_good:
            raise FabricError(program.complaint())


def _cpus(host: Mapping[str, Any]) -> float | None:
    """Cores of a host's programs; None for as many as there are."""
    cores = host["cpu"]["program_cores"]
    return float(cores) if cores else None


def _client_and_server(kind: str, raw: Mapping[str, Any]) -> tuple[str, str]:
    """The host that opens a workload's connections, and the one that is asked."""
    sender, receiver = outcomes.sender_and_receiver(kind, raw)
    return (receiver, sender) if kind == "oltp" else (sender, receiver)
