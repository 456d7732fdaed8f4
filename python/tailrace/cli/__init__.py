"""The command line. Commands import what they need when they run, so that `--help` answers at
once."""

from tailrace.cli.start import main

__all__ = ["main"]
