"""NetPIPE: a pingpong of one size after another, and the format of its results."""

from pathlib import Path

from tailrace.programs.errors import ProgramError
from tailrace.programs.needed import Needed

NETPIPE = Needed("NPopenmpi", "netpipe-openmpi", "", "workloads of kind mpi with netpipe")
LEAST_BYTES = 1
PS_PER_S = 10**12


def argv(size: int, iterations: int, out: Path) -> list[str]:
    """A pingpong of one size, without the sizes around it that NetPIPE tries besides."""
    words = [NETPIPE.program, "-l", str(size), "-u", str(size), "-p", "0", "-n", str(iterations)]
    return [*words, "-o", str(out)]


def one_way_ps(name: str, out: Path, size: int) -> int:
    """Picoseconds of a message, half of those there and back: the best of NetPIPE's trials. Raises
    `ProgramError` without one.
    """
    try:
        lines = out.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        raise ProgramError(f"mpi-{name}: NetPIPE ended without its results") from None
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) != 1 or len(rows[0]) != 3 or rows[0][0] != str(size):
        written = " | ".join(line.strip() for line in lines[:3]) or "nothing"
        raise ProgramError(f"mpi-{name}: NetPIPE wrote no result of {size} bytes, but {written}")
    seconds = float(rows[0][2])
    if seconds <= 0:
        raise ProgramError(f"mpi-{name}: NetPIPE wrote a time of {seconds} s for {size} bytes")
    return round(seconds * PS_PER_S)
