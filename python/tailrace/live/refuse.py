"""What real programs and this machine cannot do, told before anything starts, with the place in the file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.errors import KeyPath, ScenarioError
from tailrace.live.programs import hammerdb
from tailrace.live.programs.draws import Draw, UnknownDrawError
from tailrace.scenario.loading import Loaded
from tailrace.scenario.network.host import Host, Tcp
from tailrace.scenario.network.network import Framing
from tailrace.scenario.network.topology import Graph, expand
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.base import WorkloadKind
from tailrace.scenario.workloads.datagrams import Datagrams
from tailrace.scenario.workloads.flows import Flows
from tailrace.scenario.workloads.oltp import Oltp
from tailrace.scenario.workloads.stream import Stream

Found = Iterator[tuple[KeyPath, str, str]]
"""Path, what cannot be run, hint."""

DATAGRAM_BYTES_MAX = 65_507
"""Largest UDP payload over IPv4."""
TCP_FIXED = {
    "window_cap": "Linux has no such limit",
    "rto_max": "Linux's is 120s",
}
"""TCP settings that only the simulator can change, and what holds live."""
VLANS_MAX = 178
"""Networks 10.78.0.0/16 to 10.255.0.0/16, one for each VLAN."""
RTO_MIN_PS = 10**9
"""Smallest minimum of the retransmission timeout that a route can have: 1 ms."""
KERNEL_NAMES = {"new-reno": "reno"}
"""Where Linux has another name for a congestion control."""
GROUPS_NEEDED = "control groups of version 2, and this machine or user has none"
FRAMES_PER_DATA_FRAME = 1.5
"""Linux acknowledges every second segment, more rarely with GRO: a data frame is at most this many frames."""


@dataclass(frozen=True)
class Machine:
    """What this machine can do; None where it is not known or not asked."""

    frames_per_s_max: float | None = None
    congestion_controls: frozenset[str] | None = None
    """By the kernel's names."""
    has_hammerdb: bool | None = None
    has_priorities: bool | None = None
    """Whether this user may make control groups that give the sockets of programs a priority and a code point: those of
    version 2."""
    can_limit_cpus: bool | None = None
    """Whether control groups limit the time of processors."""

    @classmethod
    def of(cls, found: Mapping[str, Any], frames_per_s_max: float) -> "Machine":
        """From what the fabric's doctor found."""
        controls = found.get("congestion_controls")
        return cls(
            frames_per_s_max,
            frozenset(controls) if controls else None,
            has_priorities=False if found.get("cgroup_usable") is False else found.get("priorities"),
            can_limit_cpus=found.get("cpu_limits"),
        )


def refuse(loaded: Loaded, arms: Mapping[str, Scenario], machine: Machine) -> None:
    """Raises `ScenarioError` with everything that cannot be run live in any of these arms."""
    found: dict[tuple[KeyPath, str], str] = {}
    for scenario in arms.values():
        for path, what, hint in _all(scenario, machine):
            found.setdefault((path, what), hint)
    problems = [loaded.document.problem(path, what, hint) for (path, what), hint in found.items()]
    if problems:
        raise ScenarioError(problems)


def _all(scenario: Scenario, machine: Machine) -> Found:
    if scenario.network.framing != Framing():
        yield ("network", "framing"), "live frames are Ethernet's", "leave framing out"
    for name, workload in scenario.running.items():
        yield from _workload(("workloads", name), workload)
    yield from _servers(scenario)
    yield from _vlans(scenario)
    yield from _marked_datagrams(scenario)
    for name, host in scenario.hosts.items():
        yield from _host(("hosts", name), host)
    if machine.has_hammerdb is False:
        yield from _hammerdb(scenario)
    if machine.congestion_controls is not None:
        yield from _congestion_controls(scenario, machine.congestion_controls)
    yield from _groups(scenario, machine)
    if machine.frames_per_s_max is not None:
        yield from _rates(scenario, expand(scenario.network), machine.frames_per_s_max)


def _groups(scenario: Scenario, machine: Machine) -> Found:
    """What needs control groups that this machine or this user does not have."""
    if machine.can_limit_cpus is False:
        for name, host in scenario.hosts.items():
            if host.cpu.program_cores:
                what = "no control group of this machine and user limits the time of processors"
                yield (
                    ("hosts", name, "cpu", "program_cores"),
                    what,
                    "leave it out; see `tailrace doctor`",
                )
    if machine.has_priorities is False:
        for name, workload in scenario.running.items():
            if workload.priority:
                what = f"priorities of programs need {GROUPS_NEEDED}"
                yield ("workloads", name, "priority"), what, "leave it out; see `tailrace doctor`"
            # iperf3 marks its datagrams itself.
            if workload.dscp and isinstance(workload, Oltp | Stream):
                what = f"code points of connections need {GROUPS_NEEDED}"
                yield ("workloads", name, "dscp"), what, "leave it out; see `tailrace doctor`"


