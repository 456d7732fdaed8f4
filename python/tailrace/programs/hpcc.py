"""HPC Challenge (hpcc): its effective bandwidth b_eff has a pingpong of 8 bytes and one of two
million bytes.

It has no switch for one test: the input makes the others tiny.
"""

import re
from pathlib import Path

from tailrace.programs.errors import ProgramError
from tailrace.programs.needed import Needed

HPCC = Needed("hpcc", "hpcc", "", "workloads of kind mpi with hpcc")
INPUT, OUTPUT = "hpccinf.txt", "hpccoutf.txt"
LATENCY_BYTES, BANDWIDTH_BYTES = 8, 2_000_000
"""Messages of the two pingpongs."""
SIZES = (LATENCY_BYTES, BANDWIDTH_BYTES)
PS_PER_US = 10**6
PS_PER_NS = 1000
FIGURE = re.compile(r"^(\w+)=([-+.\deE]+)$", re.MULTILINE)
KEPT = ("PingPong", "RingLatency", "RingBandwidth", "CommWorldProcs", "Success")


def input_text(ranks: int) -> str:
    """The input: problems of a size at which each other test takes milliseconds."""
    values = [
        ("tailrace", ""),
        ("pingpong and rings", ""),
        ("HPL.out", "output file"),
        ("8", "device out"),
        ("1", "problem sizes"),
        ("64", "Ns"),
        ("1", "NBs"),
        ("16", "NBs"),
        ("0", "PMAP"),
        ("1", "process grids"),
        ("1", "Ps"),
        (str(ranks), "Qs"),
        ("16.0", "threshold"),
        ("1", "panel fact"),
        ("2", "PFACTs"),
        ("1", "recursive stopping criterium"),
        ("4", "NBMINs"),
        ("1", "panels in recursion"),
        ("2", "NDIVs"),
        ("1", "recursive panel fact"),
        ("1", "RFACTs"),
        ("1", "broadcast"),
        ("1", "BCASTs"),
        ("1", "lookahead depth"),
        ("1", "DEPTHs"),
        ("2", "SWAP"),
        ("64", "swapping threshold"),
        ("0", "L1"),
        ("0", "U"),
        ("1", "Equilibration"),
        ("8", "memory alignment"),
        ("#####", "ignored"),
        ("0", "additional problem sizes for PTRANS"),
        ("64", "values of N"),
        ("0", "additional blocking sizes for PTRANS"),
        ("16", "values of NB"),
    ]
    return "".join(f"{value:<13}{what}\n" for value, what in values)


def figures(name: str, folder: Path) -> dict[str, float]:
    """The figures of hpcc's summary; raises `ProgramError` where it is not whole."""
    try:
        text = (folder / OUTPUT).read_text(encoding="ascii", errors="replace")
    except OSError:
        raise ProgramError(f"mpi-{name}: hpcc ended without {OUTPUT}") from None
    found = {
        key: float(value)
        for key, value in FIGURE.findall(text.partition("Begin of Summary section")[2])
    }
    if not found.get("Success"):
        raise ProgramError(f"mpi-{name}: hpcc reports no success (hint: its log is {OUTPUT})")
    return found


def one_way_ps(found: dict[str, float], size: int) -> tuple[int, int, int]:
    """Least, mean and largest time of a message over the pairs of ranks."""
    if size == LATENCY_BYTES:
        least, mean, most = (
            found[f"{each}PingPongLatency_usec"] * PS_PER_US for each in ("Min", "Avg", "Max")
        )
        return round(least), round(mean), round(most)
    # The largest bandwidth, in GB/s, is the least time.
    bandwidths = (found[f"{each}PingPongBandwidth_GBytes"] for each in ("Max", "Avg", "Min"))
    least, mean, most = (size / bandwidth * PS_PER_NS for bandwidth in bandwidths)
    return round(least), round(mean), round(most)


def summary(found: dict[str, float]) -> str:
    """Its figures of the network, a line each."""
    lines = [
        f"{key}={value:g}" for key, value in found.items() if any(word in key for word in KEPT)
    ]
    return "\n".join(lines) + "\n"
