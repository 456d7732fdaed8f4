"""What the measured cost of a client says about the hypothesis, and the page `client-cost.md`.

Arithmetic only: it reads what `client_cost.py` measured, in CPU seconds of the whole client
process.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

NS_PER_S = 1e9
SIZES = {"XS": 18_000, "S": 64_000, "M": 128_000, "L1": 32_000_000, "L2": 64_000_000}
SMALL = ("XS", "S", "M")
LARGE = ("L1", "L2")
HYPOTHESIS_NS = (18.2, 21.9)
"""8 / 439 Mbit/s and 8 / 366 Mbit/s: what a user of the scenario needs for a byte of L1, and of XS,
S and M."""
NEEDED_NS = {"XS to M": 21.9, "L1": 18.2, "L2": 19.4}
"""By size: 8 bits / 366, 439 and 413 Mbit/s."""
LOWEST_NS, HIGHEST_NS = 9.0, 44.0
"""Half of the hypothesis and twice of it: another processor may be that much faster or slower.
Outside, the hypothesis is contradicted."""
BELOW, WITHIN, ABOVE = "below", "within", "above"


@dataclass(frozen=True)
class Cost:
    """One program that reads one size; each round has the CPU time of `calls` more calls than the
    first one."""

    program: str
    shape: str
    size: str
    calls: int
    cpu_s: tuple[float, ...]
    """User and system time of each round, the start of the program taken off."""
    cycles: tuple[float, ...] | None = None
    """Cycles of each round where the machine counts them."""

    @property
    def per_call_us(self) -> float:
        """Of the fastest round: what interferes with a round only adds to it."""
        return min(self.cpu_s) / self.calls * 1e6

    @property
    def per_byte_ns(self) -> float:
        """All work of a call, divided by the bytes of its rows."""
        return min(self.cpu_s) / self.calls / SIZES[self.size] * NS_PER_S

    @property
    def spread_percent(self) -> float:
        """How far the median round is above the fastest."""
        return 100 * (statistics.median(self.cpu_s) / min(self.cpu_s) - 1)

    def per_byte_cycles(self, clock_hz: float) -> float:
        """Counted cycles, or the time at a stated clock."""
        if self.cycles is not None:
            return min(self.cycles) / self.calls / SIZES[self.size]
        return self.per_byte_ns * clock_hz / NS_PER_S


@dataclass(frozen=True)
class Line:
    """Cost of a call of the small classes: `per_call_us` and, beyond that, `per_byte_ns`."""

    per_call_us: float
    per_byte_ns: float


@dataclass(frozen=True)
class Verdict:
    """The figures of one way to read, and where each lies."""

    program: str
    shape: str
    figures_ns: Mapping[str, float]
    """`XS to M` (slope of the line through the three), L1, L2."""

    @property
    def places(self) -> dict[str, str]:
        """Each figure: below, within or above the bounds."""
        return {name: place(value) for name, value in self.figures_ns.items()}

    @property
    def is_contradicted(self) -> bool:
        """Whether any of the figures lies outside: the hypothesis needs all of them."""
        return any(where != WITHIN for where in self.places.values())


def place(per_byte_ns: float) -> str:
    """Bounds are inclusive."""
    if per_byte_ns < LOWEST_NS:
        return BELOW
    return ABOVE if per_byte_ns > HIGHEST_NS else WITHIN


def line_of(costs: Sequence[Cost]) -> Line:
    """Least squares through the costs of a call over the sizes of its rows."""
    fitted = statistics.linear_regression(
        [SIZES[cost.size] for cost in costs], [cost.per_call_us for cost in costs]
    )
    return Line(fitted.intercept, fitted.slope * 1e3)


def verdicts(costs: Sequence[Cost], *, is_tcl: bool = True) -> list[Verdict]:
    """One for each way of the Tcl client (or of the other programs) to read each shape of rows."""
    found = []
    for program, shape in dict.fromkeys((cost.program, cost.shape) for cost in costs):
        by_size = {
            cost.size: cost for cost in costs if (cost.program, cost.shape) == (program, shape)
        }
        if program.startswith("tcl") == is_tcl:
            figures = {"XS to M": line_of([by_size[name] for name in SMALL]).per_byte_ns}
            found.append(
                Verdict(
                    program, shape, figures | {name: by_size[name].per_byte_ns for name in LARGE}
                )
            )
    return found


def is_contradicted(costs: Sequence[Cost]) -> bool:
    """Whether the hypothesis fails for every way in which the Tcl client reads."""
    return all(verdict.is_contradicted for verdict in verdicts(costs))


def data_of(costs: Sequence[Cost], machine: Mapping[str, Any]) -> dict[str, Any]:
    """What is committed as `client-cost.json`."""
    rounded = [
        asdict(cost)
        | {"cpu_s": [round(value, 6) for value in cost.cpu_s]}
        | {"cycles": [round(value) for value in cost.cycles] if cost.cycles else None}
        for cost in costs
    ]
    return {"conclusion": conclusion(costs), "machine": dict(machine), "costs": rounded}


def costs_of(data: Mapping[str, Any]) -> list[Cost]:
    """The reverse of `data_of`."""
    return [
        Cost(
            **(
                raw
                | {
                    "cpu_s": tuple(raw["cpu_s"]),
                    "cycles": tuple(raw["cycles"]) if raw["cycles"] else None,
                }
            )
        )
        for raw in data["costs"]
    ]


def page(data: Mapping[str, Any]) -> str:
    """`client-cost.md`."""
    costs, machine = costs_of(data), data["machine"]
    return "\n".join(
        [
            *_head(costs, machine),
            *_verdict_table(costs),
            *_cost_table(costs, machine),
            *_method(machine),
        ]
    )


def _head(costs: Sequence[Cost], machine: Mapping[str, Any]) -> list[str]:
    return [
        "# CPU cost per byte of a database client",
        "",
        "Written by `.venv/bin/python reproductions/cisco-dpp/client_cost.py` from "
        "[client-cost.json](client-cost.json).",
        "",
        f"The scenario explains Cisco's figures with a client that needs {HYPOTHESIS_NS[0]:g} to "
        f"{HYPOTHESIS_NS[1]:g} ns of CPU time for every byte that it reads. This page has "
        "measurements of real clients that read text rows of the five sizes from PostgreSQL. The "
        "criterion was set before the measurement: a client whose cost per byte is below "
        f"{LOWEST_NS:g} ns or above {HIGHEST_NS:g} ns, half or twice the hypothesis, contradicts "
        "it.",
        "",
        f"**{conclusion(costs)}**",
        "",
        f"Measured on {machine['processor']}, {machine['clock']}, {machine['system']}, PostgreSQL "
        f"{machine['postgresql']}, Tcl {machine['tcl']} with Pgtcl {machine['pgtcl']}.",
        "",
    ]


def conclusion(costs: Sequence[Cost]) -> str:
    """The verdict in one or two sentences."""
    found = verdicts(costs)
    within = [verdict for verdict in found if not verdict.is_contradicted]
    outside = [verdict for verdict in found if verdict.is_contradicted]
    if not within:
        return (
            f"The hypothesis is contradicted. The Tcl client needs {_span(outside)} ns per "
            "byte, by the way in which "
            f"it reads, and no way lies between {LOWEST_NS:g} and {HIGHEST_NS:g} ns throughout."
        )
    shares = [
        100 * value / NEEDED_NS[name]
        for verdict in within
        for name, value in verdict.figures_ns.items()
    ]
    names = "; ".join(f"{verdict.program}, {verdict.shape}" for verdict in within)
    others = (
        f" It is contradicted for the other {len(outside)}, which need {_span(outside)} ns."
        if outside
        else ""
    )
    return (
        f"The hypothesis is not contradicted for {len(within)} of {len(found)} ways in which the "
        f"Tcl client reads ({names}): they need {_span(within)} ns per byte, {min(shares):.0f} to "
        f"{max(shares):.0f} % of the time that it assumes.{others}"
    )


def _span(found: Sequence[Verdict]) -> str:
    figures = [value for verdict in found for value in verdict.figures_ns.values()]
    return f"{min(figures):.1f} to {max(figures):.1f}"


def _verdict_table(costs: Sequence[Cost]) -> list[str]:
    names = ("XS to M", *LARGE)
    lines = [
        "## Nanoseconds per byte, against the criterion",
        "",
        "XS to M is the slope of a line through the three sizes, so that the cost of a call "
        "itself is not in it.",
        "",
        "| program | rows | "
        + " | ".join(f"{name}, ns per byte" for name in names)
        + " | hypothesis |",
        "|---" * (len(names) + 3) + "|",
    ]
    for is_tcl in (True, False):
        for verdict in verdicts(costs, is_tcl=is_tcl):
            cells = [
                f"{value:.2f} ({verdict.places[name]})"
                for name, value in verdict.figures_ns.items()
            ]
            word = (
                ("contradicted" if verdict.is_contradicted else "not contradicted")
                if is_tcl
                else "not judged"
            )
            lines.append(
                f"| {verdict.program} | {verdict.shape} | " + " | ".join([*cells, word]) + " |"
            )
    return [*lines, ""]


def _cost_table(costs: Sequence[Cost], machine: Mapping[str, Any]) -> list[str]:
    lines = [
        "## Every measurement",
        "",
        "CPU time of the client process, user and system, of the fastest round; the spread is how "
        f"far the median round is above it. {_cycles_words(machine)}.",
        "",
        "| program | rows | size | calls | µs per call | ns per byte | "
        "cycles per byte | spread, % |",
        "|---" * 8 + "|",
    ]
    for cost in costs:
        lines.append(
            f"| {cost.program} | {cost.shape} | {cost.size} | {cost.calls} | "
            f"{cost.per_call_us:.1f} | {cost.per_byte_ns:.2f} | "
            f"{cost.per_byte_cycles(machine['clock_hz']):.1f} | {cost.spread_percent:.0f} |"
        )
    return [*lines, ""]


def _cycles_words(machine: Mapping[str, Any]) -> str:
    if machine["counts_cycles"]:
        return "Cycles are counted by the processor (perf stat)"
    return (
        "This machine does not let cycles be counted (perf: not supported): they are the time "
        "at the stated clock"
    )


def _method(machine: Mapping[str, Any]) -> list[str]:
    return [
        "## Method",
        "",
        f"Each program runs {machine['rounds']} times with one call and with that many more; the "
        "difference of the CPU times, divided by the number of additional calls, is the cost of a "
        "call. CPU time is not elapsed time, so other work on the machine matters through the "
        "caches only. Client and server are on one machine and speak TCP over loopback: the copy "
        "out of the socket is in the figures, the interrupts of a network interface are not. "
        "Columns are text, because PostgreSQL sends bytea as hexadecimal digits, twice the bytes.",
        "",
        "- *tcl exec*: `pg_exec`, the status, `-clear`: all that HammerDB's timed driver does "
        "with a result.",
        "- *tcl list*: also prints `pg_result -list`, as the test driver does, here to "
        "`/dev/null`.",
        "- *tcl select*: `pg_select` with an array for each row.",
        "- *pgbench*: a custom script with the simple protocol. *psql*: unaligned output to "
        "`/dev/null`.",
        "- *one field*: a row with one text field of the size. *rows of 500 B*: as many rows "
        "as fill the size.",
        "",
        "Limitations: the processor of 2016 is not this one, and the modified scripts of the paper "
        "are not published; a script that takes the text apart in Tcl would cost more.",
        "",
    ]