def _workload(at: KeyPath, workload: WorkloadKind) -> Found:
    match workload:
        case Flows():
            yield (*at, "kind"), "no real program makes flows with sizes of a distribution", "simulate it"
        case Oltp():
            yield from _oltp(at, workload)
        case Stream():
            if workload.pin_forward or workload.pin_backward:
                yield at, "live paths cannot be pinned", "leave pin_forward and pin_backward out"
        case Datagrams():
            yield from _datagrams(at, workload)


def _oltp(at: KeyPath, oltp: Oltp) -> Found:
    if oltp.gap_from == "start":
        yield (*at, "gap_from"), f"{oltp.load_generator} waits from the end of a transaction", "write gap_from: end"
    if oltp.load_generator == "hammerdb" and oltp.users > hammerdb.USERS_MAX:
        what = "hammerdb has a thread with an interpreter for each user"
        yield (*at, "users"), what, f"the most are {hammerdb.USERS_MAX}; or leave load_generator out for pgbench"
    for key, distribution in (("gap", oltp.gap), ("start", oltp.first_transaction())):
        try:
            Draw(distribution.raw, 0)
        except UnknownDrawError as error:
            yield (*at, key), f"{oltp.load_generator} cannot draw it: {error}", "use a smaller shape"


def _hammerdb(scenario: Scenario) -> Found:
    for name, workload in scenario.running.items():
        if isinstance(workload, Oltp) and workload.load_generator == "hammerdb":
            at: KeyPath = ("workloads", name, "load_generator")
            hint = (
                "unpack it below /opt from hammerdb.com or set HAMMERDB_HOME; or leave load_generator out for pgbench"
            )
            yield at, "HammerDB is not installed", hint


def _servers(scenario: Scenario) -> Found:
    """A server has one priority for all its answers."""
    seen: dict[str, int] = {}
    for name, workload in scenario.running.items():
        if isinstance(workload, Oltp) and seen.setdefault(workload.server, workload.priority) != workload.priority:
            what = f"the server of '{workload.server}' answers another workload with priority {seen[workload.server]}"
            yield ("workloads", name, "priority"), what, "give both the same, or two hosts"


def _vlans(scenario: Scenario) -> Found:
    """Each VLAN of a lab is a network of its own."""
    used = {workload.vlan for workload in scenario.running.values() if workload.vlan}
    if len(used) > VLANS_MAX:
        yield ("workloads",), f"they use {len(used)} VLANs", f"a live network has at most {VLANS_MAX}"


def _marked_datagrams(scenario: Scenario) -> Found:
    """The option that marks a datagram changes the priority of its socket, which Linux tells apart by queues."""
    has_queues = any(workload.priority for workload in scenario.running.values())
    for name, workload in scenario.running.items():
        if has_queues and isinstance(workload, Datagrams) and workload.dscp:
            what = "Linux gives a marked datagram the priority of its code point"
            yield ("workloads", name, "dscp"), what, "leave out the dscp of datagrams, or all priorities"


def _datagrams(at: KeyPath, datagrams: Datagrams) -> Found:
    for key in ("sizes", "interarrival"):
        if "constant" not in getattr(datagrams, key).raw:
            yield (*at, key), "iperf3 sends datagrams of one size at even gaps", "write one value"
    if datagrams.sizes.largest > DATAGRAM_BYTES_MAX:
        yield (*at, "sizes"), "a datagram is larger than UDP allows", f"the most is {DATAGRAM_BYTES_MAX}B"


def _host(at: KeyPath, host: Host) -> Found:
    own, usual = host.tcp, Tcp()
    if own.rto_min < RTO_MIN_PS:
        yield (*at, "tcp", "rto_min"), "Linux counts it in milliseconds", "write at least 1ms"
    for key, fact in TCP_FIXED.items():
        if getattr(own, key) != getattr(usual, key):
            yield (*at, "tcp", key), f"it cannot be changed live: {fact}", "leave it out"


def _congestion_controls(scenario: Scenario, known: frozenset[str]) -> Found:
    for name, host in scenario.hosts.items():
        wanted = host.tcp.congestion_control
        if KERNEL_NAMES.get(wanted, wanted) not in known:
            at: KeyPath = ("hosts", name, "tcp", "congestion_control")
            yield at, f"this kernel has no {wanted}", f"it has {', '.join(sorted(known))}"


def _rates(scenario: Scenario, graph: Graph, frames_per_s_max: float) -> Found:
    """The switch program forwards so many frames a second and no more, whatever the number of ports."""
    receivers = {host for workload in scenario.running.values() for host in workload.bulk_receivers(graph.host_names)}
    frames_per_s = sum(
        graph.rates_bps[host] / (8 * frame_bytes(scenario, host)) * FRAMES_PER_DATA_FRAME for host in receivers
    )
    if frames_per_s > frames_per_s_max:
        what = f"its ports carry up to {frames_per_s:,.0f} frames/s".replace(",", " ")
        most = f"this machine holds {frames_per_s_max:,.0f}".replace(",", " ")
        path: KeyPath = ("network", "link", "rate")
        yield path, f"{what}, and {most}", "divide the rates, or raise the MTU; keep the ratios"


def frame_bytes(scenario: Scenario, host: str) -> int:
    """Bytes of a full frame on the wire towards a host."""
    framing = scenario.network.framing
    return scenario.host(host).mtu + framing.header + framing.overhead
