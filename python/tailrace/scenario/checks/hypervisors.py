"""Semantic checks of hypervisors."""

from collections.abc import Iterator

from tailrace.errors import KeyPath, closest
from tailrace.scenario.checks.cores import excessive_costs, wrong_cores
from tailrace.scenario.network.hypervisor import COSTS, NEIGHBOUR_TASKS_MAX, Hypervisor
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario

Found = Iterator[tuple[KeyPath, str, str]]

COSTS_OF_BYTES = ("copy_byte",)
TIMES = {
    "coalesce": (0, 10**10, "at most 10ms", "8us is usual"),
    "halt_poll": (0, 10**10, "at most 10ms", "200us is usual"),
    "tick": (10**9, 10**10, "1ms to 10ms", "4ms is usual"),
}
"""Bounds in picoseconds of times other than costs: values outside are typing errors."""


def check(scenario: Scenario, graph: Graph) -> Found:
    """Semantic checks of the hypervisors of this scenario."""
    for name, own in scenario.hypervisors.items():
        at: KeyPath = ("hypervisors", name)
        if name not in graph.switch_names:
            known = sorted(graph.switch_names)
            yield at, f"there is no switch '{name}'", closest(name, known, "switches")
            continue
        yield from _cores(at, own)
        yield from _costs(at, own)
        machines = [node for node in graph.neighbours(name) if node in graph.host_names]
        yield from _pins(at, own, machines, scenario)
        yield from _neighbours(at, own)
        yield from _machines(at, machines, scenario)


def cautions(scenario: Scenario) -> Found:
    """Cores that poll and are also those of a virtual machine or of a neighbour."""
    for name, own in scenario.hypervisors.items():
        if not own.polls or not own.isolate:
            continue
        named = {("pins", one, "cores"): pins.cores for one, pins in own.pins.items()}
        named |= {
            ("neighbours", one, "cores"): neighbour.cores
            for one, neighbour in own.neighbours.items()
        }
        for key, cores in named.items():
            for index, core in enumerate(cores or []):
                if core in own.polling_cores:
                    what = (
                        f"core {core} polls: what runs there takes time from the switch, and "
                        "waits for it"
                    )
                    yield (
                        ("hypervisors", name, *key, index),
                        what,
                        "name another core, or write isolate: false",
                    )


def _cores(at: KeyPath, own: Hypervisor) -> Found:
    if own.clock == 0:
        yield (*at, "clock"), "`clock` must be greater than zero", "write a frequency such as 2GHz"
    if own.slice == 0:
        yield (*at, "slice"), "`slice` must be greater than zero", "3ms is usual"
    for key in ("ring", "queue", "backlog", "uplink_ring"):
        if getattr(own, key) == 0:
            yield (*at, key), f"`{key}` must hold at least one frame", "omit it for what is usual"
    for key in ("polling_cores", "irq_cores"):
        yield from _known((*at, key), getattr(own, key) or [], own)
    if own.polls and not own.free_cores:
        what = "every core polls: none is left for virtual machines"
        yield (*at, "polling_cores"), what, "name fewer cores, or write isolate: false"


def _known(at: KeyPath, cores: list[int], own: Hypervisor) -> Found:
    return wrong_cores(at, cores, own.cores, "the hypervisor")


def _costs(at: KeyPath, own: Hypervisor) -> Found:
    if own.profile == "none" and not any(own.cost(name) for name in COSTS):
        what = "nothing costs anything: the profile is none and no cost is given"
        yield (*at, "profile"), what, "omit it for the profile kvm, or give costs"
    yield from excessive_costs(
        at, own, COSTS, COSTS_OF_BYTES, lambda _: "omit it for the profile's"
    )
    for key, (least, most, words, hint) in TIMES.items():
        if not least <= getattr(own, key) <= most:
            yield (*at, key), f"`{key}` must be {words}", hint


def _pins(at: KeyPath, own: Hypervisor, machines: list[str], scenario: Scenario) -> Found:
    for name, pins in own.pins.items():
        here: KeyPath = (*at, "pins", name)
        if name not in machines:
            yield (
                here,
                f"'{name}' is no virtual machine of this hypervisor",
                closest(name, machines, "virtual machines"),
            )
            continue
        yield from _known((*here, "cores"), pins.cores or [], own)
        yield from _known((*here, "vhost"), pins.vhost or [], own)
        virtual = scenario.host(name).cpu.cores
        if pins.cores is not None and len(pins.cores) > virtual:
            what = f"{len(pins.cores)} cores for {virtual} virtual cores"
            yield (*here, "cores"), what, f"set hosts.{name}.cpu.cores, or name fewer cores"


def _neighbours(at: KeyPath, own: Hypervisor) -> Found:
    for name, neighbour in own.neighbours.items():
        here: KeyPath = (*at, "neighbours", name)
        yield from _known((*here, "cores"), neighbour.cores or [], own)
        for key in ("work", "wait"):
            if getattr(neighbour, key) == 0:
                yield (
                    (*here, key),
                    f"`{key}` must be greater than zero",
                    "omit it for what is usual",
                )
            if neighbour.kind == "compute" and key in neighbour.model_fields_set:
                yield (
                    (*here, key),
                    f"`{key}` is a key of the kind disk",
                    "write kind: disk, or omit it",
                )
    if sum(neighbour.tasks for neighbour in own.neighbours.values()) > NEIGHBOUR_TASKS_MAX:
        yield (
            (*at, "neighbours"),
            f"neighbours have more than {NEIGHBOUR_TASKS_MAX} tasks",
            "use fewer tasks",
        )


def _machines(at: KeyPath, machines: list[str], scenario: Scenario) -> Found:
    if not machines:
        yield (
            at,
            "no host is linked to this switch: the hypervisor has no virtual machines",
            "link hosts to it",
        )
    for name in machines:
        host = scenario.host(name)
        if host.cpu.steal is not None:
            what = f"'{name}' is a virtual machine: its hypervisor decides what is stolen"
            yield ("hosts", name, "cpu", "steal"), what, "omit `steal`, or the hypervisor"
        if host.nic.is_lossless:
            what = (
                f"'{name}' is a virtual machine: its interface takes no "
                "part in data-centre bridging"
            )
            yield ("hosts", name, "nic"), what, "omit pfc, link_pause, qcn and ets"
