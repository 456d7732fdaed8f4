"""Semantic checks: values that are well-formed but contradict each other are rejected before
anything runs."""

from collections.abc import Iterator
from itertools import islice

from tailrace.errors import KeyPath, Problem, closest, dotted
from tailrace.scenario.checks import (
    bonds,
    devices,
    expectations,
    headline,
    hypervisors,
    neighbours,
    policies,
    ports,
    processors,
    switches,
    topology,
    traffic_classes,
    trees,
    workloads,
)
from tailrace.scenario.network.host import IP_TCP_HEADERS_BYTES, Host, Tcp
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.policies.switch import MTU_BYTES_MAX, MTU_BYTES_MIN
from tailrace.scenario.scenario import DEFAULTS, Scenario
from tailrace.scenario.schema import quantity_text
from tailrace.scenario.text.document import Document
from tailrace.scenario.text.units import TIME, format_size, round_above

WINDOW_SAMPLES_MAX = 100_000
CLOCK_PPB_MAX = 1_000_000
PROBLEMS_MAX = 200
"""Problems reported at once, at most: each hint compares a name with all known names."""
SOLO_FOLDER = "solo-"
"""Prefix of the folders of solo runs in a run directory."""

BASELINE: KeyPath = ("experiment", "baseline")

Found = Iterator[tuple[KeyPath, str, str]]
"""Path, problem, hint."""


def check(scenario: Scenario, document: Document, *, is_arm: bool = False) -> list[Problem]:
    """Every problem of a well-formed scenario, up to `PROBLEMS_MAX`; those of the arms' names only
    for the base scenario.
    """
    found = islice(_all(scenario, is_arm=is_arm), PROBLEMS_MAX)
    return [document.problem(path, what, hint) for path, what, hint in found]


def _all(scenario: Scenario, *, is_arm: bool) -> Found:
    if not scenario.workloads:
        yield ("workloads",), "the scenario has no workloads", "add a workload"
    elif not scenario.running:
        yield ("workloads",), "every workload is disabled", "remove enabled: false from one of them"
    refusals = list(topology.check(scenario))
    yield from refusals
    yield from policies.check(scenario)
    yield from devices.check(scenario)
    if not is_arm:
        yield from _arms(scenario)
    yield from _experiment(scenario)
    yield from expectations.check(scenario)
    yield from headline.check(scenario)
    if refusals:
        return
    graph = scenario.graph
    broken = list(islice(_links(scenario, graph), PROBLEMS_MAX))
    yield from broken
    yield from _hosts(scenario, graph)
    yield from processors.check(scenario)
    yield from hypervisors.check(scenario, graph)
    yield from neighbours.check(scenario)
    yield from switches.check(scenario, graph)
    yield from trees.check(scenario, graph)
    unsound = list(islice(workloads.check(scenario, graph, is_joined=not broken), PROBLEMS_MAX))
    yield from unsound or ports.problems(scenario, graph)
    yield from _observe(scenario, graph)
    yield from expectations.check_ports(scenario, graph)


def _links(scenario: Scenario, graph: Graph) -> Found:
    known = set(graph.nodes)
    seen: dict[str, str] = {}
    for kind, names in (("host", graph.hosts), ("switch", graph.switches)):
        for name in names:
            if name in seen:
                yield (
                    ("network",),
                    f"two nodes have the name '{name}' (a {seen[name]} and a {kind})",
                    "rename one of them",
                )
            seen[name] = kind
    if scenario.network.link.rate == 0:
        yield (
            ("network", "link", "rate"),
            "`rate` must be greater than zero",
            "write a rate such as 10Gbit/s",
        )
    for key in ("uplink_rate", "bottleneck_rate"):
        if getattr(scenario.network.topology, key, None) == 0:
            yield (
                ("network", "topology", key),
                f"`{key}` must be greater than zero",
                "write a rate such as 10Gbit/s",
            )
    for index, link in enumerate(scenario.network.links):
        at: KeyPath = ("network", "links", index)
        if link.rate == 0:
            yield (*at, "rate"), "`rate` must be greater than zero", "write a rate such as 10Gbit/s"
        for end, name in enumerate(link.between):
            if name not in known:
                yield (
                    (*at, "between", end),
                    f"there is no node '{name}'",
                    closest(name, graph.nodes, "nodes"),
                )
        if link.between[0] == link.between[1]:
            yield (
                (*at, "between"),
                f"the link joins '{link.between[0]}' to itself",
                "name two different nodes",
            )
        if link.loss and graph.host_names.issuperset(link.between):
            yield (
                (*at, "loss"),
                "a link between two hosts has no switch that counts its losses",
                "put a switch between",
            )
        if link.loss_of != "frames" and not link.loss:
            yield (*at, "loss_of"), "`loss_of` needs `loss`", "write loss: 1%, or omit it"
    yield from _ports(scenario, graph)


