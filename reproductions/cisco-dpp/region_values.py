"""The values that the map varies: every fitted and every assumed one, over the whole range that the
scenario states.

A point is a mapping from the key of a parameter to a value; what it leaves out has the value of the
scenario. All points are made by `changes_of`, so that any two parameters can be varied together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tailrace.scenario.text.units import RATE, SIZE, parse
from variations import ALL, LARGE, SMALL, WORKLOADS, binary_sizes, gap_mean_ms, trip

Value = float | str
Point = Mapping[str, Value]

FITTED, ASSUMED, CONTROL = "fitted", "assumed", "control"
GAP_WIDTH_MS = 0.7
FIT_PERCENT = 15
"""The aim: a conclusion that stands while every fitted value moves by this much."""


@dataclass(frozen=True)
class Parameter:
    """A value of the scenario that could be another."""

    key: str
    name: str
    """As `assumptions` of the scenario has it; of a control, what it is."""
    kind: str
    """fitted (to table 2), assumed (everything else with a range), control (a value of the paper,
    changed on " "purpose)."""
    base: Value
    values: tuple[Value, ...]
    """In ascending order, the base among them."""
    unit: str = ""
    stated: tuple[Value, Value] | None = None
    """Ends of the range that the scenario states."""
    coarse: tuple[Value, ...] = ()
    """Values for pairs, the base among them."""

    @property
    def is_choice(self) -> bool:
        """Whether its values are words without an order."""
        return isinstance(self.base, str)

    def text(self, value: Value) -> str:
        """A value with its unit."""
        return (
            value if isinstance(value, str) else f"{value:g}{' ' + self.unit if self.unit else ''}"
        )


PARAMETERS = (
    Parameter(
        "cores",
        "cores that the client's programs share",
        FITTED,
        24,
        (20, 21, 22, 23, 24, 25, 26, 27, 28),
        stated=(20, 28),
        coarse=(21, 23, 24, 25, 27),
    ),
    Parameter(
        "slice_ms",
        "time slice of a core",
        FITTED,
        1.5,
        (0.75, 1, 1.275, 1.35, 1.5, 1.65, 1.725, 2, 2.5, 3, 4, 6, 12),
        "ms",
        stated=(0.75, 12),
        coarse=(0.75, 1.275, 1.5, 1.725, 3),
    ),
    Parameter(
        "rate_mbps",
        "per-byte work of a user of XS, S, M",
        FITTED,
        366,
        (312, 330, 340, 350, 356, 359, 362, 364, 366, 368, 370, 420),
        "Mbit/s",
        stated=(330, 370),
        coarse=(330, 350, 359, 366, 370),
    ),
    Parameter(
        "write_bytes",
        "bytes per write of the servers",
        FITTED,
        6300,
        (5120, 5360, 5500, 5700, 5900, 6100, 6300, 6400, 7240),
        "B",
        stated=(5120, 6400),
        coarse=(5120, 5500, 5900, 6300, 6400),
    ),
    Parameter(
        "queue_mb",
        "limit of the normal queue",
        FITTED,
        5,
        (2, 3, 4, 4.25, 4.5, 5, 5.5, 5.75, 6.5, 8, 10, 20, 30),
        "MB",
        stated=(2, 30),
        coarse=(2, 4.25, 5, 5.75, 10),
    ),
    Parameter(
        "large_percent",
        "per-byte work of a user of L1, L2",
        ASSUMED,
        100,
        (93, 95, 97, 99, 100, 101, 103, 105, 107),
        "%",
        stated=(93, 107),
    ),
    Parameter(
        "gap_ms",
        "gap of XS, S, M",
        ASSUMED,
        6.739,
        (6.5, 6.6, 6.739, 6.9, 7.1, 7.3, 7.5, 8),
        "ms",
        stated=(6.5, 8),
    ),
    Parameter(
        "gap_width_ms",
        "width of the gap",
        ASSUMED,
        GAP_WIDTH_MS,
        (0, 0.35, GAP_WIDTH_MS, 1.4, 2.5, 4, "exponential"),
        "ms",
        stated=(0, "exponential"),
    ),
    Parameter(
        "client_percent",
        "the per-byte work is the client's",
        ASSUMED,
        100,
        (0, 25, 50, 75, 90, 95, 100),
        "%",
        stated=(0, 100),
    ),
    Parameter(
        "receive_mb",
        "what a receive buffer of 4 MB holds",
        ASSUMED,
        2,
        (2, 2.3, 2.6, 3, 3.3, 3.6, 4),
        "MB",
        stated=(2, 4),
    ),
    Parameter(
        "chunk_kib",
        "bytes that a user reads and works on at a time",
        ASSUMED,
        16,
        (8, 12, 16, 24, 32, 48, 64),
        "KiB",
        stated=(8, 64),
    ),
    Parameter("users", "users per database", ASSUMED, 20, (18, 19, 20), stated=(18, 20)),
    Parameter("units", "units of the sizes", ASSUMED, "decimal", ("decimal", "binary, 19 users")),
    Parameter("reset", "a flow becomes new again", ASSUMED, "order-safe", ("order-safe", "naive")),
    Parameter("express_mb", "express queue", ASSUMED, 5, (1, 2, 5, 10), "MB", stated=(1, 10)),
    Parameter(
        "tcp",
        "TCP",
        ASSUMED,
        "cubic",
        ("cubic", "new-reno", "no SACK", "no tail loss probe", "no HyStart"),
    ),
    Parameter(
        "corking",
        "short writes are joined while the interface is busy",
        ASSUMED,
        "no",
        ("no", "yes"),
    ),
    Parameter(
        "cable_us", "congested port", ASSUMED, 0.5, (0.1, 0.5, 1, 2, 5), "µs", stated=(0.1, 5)
    ),
    Parameter("clock_ppm", "clock error", ASSUMED, 50, (0, 5, 20, 50, 100), "ppm", stated=(5, 100)),
    Parameter("noise_us", "timing noise", ASSUMED, 2, (0.5, 1, 2, 4, 8), "µs", stated=(0.5, 8)),
    Parameter(
        "max_packets",
        "packets that are prioritised",
        CONTROL,
        20,
        (1, 5, 20, 60),
    ),
)
BY_KEY = {parameter.key: parameter for parameter in PARAMETERS}
FITTED_KEYS = tuple(parameter.key for parameter in PARAMETERS if parameter.kind == FITTED)
TCP_CHANGES: dict[str, dict[str, Any]] = {
    "cubic": {},
    "new-reno": {"hosts.defaults.tcp.congestion_control": "new-reno"},
    "no SACK": {"hosts.defaults.tcp.sack": False},
    "no tail loss probe": {"hosts.defaults.tcp.tail_loss_probe": False},
    "no HyStart": {"hosts.defaults.tcp.slow_start_exit": "none"},
}


def changes_of(point: Point) -> dict[str, Any]:
    """The overrides of a point, by dotted path; none where all values are the scenario's."""
    values = {key: value for key, value in point.items() if value != BY_KEY[key].base}
    changes: dict[str, Any] = {}
    if "units" in values:
        if len(values) > 1:
            raise ValueError(
                "other units change sizes, users and rates at once, so they are varied alone"
            )
        changes |= binary_sizes(19)
    changes |= _client(values) | _switch(values) | _rest(values)
    if any(
        key in values
        for key in ("rate_mbps", "gap_ms", "gap_width_ms", "client_percent", "large_percent")
    ):
        changes |= _work(values)
    return changes


