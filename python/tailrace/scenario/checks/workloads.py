"""What makes no sense about workloads: unknown or unreachable hosts, nothing to do, datagrams that do not fit."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from tailrace.errors import KeyPath, closest
from tailrace.scenario.network.host import Host
from tailrace.scenario.network.topology import Graph
from tailrace.scenario.scenario import Scenario
from tailrace.scenario.workloads.workload import Datagrams, Flows, Oltp, Stream

UDP_IPV4_HEADERS_BYTES = 28
"""RFC 768 (8) and RFC 791 without options (20)."""
ENDS_BLAMED_MAX = 200
"""Unknown hosts of one workload that are named."""
LOAD_PPB_MAX = 2 * 10**9
"""Twice the links: more than that says nothing that twice does not."""

STREAM_BPS_MIN = 1000
"""Lowest rate of one connection of a stream."""

Found = Iterator[tuple[KeyPath, str, str]]


def check(scenario: Scenario, graph: Graph, *, is_joined: bool) -> Found:
    """Problems of every workload; paths are looked at only where every link `is_joined`."""
    for name, workload in scenario.workloads.items():
        at: KeyPath = ("workloads", name)
        unknown = list(islice(_ends(at, workload, graph), ENDS_BLAMED_MAX))
        yield from unknown
        if is_joined and not unknown:
            yield from _paths(at, workload, graph)
        match workload:
            case Oltp():
                yield from _oltp(at, workload)
            case Stream():
                yield from _stream(at, workload, scenario, graph)
            case Flows():
                yield from _flows(at, workload)
            case Datagrams():
                yield from _datagrams(at, workload, scenario.host(workload.source))


def _ends(at: KeyPath, workload: Oltp | Stream | Flows | Datagrams, graph: Graph) -> Found:
    for key, name in _named_ends(workload):
        if name in graph.switch_names:
            yield (*at, *key), f"'{name}' is a switch, not a host", "workloads run on hosts"
        elif name not in graph.host_names:
            yield (*at, *key), f"there is no host '{name}'", closest(name, graph.hosts, "hosts")


def _paths(at: KeyPath, workload: Oltp | Stream | Flows | Datagrams, graph: Graph) -> Found:
    ends = list(_named_ends(workload))
    if isinstance(workload, Flows):
        sources = graph.hosts if workload.sources == "all" else workload.sources
        destinations = graph.hosts if workload.destinations == "all" else workload.destinations
        yield from _flow_paths(at, sources, destinations, graph)
        return
    (_, first), (_, second) = ends
    if first == second:
        yield at, f"both ends are host '{first}'", "name two different hosts"
    elif not graph.has_path(first, second):
        yield at, f"no path leads from '{first}' to '{second}'", "join their switches in network.links"


def _flow_paths(at: KeyPath, sources: Sequence[str], destinations: Sequence[str], graph: Graph) -> Found:
    only = destinations[0] if len(set(destinations)) == 1 else None
    # One destination of each island is enough: there are as many pairs of hosts as their number squared.
    first_of: dict[int, str] = {}
    for name in destinations:
        first_of.setdefault(graph.islands[name], name)
    for source in sources:
        if source == only or not destinations:
            yield at, f"host '{source}' would send to itself alone", "add another destination"
        lost = next((name for island, name in first_of.items() if island != graph.islands[source]), None)
        if lost:
            yield at, f"no path leads from '{source}' to '{lost}'", "join their switches in network.links"
            return


def _named_ends(workload: Oltp | Stream | Flows | Datagrams) -> Iterator[tuple[KeyPath, str]]:
    match workload:
        case Oltp():
            yield ("client",), workload.client
            yield ("server",), workload.server
        case Stream() | Datagrams():
            yield ("source",), workload.source
            yield ("destination",), workload.destination
        case Flows():
            for key in ("sources", "destinations"):
                names = getattr(workload, key)
                if names != "all":
                    yield from (((key, index), name) for index, name in enumerate(names))


def _oltp(at: KeyPath, oltp: Oltp) -> Found:
    if oltp.transactions == 0:
        yield (*at, "transactions"), "0 transactions are no load", "leave it out to run until the end of the trial"
    if oltp.transactions and oltp.warmup_transactions >= oltp.transactions:
        what = f"all {oltp.transactions} transactions are warm-up"
        yield (*at, "warmup_transactions"), what, "leave transactions to record"
    for index, trip in enumerate(oltp.round_trips):
        for key in ("request", "response", "consume_chunk"):
            if getattr(trip, key) == 0:
                yield (*at, "round_trips", index, key), f"a {key} of no bytes makes no sense", "write at least 1B"
        for key in ("build_rate", "produce_rate", "consume_rate", "unpack_rate"):
            if getattr(trip, key) == 0:
                yield (*at, "round_trips", index, key), "the rate is zero", "leave it out for no limit"


def _stream(at: KeyPath, stream: Stream, scenario: Scenario, graph: Graph) -> Found:
    if stream.size == 0:
        yield (*at, "size"), "0 bytes are no load", "leave it out to send until the end of the trial"
    if stream.start >= scenario.experiment.duration:
        yield (*at, "start"), "it starts after the end of the trial", "start earlier or raise experiment.duration"
    if stream.rate is not None and stream.rate < STREAM_BPS_MIN * stream.connections:
        what = f"{stream.rate} bit/s are less than 1 kbit/s for each of its {stream.connections} connections"
        yield (*at, "rate"), what, "raise the rate, or leave it out for no limit"
    ends = {"pin_forward": (stream.source, stream.destination), "pin_backward": (stream.destination, stream.source)}
    for key, (first, last) in ends.items():
        pins = getattr(stream, key)
        path = [first, *pins, last]
        for a, b in pairwise(path):
            if pins and not graph.are_joined(a, b):
                yield (*at, key), f"nothing joins '{a}' and '{b}'", "a pinned path follows links from end to end"


def _flows(at: KeyPath, flows: Flows) -> Found:
    if flows.sizes.mean < 1:
        yield (*at, "sizes"), "flows of no bytes are no load", "write a size such as 100kB, or web-search"
    if (flows.load is None) == (flows.interarrival is None):
        yield at, "arrivals need either load or interarrival", "write load: 50% or interarrival: exponential(100us)"
    if flows.load is not None and not 0 < flows.load <= LOAD_PPB_MAX:
        yield (*at, "load"), f"a load of {flows.load / 1e7:g} % makes no sense", "write more than 0% and at most 200%"
    if flows.interarrival is not None and flows.interarrival.mean < 1:
        yield (*at, "interarrival"), "flows that arrive all at once never end", "write a gap such as exponential(100us)"
    for key in ("sources", "destinations"):
        if not getattr(flows, key):
            yield (*at, key), "an empty list of hosts", "name hosts, or write all"


def _datagrams(at: KeyPath, datagrams: Datagrams, source: Host) -> Found:
    room = source.mtu - UDP_IPV4_HEADERS_BYTES
    largest = datagrams.sizes.largest
    if room < largest < float("inf"):
        what = f"a datagram of {largest:.0f} bytes does not fit an MTU of {source.mtu} bytes"
        yield (*at, "sizes"), what, f"at most {room}B"
    if datagrams.interarrival.mean < 1:
        yield (*at, "interarrival"), "datagrams without a gap never end", "write a gap such as 10us"