def _ports(scenario: Scenario, graph: Graph) -> Found:
    ends = graph.links_at
    for name in graph.hosts:
        if name not in ends:
            yield (
                ("network", "hosts"),
                f"host '{name}' has no link",
                "join it to a switch in network.links",
            )
        else:
            yield from bonds.check(scenario, graph, name)
    for name in graph.switches:
        if name not in ends:
            yield (
                ("network", "switches"),
                f"switch '{name}' has no link",
                "join it in network.links, or remove it",
            )


def _hosts(scenario: Scenario, graph: Graph) -> Found:
    for name, host in scenario.hosts.items():
        at: KeyPath = ("hosts", name)
        if name != DEFAULTS and name not in graph.host_names:
            yield at, f"there is no host '{name}'", closest(name, [*graph.hosts, DEFAULTS], "hosts")
        yield from _host(at, scenario.host(name), host)


def _host(at: KeyPath, host: Host, own: Host) -> Found:
    """`host` has all settings, `own` those of this entry; only the latter are reported."""
    if "mtu" in own.model_fields_set and host.mtu < MTU_BYTES_MIN:
        yield (
            (*at, "mtu"),
            f"an MTU of {host.mtu} bytes leaves no room for headers",
            f"write at least {MTU_BYTES_MIN}B",
        )
    if "mtu" in own.model_fields_set and host.mtu > MTU_BYTES_MAX:
        yield (
            (*at, "mtu"),
            f"an MTU of {host.mtu} bytes is larger than switches support",
            f"write at most {MTU_BYTES_MAX}B",
        )
    if host.nic.queue <= host.mtu and own.nic.model_fields_set & {"queue"}:
        yield (
            (*at, "nic", "queue"),
            "`queue` is smaller than one frame",
            f"write more than {host.mtu}B",
        )
    if host.nic.rx_ring == 0:
        yield (*at, "nic", "rx_ring"), "`rx_ring` must be greater than zero", "4096 frames is usual"
    segment = host.mtu - IP_TCP_HEADERS_BYTES
    for key in ("tso", "gro"):
        if key in own.nic.model_fields_set and 0 < getattr(host.nic, key) < segment:
            yield (
                (*at, "nic", key),
                f"less than one segment of {segment} bytes",
                "write 0B to disable it, or for example 64kB",
            )
    if own.nic.model_fields_set & {"pfc", "link_pause", "qcn", "storm", "ets"}:
        yield from _bridging((*at, "nic"), host)
    tcp = host.tcp
    if 0 < tcp.window_cap < segment:
        yield (
            (*at, "tcp", "window_cap"),
            f"less than one segment of {segment} bytes",
            "0B disables the limit",
        )
    if tcp.rto_min == 0 or tcp.rto_max < tcp.rto_min:
        yield (
            (*at, "tcp"),
            "rto_min must be greater than zero and not above rto_max",
            "Linux: 200ms and 120s",
        )
    states_exit = own.tcp.model_fields_set & {"slow_start_exit", "congestion_control"}
    if states_exit and tcp.slow_start_exit == "hystart" and tcp.congestion_control != "cubic":
        what = f"hystart requires cubic, but congestion_control is {tcp.congestion_control}"
        yield (
            (*at, "tcp", "slow_start_exit"),
            what,
            "omit it (auto), or write none or hystart-plus-plus",
        )
    if tcp.congestion_control == "bbr":
        yield from _without_effect(at, own.tcp.model_fields_set, tcp)
    for key in ("send_buffer", "receive_buffer"):
        buffer = getattr(host, key)()
        if buffer.initial < host.mtu:
            size = format_size(buffer.initial)
            yield (
                (*at, "tcp", key),
                f"{size} is smaller than one packet of {host.mtu} bytes",
                f"write at least {host.mtu}B; 64KiB is already small",
            )
        if buffer.maximum < buffer.initial:
            yield (*at, "tcp", key), "the maximum is below the initial size", "swap the two values"


def _without_effect(at: KeyPath, stated: set[str], tcp: Tcp) -> Found:
    """The window of BBR follows a model of the path: settings of how it grows have no effect."""
    if "slow_start_exit" in stated and tcp.slow_start_exit == "hystart-plus-plus":
        yield (
            (*at, "tcp", "slow_start_exit"),
            "bbr has no slow start that could end early",
            "omit it (auto)",
        )
    if "growth" in stated and tcp.growth == "acknowledgements":
        yield (
            (*at, "tcp", "growth"),
            "the window of bbr does not grow by acknowledgements",
            "omit it",
        )


