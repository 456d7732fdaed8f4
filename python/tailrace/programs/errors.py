"""The error of real programs, in every engine."""

from tailrace.errors import TailraceError


class ProgramError(TailraceError):
    """A program failed, is missing, or wrote unexpected output."""