def _client(values: Point) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if "cores" in values:
        changes["hosts.hammerdb.cpu.program_cores"] = int(number(values, "cores"))
    if "slice_ms" in values:
        changes["hosts.hammerdb.cpu.time_slice"] = f"{number(values, 'slice_ms'):g}ms"
    if "receive_mb" in values:
        changes["hosts.defaults.tcp.receive_buffer"] = f"{number(values, 'receive_mb'):g}MB"
    if "chunk_kib" in values:
        changes |= trip(ALL, "consume_chunk", f"{number(values, 'chunk_kib'):g}KiB")
    return changes


def _switch(values: Point) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if "queue_mb" in values:
        queue = f"{number(values, 'queue_mb'):g}MB"
        changes |= {f"policies.{arm}.queues.normal.limit": queue for arm in ("fifo", "dpp")}
    if "express_mb" in values:
        changes["policies.dpp.queues.express.limit"] = f"{number(values, 'express_mb'):g}MB"
    if changes:
        changes["switches.leaf.buffer"] = "50MB"
    if "reset" in values:
        changes["policies.dpp.dpp.reset"] = values["reset"]
    if "max_packets" in values:
        changes["policies.dpp.dpp.max_packets"] = int(number(values, "max_packets"))
    if "cable_us" in values:
        changes["network.link.delay"] = f"{round(1000 * number(values, 'cable_us'))}ns"
    return changes


