"""One live trial: a new lab, restored databases, the load of every workload, and the
measurements."""

import shutil
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailrace.experiment.native import Cancelled, Ran
from tailrace.live import registry
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.priority import ahead_of_programs
from tailrace.live.lab.program import Program
from tailrace.live.load import Load
from tailrace.live.measure import costs, probe, settings, waits
from tailrace.live.measure.chronographs import EVERY_S, Chronographs, sockets_text
from tailrace.live.measure.closings import Closings
from tailrace.live.measure.costs import Share
from tailrace.live.measure.waits import Using, Watch, losses
from tailrace.live.neighbours import Neighbours
from tailrace.live.storage import ON_DISK
from tailrace.live.trial import outcome as outcomes
from tailrace.live.trial.outcome import Around, Readings
from tailrace.live.trial.servers import Servers
from tailrace.outcome.types import CoreWait, LivePrograms, RoundTrip
from tailrace.programs.measured import Measured, MeasuredInterval
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.scenario.workloads.ports import PORT_MAX

PS_PER_S = 10**12
US_PER_S = 10**6
NS_PER_S, NS_PER_US = 10**9, 10**3
CLOCKS_WITHIN_US = 10
"""The fabric reads its own clock and that of the day one after the other, and says when the
interval began by both."""
POLL_S = 0.02
MOVED = "{}: its server listens at port {} and not {}, where another program of its host listens"
FIRST_SAMPLE_S = 0.5
REPORT_CHARACTERS_MAX = 8000
"""Maximum characters of a program's report; its tables have fewer."""
SAMPLE_EVERY_S = 2.0
"""Time between two samples of connections: six hosts cost about ten milliseconds of one core."""


class CancelledError(Exception):
    """The trial was asked to stop."""


