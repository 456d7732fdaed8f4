"""HammerDB: its installation, its scripts, and its virtual users as the users of a workload.

HammerDB's command line runs a script of its commands (`hammerdbcli tcl auto FILE`), which gives
every virtual user the same driver script (`customscript`). This script executes the transactions of
the scenario on the scenario's tables: HammerDB's own benchmarks (TPROC-C, TPROC-H) have schemas and
statements of their own and are not used. The commands are those of the HammerDB 6.0 documentation,
chapter "Command Line Interface (CLI)"; releases from 4.9 have them too.
"""

import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from tailrace.files import named, write_text
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import STOP_LIMIT_S, Program
from tailrace.live.load import Refusals, Task
from tailrace.live.programs import tcl
from tailrace.live.programs.postgres_service import PostgreSql
from tailrace.live.transactions import TransactionLoad
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.needed import Needed
from tailrace.programs.postgres import table_name
from tailrace.programs.transactions import log_lines
from tailrace.programs.work import Transaction, Work
from tailrace.scenario.workloads.oltp import Oltp

PROGRAM = "hammerdbcli"
HOME_VARIABLE = "HAMMERDB_HOME"
"""Environment variable with the folder of an installation; if set, no other installation is
used."""
OPT = Path("/opt")
NAMES = ("HammerDB*", "hammerdb*")
"""Folders of its archives, below `OPT` and the user's home."""
USERS_MAX = 256
"""Each user is a thread with an interpreter: 0.9 MB and up to 40 ms of start, measured with Tcl 8.6
on two busy cores. It holds some descriptors, of which Tcl 8.6 can wait for those below 1024 alone
(select(2))."""
DRIVER = Path(__file__).with_name("hammerdb_driver.tcl")
READY_LIMIT_S = 60.0
"""Time limit until every virtual user has connected; the program takes seconds to start."""
BEGIN_LIMIT_S = 120
"""A user that is ready waits this long for the trial to begin."""
BEGIN_AFTER_US = 20_000
"""Time from the announcement to the start: four times as long as a user takes to notice."""
CLOSE_LIMIT_S = 20.0
"""vurun checks once a second whether the users have ended."""
POLL_EVERY_MS = 200
LOG_WORDS = 8
"""Of a line of a user's log: those of pgbench's, the pause, and how late the first statement
was."""
POLL_S = 0.02
US_PER_S = 10**6


@dataclass(frozen=True)
class HammerDbInstallation:
    """One installed HammerDB."""

    program: Path

    @property
    def home(self) -> Path:
        """Its folder: the program searches its interpreter and modules below the working
        directory."""
        return self.program.resolve().parent


def installation() -> HammerDbInstallation | None:
    """The installation named by `HAMMERDB_HOME`, on the PATH, or the newest of the usual folders;
    None without any."""
    named = os.environ.get(HOME_VARIABLE)
    if named:
        return _in_folder(Path(named))
    for folder in os.get_exec_path():
        if found := _in_folder(Path(folder)):
            return found
    folders = [each for above in (OPT, Path.home()) for name in NAMES for each in above.glob(name)]
    for folder_found in sorted(folders, key=_release_of, reverse=True):
        if found := _in_folder(folder_found):
            return found
    return None


def _in_folder(folder: Path) -> HammerDbInstallation | None:
    program = folder / PROGRAM
    return (
        HammerDbInstallation(program) if program.is_file() and os.access(program, os.X_OK) else None
    )


def _release_of(folder: Path) -> list[int]:
    """`HammerDB-4.12` is newer than `HammerDB-4.9`."""
    return [int(number) for number in re.findall(r"\d+", folder.name)]


def _find(_program: str) -> Path | None:
    found = installation()
    return found.program if found else None


NEEDED = Needed(
    PROGRAM,
    None,
    "--version",
    "workloads that choose hammerdb",
    find=_find,
    title="HammerDB",
    source="hammerdb.com",
    hint=f"unpack it from hammerdb.com below /opt, or set {HOME_VARIABLE}; or omit "
    "load_generator to use pgbench",
)


