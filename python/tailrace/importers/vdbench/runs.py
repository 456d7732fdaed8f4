"""Run definitions (RD): which workloads run at which rate and how long, and the loops over their
values."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from tailrace.importers.storage.source import Findings, Location
from tailrace.importers.storage.values import RATE_MAX
from tailrace.importers.vdbench.definitions import Definition, Definitions, named
from tailrace.importers.vdbench.devices import checked_threads
from tailrace.importers.vdbench.pieces import Piece, number, numbers
from tailrace.importers.vdbench.workloads import block_size, percent, remark_hits, seek_percent

ELAPSED_USUAL = Fraction(30)
INTERVAL_USUAL = Fraction(1)
"""RD_entry.java: `elapsed`, `interval`."""
COMBINATIONS_MAX = 500
"""Combinations of the loops of one run."""
SECONDS_MAX = Fraction(10**7)
RATE = "iorate"
CURVE_WORDS = (
    "only the run at the maximum rate is imported; points of a curve are percentages of the "
    "rate that it measures"
)
LOOP_KEYS = {
    "forxfersize": "block",
    "forthreads": "depth",
    "forrdpct": "read",
    "forseekpct": "access",
    RATE: "arrivals",
}


@dataclass(frozen=True)
class Combination:
    """One run with one value of each loop."""

    label: str
    """The values, for a name; empty if there is no loop."""
    block_bytes: int | None = None
    threads: int | None = None
    read_percent: Fraction | None = None
    seek_percent: Fraction | None = None
    rate_per_s: Fraction | None = None
    """None: as fast as possible."""


@dataclass
class Run:
    """One run definition."""

    name: str
    location: Location
    loads: list[str]
    devices: list[str] | None
    """Devices of all workloads; None: those that the workloads name."""
    duration_s: Fraction
    warm_up_s: Fraction
    arrivals: str = "exponential"
    combinations: list[Combination] = field(default_factory=list)


def read_runs(
    found: Definitions, loads: list[str], devices: list[str], findings: Findings
) -> list[Run]:
    """All runs that have a workload of devices."""
    runs = [_run(one, loads, devices, findings) for one in found.by_kind["rd"]]
    return [run for run in runs if run is not None]


def _run(
    definition: Definition, loads: list[str], devices: list[str], findings: Findings
) -> Run | None:
    chosen = definition.piece("wd")
    if chosen is None and definition.piece("sd") is None:
        if any(key.startswith("fwd") for key in definition.pieces) or not loads:
            findings.say(
                definition.location,
                f"rd={definition.name}",
                "not-modelled",
                "a run of file systems",
            )
        else:
            hint = f"write wd={loads[0]}, or sd=DEVICES for the usual workload"
            findings.fault(
                definition.location,
                f"rd={definition.name}",
                "the run names no workload definition",
                hint,
            )
        return None
    if definition.piece("replay") is not None:
        findings.say(
            definition.location, f"rd={definition.name}", "not-modelled", "the run replays a trace"
        )
        return None
    names = [definition.of_usual_load]
    if chosen is not None:
        names = named(chosen, loads, "workload definition", findings)
        findings.say(chosen.location, chosen.text, "understood", "workloads of the run")
    own = definition.piece("sd")
    if own is not None:
        findings.say(own.location, own.text, "understood", "devices of the run")
    duration, warm_up = _times(definition, findings)
    run = Run(
        definition.name,
        definition.location,
        names,
        named(own, devices, "storage definition", findings) if own else None,
        duration,
        warm_up,
        _arrivals(definition.piece("distribution"), findings),
    )
    for key in ("forrhpct", "forwhpct"):
        remark_hits(definition.piece(key), findings)
    if (curve := definition.piece("curve")) is not None:
        findings.say(curve.location, curve.text, "not-modelled", CURVE_WORDS)
    if (flags := definition.piece("openflags")) is not None:
        findings.say(flags.location, flags.text, "no-effect", "requests reach the device directly")
    run.combinations = list(_combinations(definition, findings))
    return run


def _times(definition: Definition, findings: Findings) -> tuple[Fraction, Fraction]:
    """Duration with its warm-up. Without `warmup`, the first interval of the run is one
    (Reporter.java)."""
    elapsed = _seconds(definition, "elapsed", ELAPSED_USUAL, "experiment.duration", findings)
    words = (
        "experiment.warm_up, unless there is a warmup: vdbench leaves the first interval out "
        "of its totals"
    )
    interval = _seconds(definition, "interval", INTERVAL_USUAL, words, findings)
    warm_up = _seconds(
        definition, "warmup", Fraction(0), "experiment.warm_up, and longer duration", findings
    )
    if warm_up:
        return elapsed + warm_up, warm_up
    return elapsed, min(interval, elapsed / 2)


def _seconds(
    definition: Definition, key: str, usual: Fraction, words: str, findings: Findings
) -> Fraction:
    piece = definition.piece(key)
    values = numbers(piece, findings) if piece else []
    if piece is None or not values:
        return usual
    if not (0 < values[0] <= SECONDS_MAX or (key == "warmup" and values[0] == 0)):
        findings.fault(
            piece.location, key, f"{piece.text} is out of range", f"write {key}=60, in seconds"
        )
        return usual
    findings.say(piece.location, piece.text, "understood", words)
    return values[0]


def _arrivals(piece: Piece | None, findings: Findings) -> str:
    """RD_entry.java, `useDistribution`: exponential unless said."""
    if piece is None:
        return "exponential"
    for word in ("exponential", "uniform", "deterministic"):
        if word.startswith(piece.values[0].lower()):
            findings.say(piece.location, piece.text, "understood", "arrivals")
            return word
    findings.say(
        piece.location, piece.text, "not-modelled", "bursts: arrivals are exponential here"
    )
    return "exponential"


def _combinations(definition: Definition, findings: Findings) -> Iterator[Combination]:
    """Every combination of the values of the loops, the last loop fastest."""
    loops = [
        (key, piece, _values(key, piece, findings))
        for key, piece in definition.pieces.items()
        if key in LOOP_KEYS
    ]
    if not any(key == RATE for key, _, _ in loops):
        what = "the run has no iorate"
        findings.fault(
            definition.location,
            f"rd={definition.name}",
            what,
            "write iorate=max, or a rate such as iorate=1000",
        )
    loops = [(key, piece, values) for key, piece, values in loops if values]
    counts = [len(values) for _, _, values in loops]
    for index, combination in enumerate(product(*(values for _, _, values in loops))):
        if index >= COMBINATIONS_MAX:
            location, text = definition.location, f"rd={definition.name}"
            findings.say(
                location,
                text,
                "not-modelled",
                f"only the first {COMBINATIONS_MAX} combinations of its loops are imported",
            )
            return
        yield _combination([key for key, _, _ in loops], counts, combination)


def _combination(
    keys: list[str], counts: list[int], values: tuple[Fraction | None, ...]
) -> Combination:
    said = dict(zip(keys, values, strict=True))
    label = "-".join(
        _label(key, said[key]) for key, count in zip(keys, counts, strict=True) if count > 1
    )
    block, threads = said.get("forxfersize"), said.get("forthreads")
    return Combination(
        label=label,
        block_bytes=None if block is None else int(block),
        threads=None if threads is None else int(threads),
        read_percent=said.get("forrdpct"),
        seek_percent=said.get("forseekpct"),
        rate_per_s=said.get(RATE),
    )


def _label(key: str, value: Fraction | None) -> str:
    if value is None:
        return "max"
    if key == "forxfersize":
        return f"{value // 1024}k" if value % 1024 == 0 else f"{value}b"
    number_text = (
        str(int(value)) if value.denominator == 1 else f"{float(value):g}".replace(".", "_")
    )
    return {"forthreads": "threads", "forrdpct": "read", "forseekpct": "seek", RATE: "rate"}[
        key
    ] + number_text


def _values(key: str, piece: Piece, findings: Findings) -> list[Fraction | None]:
    """All values of a loop."""
    if key == RATE:
        return _rates(piece, findings)
    if key == "forseekpct":
        return [seek_percent(piece, text, findings) for text in piece.values]
    values = numbers(piece, findings)
    loop = " (a loop)" if len(values) > 1 else ""
    findings.say(
        piece.location, piece.text, "understood", f"{LOOP_KEYS[key]} of its workloads{loop}"
    )
    if key == "forxfersize":
        return [Fraction(block_size(value, piece, findings)) for value in values]
    if key == "forthreads":
        return [Fraction(checked_threads(int(value), piece, findings)) for value in values]
    return [percent(value, piece, findings) for value in values]


def _rates(piece: Piece, findings: Findings) -> list[Fraction | None]:
    text = piece.values[0].lower()
    if text == "curve":
        findings.say(piece.location, piece.text, "not-modelled", CURVE_WORDS)
        return [None]
    if text == "max":
        findings.say(
            piece.location, piece.text, "understood", "no arrivals: requests follow each other"
        )
        return [None]
    if number(text, piece.key) is None and "-" not in text:
        what = f"'{piece.values[0]}' is no rate"
        findings.fault(piece.location, piece.key, what, "write max, curve or requests per second")
        return [None]
    rated = replace(piece, values=tuple(one for one in piece.values if one.lower() != "max"))
    found: list[Fraction | None] = []
    for value in numbers(rated, findings):
        if value < 0:
            findings.say(piece.location, piece.text, "not-modelled", CURVE_WORDS)
        elif value == 0:
            findings.fault(
                piece.location,
                piece.key,
                "a rate of zero",
                "write iorate=max, or requests per second",
            )
        else:
            found.append(value if value < RATE_MAX else None)
    if len(rated.values) < len(piece.values):
        found.append(None)
    findings.say(
        piece.location,
        piece.text,
        "understood",
        "arrivals" + (" (a loop)" if len(found) > 1 else ""),
    )
    return found or [None]
