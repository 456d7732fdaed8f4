"""Exit codes; imports nothing, since the entry point needs them before its handlers are there."""

DONE = 0
EXPECTATION_FAILED = 1
USAGE = 2
INVALID_TRIAL = 3
OUR_FAULT = 70
"""EX_SOFTWARE of sysexits.h: an error of the program, not of the user."""
INTERRUPTED = 130
"""Exit code that a shell reports for a program ended by Ctrl-C."""