class LiveTrial:
    """A trial that can be run once."""

    def __init__(
        self,
        plan: Mapping[str, Any],
        plan_json: str,
        folder: Path,
        templates: Path,
        expected: Callable[[], float],
        options: Sequence[str] = (),
    ) -> None:
        """`templates` is a folder for the initial data of all trials; `options` are the fabric's.
        `expected` returns the expected seconds of a trial, 0 while unknown."""
        self._plan = plan
        self._plan_json = plan_json
        self._folder = folder
        self._templates = templates
        self._expected = expected
        self._options = options
        self._cancelled = threading.Event()
        self._started_s: float | None = None
        self._neighbours = Neighbours(plan)
        self._moved: list[str] = []
        self._limit_s = plan["stop_at_ps"] / PS_PER_S
        self._warm_up_s = plan["observe"].get("warm_up_ps", 0) / PS_PER_S

    def progress(self) -> float:
        """Share that is done, estimated from the time of the last trial; 0 for the first one."""
        expected_s = self._expected()
        if self._started_s is None or not expected_s:
            return 0.0
        return min(0.99, (time.monotonic() - self._started_s) / expected_s)

    def cancel(self) -> None:
        """Requests `run` to return early."""
        self._cancelled.set()

    def run(self) -> Ran | Cancelled:
        """Runs to the end; raises `FabricError` when a program or the fabric fails."""
        self._started_s = time.monotonic()
        servers = Servers(self._workloads(), self._templates)
        servers.make_templates()
        try:
            with Lab(self._plan_json, self._folder, *self._options) as lab:
                lab.pins = pins(self._plan)
                return self._run_in(lab, servers)
        except CancelledError:
            return Cancelled()
        finally:
            shutil.rmtree(self._folder / ON_DISK, ignore_errors=True)

    def _workloads(self) -> list[tuple[str, Mapping[str, Any]]]:
        devices = {device["name"]: device for device in self._plan.get("devices") or []}
        return [
            (
                own.kind,
                own.flat | {"device_values": devices[own.flat["device"]]}
                if "device" in own.flat
                else own.flat,
            )
            for own in planned_workloads(self._plan)
        ]

    def _run_in(self, lab: Lab, servers: Servers) -> Ran:
        servers.start(lab, {host["name"]: _cpus(host) for host in self._plan["hosts"]})
        loads = self._loads(servers)
        for load in loads:
            load.prepare(lab)
        closings = Closings(lab, [host["name"] for host in self._plan["hosts"]])
        trips = self._round_trips(lab, loads)
        found = {host["name"]: settings.read(lab, host["name"]) for host in self._plan["hosts"]}
        settings.require_clean(found, lab.counters())
        background = frozenset(name for load in loads for name in load.background_threads)
        watch = Watch(int(lab.ready.get("lab_pid", 0)), background=background)
        with ahead_of_programs():
            self._neighbours.start(lab, self._limit_s)
            readings = self._measure(lab, loads, closings, watch, servers.programs)
            self._neighbours.stop()
        closings.stop()
        ended = servers.stop()
        counted = lab.counters("down")
        measured = [load.measured(readings.interval) for load in loads]
        span_s = readings.interval.span_s
        around = Around(
            ends={load.name: load.ends for load in loads},
            servers=ended,
            round_trips=trips,
            core_waits=self._core_waits(measured, watch, loads, servers, readings),
            kernel_wait_share={name: wait / span_s for name, wait in watch.kernel_wait_s().items()},
            settings=found,
            programs=_record(servers, loads, self._neighbours),
            charged=costs.by_host(readings.spent, _shares(loads)),
            neighbours=self._neighbours.programs,
            kind=str(lab.ready.get("kind", TAP)),
            warnings=[
                *lab.ready.get("warnings", []),
                *self._moved,
                *(text for load in loads for text in load.warnings()),
            ],
        )
        assert self._started_s is not None, "run sets it"
        wall_s = time.monotonic() - self._started_s
        outcome = outcomes.assemble(self._plan, counted, measured, readings, around, wall_s)
        return Ran(outcome, outcomes.tables(self._plan, counted, measured, outcome.end_ps))

    def _core_waits(
        self,
        measured: Sequence[Measured],
        watch: Watch,
        loads: Sequence[Load],
        servers: Servers,
        readings: Readings,
    ) -> dict[str, CoreWait]:
        """The time that every workload lost because its programs waited for a core."""
        names = {program.pid: program.command.name for program in servers.programs}
        names |= {program.pid: program.command.name for load in loads for program in load.programs}
        waited = {names[pid]: one for pid, one in watch.waited().items() if pid in names}
        span_ps = readings.interval.span_s * PS_PER_S
        seconds = {
            one.outcome.name: (one.outcome.completion_ps or span_ps) / PS_PER_S for one in measured
        }
        return losses([self._using(load) for load in loads], waited, seconds, readings.cpu.shares)

    def _using(self, load: Load) -> Using:
        """The programs that the users of a workload wait for."""
        service = load.task.service
        programs = [*load.programs, *(service.programs if service else [])]
        buffers = {
            host["name"]: int(host["tcp"]["send_buffer"]["maximum_bytes"])
            for host in self._plan["hosts"]
        }
        exposed = load.exposed(buffers[load.ends[0]])
        return Using(
            load.name, load.waiting, exposed, [program.command.name for program in programs]
        )

    def _loads(self, servers: Servers) -> list[Load]:
        """Their own servers listen at the ports of the plan, or at the next ones that are free."""
        made: list[Load] = []
        taken = set(servers.addresses)
        ends = {own.name: own.ends.peers for own in planned_workloads(self._plan)}
        for kind, raw in self._workloads():
            for port in range(raw["port"], PORT_MAX):
                load = registry.make_load(
                    kind, servers.task(raw, self._plan["seed"], self._limit_s, first_port=port)
                )
                own = {
                    (host, port + number)
                    for host in ends[raw["name"]]
                    for number in range(load.ports)
                }
                if not own & taken:
                    break
            taken |= own
            made.append(load)
            if load.ports and port != raw["port"]:
                self._moved.append(MOVED.format(raw["name"], port, raw["port"]))
        return made

    def _round_trips(self, lab: Lab, loads: Sequence[Load]) -> dict[str, RoundTrip]:
        """Pings between the two hosts of each workload, before all other traffic."""
        ends = {(*load.opens, int(load.task.raw.get("vlan") or 0)) for load in loads}
        names = {
            (a, b, vlan): f"{a}>{b} in VLAN {vlan}" if vlan else f"{a}>{b}"
            for a, b, vlan in sorted(ends)
        }
        return {
            name: probe.round_trip_us(lab, a, f"{b}-{vlan}", lab.address(b, vlan))
            for (a, b, vlan), name in names.items()
        }

    def _measure(
        self,
        lab: Lab,
        loads: Sequence[Load],
        closings: Closings,
        watch: Watch,
        servers: Sequence[Program],
    ) -> Readings:
        hosts = [host["name"] for host in self._plan["hosts"]]
        before = {host: probe.counters(lab, host, "before") for host in hosts}
        ports, backlog = probe.switch_interfaces(lab, "before"), probe.backlog()
        cpu = probe.cpu()
        watch.begin()
        asked_s = time.monotonic()
        begun = lab.call("begin")
        begun_s, begun_wall_ns = time.monotonic(), time.time_ns()
        begun_within_us = round((begun_s - asked_s) * US_PER_S)
        if (fabric_ns := begun.get("begun_epoch_ns")) is not None:
            begun_s -= (begun_wall_ns - fabric_ns) / NS_PER_S
            begun_wall_ns, begun_within_us = fabric_ns, CLOCKS_WITHIN_US
        begun_wall_us = begun_wall_ns // NS_PER_US
        chronographs = Chronographs(self._warm_up_s)
        samples = self._drive(lab, loads, begun_s, watch, chronographs)
        watch.sample()
        ended_s = time.monotonic()
        lab.call("end")
        used = probe.cpu().used_since(cpu)
        programs = [program for load in loads for program in load.programs]
        spent = costs.Counted.at_end(watch, [*programs, *servers, *self._neighbours.programs])
        self._neighbours.require_running()
        for load in loads:
            load.stop(lab)
        meant = {load.name: load.connections(lab) for load in loads}
        closed = {name: closings.pair(wanted) for name, wanted in meant.items() if wanted}
        limits = {name: chronographs.of(wanted) for name, wanted in meant.items() if wanted}
        # Hosts are read when their connections have ended: by then they have counted everything
        # that a connection counted.
        after = {host: probe.counters(lab, host, "after") for host in hosts}
        counted = {host: probe.difference(before[host], after[host]) for host in hosts}
        after_ports = probe.switch_interfaces(lab, "after")
        return Readings(
            MeasuredInterval(begun_wall_us, ended_s - begun_s, self._warm_up_s, begun_within_us),
            counted,
            used,
            samples,
            programs,
            closed,
            limits,
            spent,
            {name: probe.difference(ports.get(name, {}), now) for name, now in after_ports.items()},
            probe.difference(backlog, probe.backlog()),
            meant,
        )

    def _drive(
        self,
        lab: Lab,
        loads: Sequence[Load],
        begun_s: float,
        watch: Watch,
        chronographs: Chronographs,
    ) -> list[probe.Connections]:
        """Waits until every finite workload has finished, unless the trial lasts to its end, or the
        time is over."""
        finite = [load for load in loads if load.is_finite and not self._plan.get("lasts_to_stop")]
        senders = sorted({load.ends[0] for load in loads})
        samples: list[probe.Connections] = []
        hosts = sorted({host for load in loads for host in load.ends})
        next_sample_s, next_poll_s, polls = FIRST_SAMPLE_S, waits.SAMPLE_EVERY_S, 0
        next_chronograph_s = EVERY_S / 2
        while (elapsed_s := time.monotonic() - begun_s) < self._limit_s:
            for load in loads:
                load.tick(lab, time.monotonic() - begun_s)  # starting the one before took its time
                _refuse_failures(load)
            self._neighbours.require_running()
            if finite and all(load.is_done for load in finite):
                break
            if elapsed_s >= next_poll_s:
                next_poll_s = elapsed_s + waits.SAMPLE_EVERY_S
                watch.sample()
            if elapsed_s >= next_chronograph_s:
                next_chronograph_s = elapsed_s + EVERY_S
                polls += 1
                for host in hosts:
                    text = sockets_text(lab, host, polls)
                    chronographs.sample(host, time.monotonic() - begun_s, text)
            if elapsed_s >= next_sample_s:
                next_sample_s = elapsed_s + SAMPLE_EVERY_S
                samples += [
                    probe.connections(lab, host, len(samples) + i) for i, host in enumerate(senders)
                ]
            if self._cancelled.wait(POLL_S):
                raise CancelledError
        return samples