class HammerDb(TransactionLoad):
    """HammerDB as the users of one workload, each a virtual user."""

    load_name = "hammerdb"
    needs = (NEEDED,)
    services: ClassVar[tuple[str, ...]] = (PostgreSql.service_name,)

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._control = Path()
        self._late_us: dict[tuple[int, int], int] = {}

    @classmethod
    def refusals(cls, workload: Oltp) -> Refusals:
        """Problems: pauses that cannot be computed again, and more users than threads."""
        yield from super().refusals(workload)
        if workload.users > USERS_MAX:
            what = f"{cls.load_name} needs a thread with an interpreter for each user"
            yield (
                ("users",),
                what,
                f"write at most {USERS_MAX} users, or omit load_generator to use pgbench",
            )

    def prepare(self, lab: Lab) -> None:
        """Starts it and waits until every user has connected."""
        super().prepare(lab)
        super().begin(lab)
        self._wait_until_ready(self.started)
        self.read_ports(lab)

    def command(self, lab: Lab) -> Command:
        """HammerDB with its scripts."""
        self._control = (lab.folder / "logs" / f"hammerdb-{self.work.name}").resolve()
        self._control.mkdir()
        driver, commands = self._control / "driver.tcl", self._control / "commands.tcl"
        write_text(driver, driver_script(self.work, self._control, self.address(lab)))
        write_text(commands, commands_script(self.work, driver, self.task.limit_s))
        # Its own files (settings, jobs, history) go to TMP and HOME, and are removed with the
        # trial.
        folder = str(self._control)
        installed = installation()
        if installed is None:
            raise FabricError("HammerDB is no longer installed (hint: see `tailrace lab doctor`)")
        return Command(
            f"hammerdb-{self.work.name}",
            [str(installed.program.resolve()), "tcl", "auto", str(commands)],
            host=str(self.work.raw["client"]),
            env={"TMP": folder, "HOME": folder, "LC_ALL": "C.UTF-8"},
            cwd=str(installed.home),
            priority=self.work.raw["priority"] or None,
            dscp=self.work.raw.get("dscp") or None,
        )

    def _wait_until_ready(self, started: Program) -> None:
        deadline_s = time.monotonic() + READY_LIMIT_S
        while not (self._control / "ready").exists():
            if started.ended is not None:
                raise FabricError(started.complaint())
            if time.monotonic() > deadline_s:
                raise FabricError(
                    f"{started.command.name}: its users were not ready within {READY_LIMIT_S:g} s"
                )
            time.sleep(POLL_S)

    def begin(self, lab: Lab) -> None:
        """Announces the start time to all users."""
        part = self._control / "begin.part"
        with named(self._control / "begin"):  # not synced to disk: the start is near
            part.write_text(f"{time.time_ns() // 1000 + BEGIN_AFTER_US}\n", encoding="ascii")
            part.replace(self._control / "begin")

    @property
    def is_done(self) -> bool:
        """Whether every user has ended; the program itself ends a little later."""
        return (self._control / "done").exists()

    def poll(self, lab: Lab) -> None:
        """Users end by themselves."""

    def stop(self, lab: Lab) -> None:
        """Users end after the transactions that have begun, and the program after its users."""
        if self._started is not None:
            (self._control / "stop").touch()
            self._started.require(STOP_LIMIT_S + CLOSE_LIMIT_S)

    def transactions(self) -> list[Transaction]:
        """From the logs of the users; raises `FabricError` if a pause differs from that of the
        seed."""
        prefix = self._control / "transactions"
        done = []
        for words in log_lines(prefix, LOG_WORDS):
            user, number, took_us, pause_us, late_us = (int(words[at]) for at in (0, 1, 2, 6, 7))
            if pause_us != self.work.pause_us(user, number):
                raise FabricError(
                    f"hammerdb-{self.work.name}: transaction {number} of user {user} had a "
                    "different pause than the seed determines"
                )
            self._late_us[user, number] = late_us
            ended_us = int(words[4]) * US_PER_S + int(words[5])
            begun_us = ended_us - took_us
            done.append(Transaction(user, number, begun_us, begun_us + pause_us, ended_us))
        return sorted(done, key=lambda one: (one.user, one.number))

    def lag_us(self, whole: Sequence[Transaction]) -> float | None:
        """How late the first statement of a transaction was sent."""
        late_us = [self._late_us[one.user, one.number] for one in whole]
        return sum(late_us) / len(late_us) if late_us else None


def driver_script(load: Work, control: Path, address: str) -> str:
    """The script of every virtual user: the settings of the workload, and the driver that uses
    them."""
    sizes = sorted(set(load.responses))
    prepares = [
        f"PREPARE {table_name(size)} (int) AS SELECT d FROM {table_name(size)} WHERE id = $1"
        for size in sizes
    ]
    statements = [item for size in load.responses for item in (table_name(size), load.rows[size])]
    conninfo = (
        f"host={address} port={load.port} user=tailrace dbname={postgres.DATABASE} sslmode=disable"
    )
    settings = {
        "control": tcl.word(str(control)),
        "log_prefix": tcl.word(str(control / "transactions")),
        "conninfo": tcl.word(conninfo),
        "prepares": tcl.words(*prepares),
        "statements": tcl.words(*statements),
        "users": load.raw["users"],
        "transactions": load.raw["transactions"],
        "seed": load.seed % 2**31,
        "begin_limit_s": BEGIN_LIMIT_S,
    }
    # HammerDB evaluates the word `eval` and this text behind it: the first line must be a comment.
    lines = ["#!/usr/local/bin/tclsh", "namespace eval ::tailrace {"]
    lines += [f"    variable {name} {value}" for name, value in settings.items()]
    lines.append("}")
    lines += tcl.procedure("::tailrace::start_us", load.start)
    lines += tcl.procedure("::tailrace::gap_us", load.gap)
    return "\n".join(lines) + "\n" + DRIVER.read_text(encoding="utf-8")


def commands_script(load: Work, driver: Path, limit_s: float) -> str:
    """The commands for HammerDB's command line. It ends well when every user has.

    There is no vudestroy: it would close the connections (see the driver), and the program's end
    does that as well.
    """
    users = load.raw["users"]
    # For the longest trial, its last transactions and the start.
    polls_max = round((limit_s + STOP_LIMIT_S + BEGIN_LIMIT_S) * 1000 / POLL_EVERY_MS)
    return f"""chan configure stdout -buffering line
foreach name {{users ready ended}} {{ tsv::set tailrace $name 0 }}
tsv::set tailrace errors {{}}
dbset db pg
vuset vu {users}
vuset delay 0
vuset repeat 0
vuset iterations 1
vuset showoutput 0
vuset logtotemp 0
customscript {tcl.word(str(driver))}
vucreate
vurun
# Without one of HammerDB's own benchmarks, vurun may return before the users have ended.
for {{set looks 0}} {{![vucomplete] && $looks < {polls_max}}} {{incr looks}} {{
    after {POLL_EVERY_MS} {{ set ::tailrace_tick 1 }}
    vwait ::tailrace_tick
}}
foreach message [tsv::get tailrace errors] {{ puts stderr $message }}
exit [expr {{[tsv::get tailrace ended] != {users}}}]
"""
