"""The variations of the sensitivity table: what is changed, by dotted path, and what it is
called."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailrace.scenario.text.document import read_document
from tailrace.scenario.text.units import RATE, SIZE, parse

WORKLOADS: dict[str, Any] = read_document(Path(__file__).resolve().parent / "scenario.yaml").data[
    "workloads"
]
"""As the scenario has them."""
SMALL = ("XS", "S", "M")
LARGE = ("L1", "L2")
ALL = (*SMALL, *LARGE)


@dataclass(frozen=True)
class Variation:
    """One change to the scenario."""

    group: str
    name: str
    changes: Mapping[str, Any]


def of(workloads: tuple[str, ...], key: str, value: Any) -> dict[str, Any]:
    """The same value for a key of several workloads."""
    return {f"workloads.{name}.{key}": value for name in workloads}


def trip(workloads: tuple[str, ...], key: str, value: Any) -> dict[str, Any]:
    """The same value for a key of the statement of several workloads."""
    return of(workloads, f"round_trips.0.{key}", value)


def normal_queue(limit: str) -> dict[str, Any]:
    """The limit of the queue that both arms have, in a switch that has room for it."""
    queues = {f"policies.{arm}.queues.normal.limit": limit for arm in ("fifo", "dpp")}
    return {**queues, "switches.leaf.buffer": "40MB"}


def slice_of_5_mb() -> dict[str, Any]:
    """All queues share one slice of 5 MB, each with the default dynamic threshold of the switch
    family."""
    limits = {f"policies.{arm}.queues.normal.limit": "dynamic(14)" for arm in ("fifo", "dpp")}
    return {
        "switches.leaf.buffer": "5MB",
        "policies.dpp.queues.express.limit": "dynamic(14)",
        **limits,
    }


def binary_sizes(users: int) -> dict[str, Any]:
    """KiB and MiB instead of kB and MB for another number of users; each class alone takes as long
    as before."""
    changes = of(ALL, "users", users)
    for names, prefix, decimal, binary in ((SMALL, "k", 10**3, 2**10), (LARGE, "M", 10**6, 2**20)):
        for name in names:
            statement = WORKLOADS[name]["round_trips"][0]
            rate = parse(statement["consume_rate"], RATE) * binary // decimal
            binary_size = statement["response"].replace(f"{prefix}B", f"{prefix.upper()}iB")
            changes |= trip((name,), "response", binary_size) | trip(
                (name,), "consume_rate", f"{rate}bit/s"
            )
    return changes


def statement_before() -> dict[str, Any]:
    """A short statement and its answer before each that brings the data."""
    short = {"request": "200B", "response": "200B"}
    return {
        f"workloads.{name}.round_trips": [short, *WORKLOADS[name]["round_trips"]] for name in ALL
    }


def gap_mean_ms(name: str) -> float:
    """Of normal(6.7ms, 0.7ms), 6.7."""
    return float(WORKLOADS[name]["gap"].removeprefix("normal(").split("ms")[0])


def gaps(shape: str) -> dict[str, Any]:
    """Another shape around the same mean: `shape` has a place for it."""
    return {f"workloads.{name}.gap": shape.format(f"{gap_mean_ms(name):.3f}ms") for name in SMALL}


def small_rate(mbps: int) -> dict[str, Any]:
    """Another rate of work on the bytes of the small classes, with gaps that leave each alone as
    long as before."""
    changes = trip(SMALL, "consume_rate", f"{mbps}Mbit/s")
    for name in SMALL:
        statement = WORKLOADS[name]["round_trips"][0]
        bits, before_bps = (
            8 * parse(statement["response"], SIZE),
            parse(statement["consume_rate"], RATE),
        )
        gap_ms = gap_mean_ms(name) + 1e3 * bits * (1 / before_bps - 1 / (mbps * 1e6))
        changes[f"workloads.{name}.gap"] = f"normal({gap_ms:.3f}ms, 0.7ms)"
    return changes


def cores(number: int) -> dict[str, Any]:
    """Cores of the client that its programs share."""
    return {"hosts.hammerdb.cpu.program_cores": number}


def receive_buffer(size: str) -> dict[str, Any]:
    """Payload that the client holds for a user who does not read."""
    return {"hosts.hammerdb.tcp.receive_buffer": size}


CLIENT = "The client"
SWITCH = "The switch"
TRANSACTIONS = "Transactions and users"
TRANSPORT = "Transport"
HOST = "Network interfaces"
NOISE = "Clocks and timing noise"

VARIATIONS = (
    Variation(CLIENT, "no contention for cores", cores(0)),
    Variation(CLIENT, "22 cores", cores(22)),
    Variation(CLIENT, "23 cores", cores(23)),
    Variation(CLIENT, "24 cores", cores(24)),
    Variation(CLIENT, "25 cores", cores(25)),
    Variation(CLIENT, "26 cores", cores(26)),
    Variation(CLIENT, "28 cores", cores(28)),
    Variation(CLIENT, "small classes: 334 Mbit/s", small_rate(334)),
    Variation(CLIENT, "small classes: 350 Mbit/s", small_rate(350)),
    Variation(CLIENT, "small classes: 355 Mbit/s", small_rate(355)),
    Variation(CLIENT, "small classes: 365 Mbit/s", small_rate(365)),
    Variation(CLIENT, "small classes: 375 Mbit/s", small_rate(375)),
    Variation(CLIENT, "time slice 0.75 ms", {"hosts.hammerdb.cpu.time_slice": "750us"}),
    Variation(CLIENT, "time slice 3 ms", {"hosts.hammerdb.cpu.time_slice": "3ms"}),
    Variation(CLIENT, "work in pieces of 8 KiB", trip(ALL, "consume_chunk", "8KiB")),
    Variation(CLIENT, "work in pieces of 32 KiB", trip(ALL, "consume_chunk", "32KiB")),
    Variation(CLIENT, "work in pieces of 64 KiB", trip(ALL, "consume_chunk", "64KiB")),
    Variation(CLIENT, "receive buffers of 1 MB", receive_buffer("1MB")),
    Variation(CLIENT, "receive buffers of 4 MB", receive_buffer("4MB")),
    Variation(CLIENT, "receive buffers of 1 GB", receive_buffer("1GB")),
    Variation(CLIENT, "receive core: 190 ps per byte", {"hosts.hammerdb.cpu.per_byte": "190ps"}),
    Variation(CLIENT, "receive core: 760 ps per byte", {"hosts.hammerdb.cpu.per_byte": "760ps"}),
    Variation(SWITCH, "normal queue 2 MB", normal_queue("2MB")),
    Variation(SWITCH, "normal queue 4 MB", normal_queue("4MB")),
    Variation(SWITCH, "normal queue 5.5 MB", normal_queue("5.5MB")),
    Variation(SWITCH, "normal queue 10 MB", normal_queue("10MB")),
    Variation(SWITCH, "normal queue 30 MB", normal_queue("30MB")),
    Variation(SWITCH, "one slice of 5 MB, dynamic(14)", slice_of_5_mb()),
    Variation(SWITCH, "naive DPP reset", {"policies.dpp.dpp.reset": "naive"}),
    Variation(SWITCH, "max-num-pkts 120", {"policies.dpp.dpp.max_packets": 120}),
    Variation(TRANSACTIONS, "gaps of one class all alike", gaps("{}")),
    Variation(TRANSACTIONS, "gaps with a deviation of 2.5 ms", gaps("normal({}, 2.5ms)")),
    Variation(TRANSACTIONS, "exponential gaps", gaps("exponential({})")),
    Variation(TRANSACTIONS, "a statement before each", statement_before()),
    Variation(TRANSACTIONS, "writes of 8948 B (full segments)", trip(ALL, "write", "8948B")),
    Variation(TRANSACTIONS, "writes of 8192 B", trip(ALL, "write", "8192B")),
    Variation(TRANSACTIONS, "writes of 6100 B", trip(ALL, "write", "6100B")),
    Variation(TRANSACTIONS, "writes of 5900 B", trip(ALL, "write", "5900B")),
    Variation(TRANSACTIONS, "writes of 5500 B", trip(ALL, "write", "5500B")),
    Variation(TRANSACTIONS, "writes of 5120 B", trip(ALL, "write", "5120B")),
    Variation(TRANSACTIONS, "19 users, binary sizes", binary_sizes(19)),
    Variation(TRANSACTIONS, "18 users, binary sizes", binary_sizes(18)),
    Variation(TRANSACTIONS, "18 users", of(ALL, "users", 18)),
    Variation(TRANSPORT, "NewReno", {"hosts.defaults.tcp.congestion_control": "new-reno"}),
    Variation(
        TRANSPORT,
        "short writes joined (automatic corking)",
        {"hosts.defaults.tcp.autocorking": True},
    ),
    Variation(TRANSPORT, "no SACK", {"hosts.defaults.tcp.sack": False}),
    Variation(TRANSPORT, "tail loss probes", {"hosts.defaults.tcp.tail_loss_probe": True}),
    Variation(TRANSPORT, "no tail loss probe", {"hosts.defaults.tcp.tail_loss_probe": False}),
    Variation(TRANSPORT, "no HyStart", {"hosts.defaults.tcp.slow_start_exit": "none"}),
    Variation(TRANSPORT, "HyStart++", {"hosts.defaults.tcp.slow_start_exit": "hystart-plus-plus"}),
    Variation(TRANSPORT, "windows of 200 kB at most", {"hosts.defaults.tcp.window_cap": "200kB"}),
    Variation(
        HOST, "no TSO, no GRO", {"hosts.defaults.nic.tso": "0B", "hosts.defaults.nic.gro": "0B"}
    ),
    Variation(HOST, "receive moderation 50 us", {"hosts.defaults.nic.rx_coalesce": "50us"}),
    Variation(HOST, "MTU 1500", {"hosts.defaults.mtu": "1500B"}),
    Variation(NOISE, "clocks without error", {"experiment.clock": "0ppm"}),
    Variation(NOISE, "clocks within 5 ppm", {"experiment.clock": "5ppm"}),
    Variation(NOISE, "clocks within 100 ppm", {"experiment.clock": "100ppm"}),
    Variation(NOISE, "poll noise 0.5 us", {"hosts.defaults.nic.rx_jitter": "exponential(500ns)"}),
    Variation(NOISE, "poll noise 8 us", {"hosts.defaults.nic.rx_jitter": "exponential(8us)"}),
    Variation(
        NOISE,
        "neither clock error nor noise",
        {"experiment.clock": "0ppm", "hosts.defaults.nic.rx_jitter": "0s"},
    ),
)
