"""Exit codes; imports nothing, since the entry point needs them before its handlers are there."""

INTERRUPTED = 130
"""Exit code that a shell reports for a program ended by Ctrl-C."""
