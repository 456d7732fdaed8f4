"""The command line. Each command imports its modules when it runs, so that `--help` answers at
once."""

from tailrace.cli.start import main

__all__ = ["main"]
