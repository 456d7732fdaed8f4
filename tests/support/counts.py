"""How much the tests do: fewer random cases and shorter runs by default, all of them with
`TAILRACE_TESTS=all`."""

import os
from typing import TypeVar

T = TypeVar("T")

WHOLE = os.environ.get("TAILRACE_TESTS") == "all"
"""Whether full counts and full lengths are asked for, as by `make test-all`."""


def cases(whole: T, usual: T) -> T:
    """The first with `TAILRACE_TESTS=all`, the second otherwise."""
    return whole if WHOLE else usual