def _rest(values: Point) -> dict[str, Any]:
    changes: dict[str, Any] = dict(TCP_CHANGES[str(values.get("tcp", "cubic"))])
    if values.get("corking") == "yes":
        changes["hosts.defaults.tcp.autocorking"] = True
    if "users" in values:
        changes |= {f"workloads.{name}.users": int(number(values, "users")) for name in ALL}
    if "write_bytes" in values:
        changes |= trip(ALL, "write", f"{number(values, 'write_bytes'):g}B")
    if "clock_ppm" in values:
        changes["experiment.clock"] = f"{number(values, 'clock_ppm'):g}ppm"
    if "noise_us" in values:
        changes["hosts.defaults.nic.rx_jitter"] = (
            f"exponential({round(1000 * number(values, 'noise_us'))}ns)"
        )
    return changes


def _work(values: Point) -> dict[str, Any]:
    """Work on the bytes, split between client and server, and the gaps.

    Another rate of the small classes brings gaps that leave each class alone as long as table 1 has
    it; another gap, or another rate of the large classes, does not. A server's part is done before
    it writes: what takes as long as before.
    """
    share = number(values, "client_percent") / 100
    changes: dict[str, Any] = {}
    for name in ALL:
        rate_bps, gap_ms = _rate_bps(values, name), gap_mean_ms(name) if name in SMALL else 0.0
        if name in SMALL:
            bits = 8 * parse(WORKLOADS[name]["round_trips"][0]["response"], SIZE)
            gap_ms += 1e3 * bits * (1 / _base_bps(name) - 1 / rate_bps)
            gap_ms += number(values, "gap_ms") - number({}, "gap_ms")
            changes[f"workloads.{name}.gap"] = _gap(
                gap_ms, values.get("gap_width_ms", GAP_WIDTH_MS)
            )
        consume = f"{round(rate_bps / share)}bit/s" if share > 0 else None
        changes |= trip((name,), "consume_rate", consume)
        if share < 1:
            changes |= trip((name,), "build_rate", f"{round(rate_bps / (1 - share))}bit/s")
    return changes


def _rate_bps(values: Point, name: str) -> float:
    if name in LARGE:
        return _base_bps(name) * number(values, "large_percent") / 100
    return number(values, "rate_mbps") * 1e6


def _base_bps(name: str) -> int:
    return parse(WORKLOADS[name]["round_trips"][0]["consume_rate"], RATE)


def _gap(mean_ms: float, width: Value) -> str:
    if isinstance(width, str):
        return f"exponential({mean_ms:.3f}ms)"
    return f"normal({mean_ms:.3f}ms, {width:g}ms)" if width else f"{mean_ms:.3f}ms"


def number(point: Point, key: str) -> float:
    """The value of a numeric parameter at a point."""
    return float(point.get(key, BY_KEY[key].base))