def _bridging(at: KeyPath, host: Host) -> Found:
    if host.nic.pfc is not None and host.nic.link_pause:
        yield (
            (*at, "link_pause"),
            "a NIC obeys either pauses of priorities (pfc) or of the link (link_pause)",
            "remove one of the two",
        )
    qcn = host.nic.qcn
    if qcn is not None and 0 in (qcn.timer, qcn.byte_counter, qcn.rate_min):
        yield (
            (*at, "qcn"),
            "timer, byte_counter and rate_min must be greater than zero",
            "the standard: 15ms, 150kB",
        )
    if host.nic.storm is not None and host.nic.storm.start >= host.nic.storm.end:
        yield (*at, "storm"), "`end` must be later than `start`", "write a later end, or omit it"
    yield from traffic_classes.check((*at, "ets"), host.nic.ets)


def _arms(scenario: Scenario) -> Found:
    for name in scenario.arms:
        if name.startswith(SOLO_FOLDER):
            yield (
                ("arms", name),
                f"names that begin with {SOLO_FOLDER} are reserved for solo runs",
                "rename the arm",
            )
    if scenario.baseline not in scenario.arm_names:
        what, hint = (
            f"there is no arm '{scenario.baseline}'",
            closest(scenario.baseline, scenario.arm_names, "arms"),
        )
        yield BASELINE, what, hint
    for name, changes in scenario.arms.items():
        if dotted(BASELINE) in changes:
            yield (
                ("arms", name, dotted(BASELINE)),
                "all arms have the same baseline",
                "write it in `experiment`",
            )


def _experiment(scenario: Scenario) -> Found:
    experiment = scenario.experiment
    at: KeyPath = ("experiment",)
    if experiment.duration == 0:
        yield (
            (*at, "duration"),
            "`duration` must be greater than zero",
            "write the longest time of a trial, such as 10s",
        )
    if 0 < experiment.duration <= experiment.warm_up:
        hint = f"write less than experiment.duration, {quantity_text(experiment.duration, TIME)}"
        yield (*at, "warm_up"), "the warm-up leaves no time to measure", hint
    enough = quantity_text(round_above(-(-experiment.duration // WINDOW_SAMPLES_MAX)), TIME)
    for key in ("windows", "interfaces"):
        interval = getattr(scenario.observe, key)
        if interval and experiment.duration // interval > WINDOW_SAMPLES_MAX:
            yield ("observe", key), f"{key} are looked at too often", f"write at least {enough}"
    if experiment.clock > CLOCK_PPB_MAX:
        yield (
            (*at, "clock"),
            f"a clock offset of {experiment.clock / 1000:g} ppm is out of range",
            "the limit is 1000ppm",
        )
    calibrate = experiment.calibrate
    if calibrate is None:
        return
    if calibrate.to == 0 or calibrate.to > experiment.duration:
        hint = "solo runs must fit in experiment.duration, the end of each trial"
        yield (
            (*at, "calibrate", "to"),
            "the target time must be greater than zero and at most experiment.duration",
            hint,
        )
    for index, name in enumerate(calibrate.workloads or []):
        workload = scenario.workloads.get(name)
        if workload is None:
            hint = closest(name, list(scenario.workloads), "workloads")
            yield (*at, "calibrate", "workloads", index), f"there is no workload '{name}'", hint
        elif workload.closed_loop() is None:
            yield (
                (*at, "calibrate", "workloads", index),
                f"'{name}' has no transactions",
                "name OLTP workloads only",
            )


def _observe(scenario: Scenario, graph: Graph) -> Found:
    if scenario.observe.ports == "auto":
        return
    for index, port in enumerate(scenario.observe.ports):
        at: KeyPath = ("observe", "ports", index)
        node, arrow, towards = (part.strip() for part in port.partition(">"))
        if not arrow or node not in graph.switch_names:
            yield (
                at,
                f"'{port}' is not a switch port",
                "write switch>neighbour, such as " + _example_port(graph),
            )
        elif not graph.are_joined(node, towards):
            yield (
                at,
                f"no link joins '{node}' and '{towards}'",
                closest(towards, graph.neighbours(node), "neighbours"),
            )


def _example_port(graph: Graph) -> str:
    name = graph.switches[0] if graph.switches else "switch"
    return f"{name}>{next(iter(graph.neighbours(name)), 'host')}"
