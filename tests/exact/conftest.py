"""Tests on real kernels in virtual time: without one all are skipped in a line, or fail where there
must be one."""

import os

import pytest

from tailrace.exact import program

REQUIRED = "TAILRACE_EXACT_REQUIRED"
"""With the value 1, set where `make exact-deps` has succeeded."""
NONE = "there is no kernel of exact runs (make exact-deps)"


@pytest.fixture(scope="session", autouse=True)
def _kernel() -> None:
    if program.kernel() is None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{NONE}, and {REQUIRED} says that there is one", pytrace=False)
        pytest.skip(NONE)