def _record(servers: Servers, loads: Sequence[Load], neighbours: Neighbours) -> LivePrograms:
    """The executed programs: command lines, configurations, and the programs' own reports."""
    started = [
        *servers.programs,
        *(program for load in loads for program in load.programs),
        *neighbours.programs,
    ]
    reports = {load.name: load.report() for load in loads} | neighbours.report() | servers.reports
    return LivePrograms(
        commands={program.command.name: list(program.command.argv) for program in started},
        configurations=servers.configurations,
        reports={name: text[-REPORT_CHARACTERS_MAX:] for name, text in reports.items() if text},
    )


def _refuse_failures(load: Load) -> None:
    """A load generator that fails would make a network appear fast."""
    for program in load.failed:
        raise FabricError(program.complaint())


def _shares(loads: Sequence[Load]) -> list[Share]:
    """The programs of each workload, with its part of a server by its users."""
    users: dict[int, int] = {}
    for load in loads:
        if (service := load.task.service) is not None:
            users[id(service)] = users.get(id(service), 0) + load.waiting
    found = [Share(program, load.name) for load in loads for program in load.programs]
    for load in loads:
        if (service := load.task.service) is not None:
            part = load.waiting / users[id(service)]
            found += [Share(program, load.name, part) for program in service.programs]
    return found


def _cpus(host: Mapping[str, Any]) -> float | None:
    """Cores whose time a host's programs share; None for as many as there are, and for pinned
    programs."""
    cores = host["cpu"]["program_cores"]
    return float(cores) if cores and _pinned(host) is None else None


def pins(plan: Mapping[str, Any]) -> dict[str, list[int]]:
    """By host, the cores on which its programs must stay: core n of a processor is core n of the
    machine."""
    found = {host["name"]: cores for host in plan["hosts"] if (cores := _pinned(host))}
    for hypervisor in plan.get("hypervisors", []):
        for machine in hypervisor["machines"]:
            cores = sorted({core for virtual in machine["cores"] for core in virtual})
            if cores and len(cores) < hypervisor["cores"]:
                found[machine["host"]] = cores
    return found


def _pinned(host: Mapping[str, Any]) -> list[int] | None:
    """None where its programs may use all cores of the host."""
    processor = host["cpu"].get("processor") or {}
    cores = list(processor.get("program_cores", []))
    return cores if cores and len(cores) < processor["cores"] else None
