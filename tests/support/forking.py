"""Runs `tailrace` for the tests: each command in a process of its own, forked from one that has imported the package.

An interpreter that starts for each command would spend most of its time on imports. `python forking.py` reads one
request a line from stdin (words, folder, environment, files for what is printed) and answers each with two lines: the
process, then how it ended.
"""

import atexit
import contextlib
import json
import os
import pkgutil
import sys
import threading
import traceback
from importlib import import_module
from typing import Any, NoReturn, TextIO

import tailrace
from tailrace.cli import start

ENTRY_POINT = "tailrace.__main__"


def main() -> None:
    """Answers requests until stdin ends."""
    prepare()
    answers = sys.stdout
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if process == 0:
            become(request)
        tell(answers, process=process)
        _, status, used = os.wait4(process, 0)
        tell(answers, returncode=os.waitstatus_to_exitcode(status), processor_s=used.ru_utime + used.ru_stime)


def prepare() -> None:
    """Imports the whole package, and builds what most commands build. Nothing runs, so that there are no threads."""
    for module in pkgutil.walk_packages(tailrace.__path__, "tailrace."):
        if module.name != ENTRY_POINT:
            import_module(module.name)
    from tailrace.report.page import environment
    from tailrace.scenario.scenario import Scenario

    Scenario.model_rebuild()
    environment().get_template("page.html.j2")


def tell(answers: TextIO, **told: Any) -> None:
    """One line of an answer."""
    answers.write(json.dumps(told) + "\n")
    answers.flush()


def become(request: dict[str, Any]) -> NoReturn:
    """The process of a command, as if an interpreter had started for it."""
    devices = (os.devnull, os.O_RDONLY), (request["stdout"], os.O_WRONLY), (request["stderr"], os.O_WRONLY)
    for number, (path, flags) in enumerate(devices):
        os.dup2(os.open(path, flags), number)
    os.closerange(len(devices), os.sysconf("SC_OPEN_MAX"))
    sys.stdin = sys.__stdin__ = os.fdopen(0)  # type: ignore[misc]  # final only where nothing forks
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", buffering=1, errors="backslashreplace")  # type: ignore[misc]
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["tailrace", *request["words"]]
    code = 1
    try:
        start.main()
    except SystemExit as asked:
        code = int(asked.code or 0)
    except BaseException:  # noqa: BLE001  as an interpreter does
        traceback.print_exc()
    end(code)


def end(code: int) -> NoReturn:
    """Ends the process as an interpreter does, but frees nothing: that takes 0.2 s for all modules."""
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
