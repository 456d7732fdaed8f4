"""mpi4py: Debian's package for its own Python."""

from pathlib import Path

from tailrace.programs.needed import Needed

PACKAGES = Path("/usr/lib/python3/dist-packages")
"""Where Debian's interpreter finds it."""


def _installed(name: str) -> Path | None:
    """The description of the installed package, whose name has the version; None where it is
    missing."""
    return next(iter(sorted(PACKAGES.glob(f"{name}-*.egg-info"))), None)


MPI4PY = Needed("mpi4py", "python3-mpi4py", "", "workloads of kind mpi", find=_installed)
