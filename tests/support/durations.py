"""What each test costs: a pytest plugin that appends one line of JSON for each test to a file.

The file is named by the variable `TAILRACE_DURATIONS`; without it nothing is written. `seconds` is
the time by the clock of set-up, call and tear-down together; `processor_s` that of the processors,
children that have ended included, which a busy machine changes little.
"""

import json
import os
import resource
import time
from collections.abc import Generator

import pytest

import command_line

VARIABLE = "TAILRACE_DURATIONS"


def processor_s() -> float:
    """Processor time of this process, its children that have ended, and the commands of tests, in
    seconds."""
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return (
        own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime + command_line.used_s()
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """One test, with its fixtures."""
    path = os.environ.get(VARIABLE)
    started, used = time.monotonic(), processor_s()
    done = yield
    if path:
        row = {
            "name": item.nodeid,
            "seconds": round(time.monotonic() - started, 3),
            "processor_s": round(processor_s() - used, 3),
        }
        with open(path, "a", encoding="utf-8") as file:  # noqa: PTH123  one write, so that workers do not mix
            file.write(json.dumps(row) + "\n")
    return done
