"""Kill parts of live runs at random moments and look at what stays: nothing may, and finished
trials are as they were.

Each round starts `tailrace run --live` in a run directory, kills one part of it with SIGKILL (the
command, a process of the fabric, a program of a host) and compares the machine with what it was.
The next round resumes in the same directory, until the run there is complete; then its trials are
replayed, and a new directory begins. In every fifth round another run goes on beside it, and must
end well.

Whoever kills command, guardian and undertaker in one moment leaves nobody to remove the control
groups. They are empty, and the next round must find them gone: every live run clears up after the
dead.

`kill_rounds.py --rounds 200 --seed 1`; needs root, the built fabric and the programs of live runs.
"""

import argparse
import ctypes
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from kill_directory import Directory, program
from kill_parts import ALL, STAGES, choose, stage
from machine_picture import (
    Process,
    cgroups,
    differences,
    is_alive,
    namers_of,
    now_ticks,
    picture,
    tree,
    users_of,
)
from tailrace.live.machine import limits

RUN_LIMIT_S = 240.0
"""Several times what a whole run takes on a busy machine."""
GONE_LIMIT_S = 20.0
"""Everything has ended by then, on a busy machine too."""
POLL_S = 0.02
BESIDE_EVERY = 5
STARTUP_SHARE = 0.3
"""Part of a run that is not its trials: start, examination of the machine, summary."""
LATE_FACTOR = 1.05
"""Some kills come when the last trial has ended."""
BY_STAGE = 0.5
"""Part of the rounds whose moment is in a stage that is drawn first."""
STAGE_S = 1.0
"""After its beginning; the run may be in the next one by then."""
PATIENCE = 0.7
"""Part of the rounds that wait for more than a lone command to kill, which is half of the time all
that there is."""
PATIENT_S = 0.1
PR_SET_CHILD_SUBREAPER = 36
"""linux/prctl.h: orphans of our runs become our children, so that none can get out of sight."""
AFTER_CLEARING = ("template", "trial")
"""Stages that come when a run has cleared up after the dead."""
COMPLETE = "complete"


@dataclass
class Ours:
    """Processes of all rounds: every child of ours, also the adopted ones, with how it ended."""

    ended: dict[int, int] = field(default_factory=dict)
    seen: set[tuple[int, int]] = field(default_factory=set)

    def start(self, words: Sequence[str], log: Path) -> int:
        """Starts a command; its output goes to a file."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        files = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), flags, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        return os.posix_spawn(words[0], list(words), os.environ, file_actions=files, setsid=True)

    def look(self, root: int) -> list[Process]:
        """The processes of a run now; remembers who they are and where."""
        self.reap()
        found = tree(root) if root not in self.ended else []
        for process in found:
            self.seen.add((process.pid, process.start_ticks))
        return found

    def reap(self) -> None:
        """Takes note of every child that has ended."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                self.ended[ended[0]] = os.waitstatus_to_exitcode(ended[1])
        except ChildProcessError:
            return  # there is none

    def wait(self, pid: int, limit_s: float) -> int | None:
        """How a child ended; None when it has not."""
        deadline_s = time.monotonic() + limit_s
        while pid not in self.ended and time.monotonic() < deadline_s:
            self.look(pid)
            time.sleep(POLL_S)
        return self.ended.get(pid)

    def left(self, *, without_groups: bool) -> list[str]:
        """What is there of runs that have ended: processes and control groups."""
        self.reap()
        alive = [f"process {pid}" for pid, start in self.seen if is_alive(pid, start)]
        groups = [
            group for group, (owner, start) in cgroups().items() if (owner, start) in self.seen
        ]
        adopted = [f"process {each.pid}: {' '.join(each.words)}" for each in tree(os.getpid())[1:]]
        return alive + adopted + ([] if without_groups else groups)

    def is_foreign(self, line: str) -> bool:
        """Whether a file that has come or gone carries the number of a process that is none of
        ours."""
        number = re.search(r"file: .*tailrace-[a-z]+-(\d+)$", line)
        return number is not None and int(number[1]) not in {pid for pid, _ in self.seen}


class Rounds:
    """The rounds of one seed."""

    def __init__(self, folder: Path, seed: int, whole_s: float) -> None:
        self._folder = folder
        self._luck = random.Random(seed)
        self._ours = Ours()
        self._directory = Directory(folder / "run-0")
        self._number_of_directories = 1
        self._whole_s = whole_s
        self._owes_groups = False
        self.counts: Counter[str] = Counter()

    def undisturbed(self) -> float:
        """One run without a kill: how long it takes, in seconds. Raises `RuntimeError` when it
        fails."""
        begun_s = time.monotonic()
        directory = Directory(self._folder / "undisturbed")
        code = self._run(directory)
        problems = [*directory.problems(), *self._gone(picture())]
        if code != 0 or problems:
            raise RuntimeError(
                f"a run without a kill ended with {code}: {problems}; see {self._log}"
            )
        self._whole_s = time.monotonic() - begun_s
        return self._whole_s

    @property
    def _log(self) -> Path:
        return self._folder / "output.log"

    def round(self, number: int) -> list[str]:
        """One kill; returns what was wrong."""
        before = picture()
        run = self._ours.start(self._directory.command(), self._log)
        beside = self._beside(number)
        moment_s = self._wait_for_moment(run)
        found, at_ticks = self._ours.look(run), now_ticks()
        if len(found) == 1 and self._luck.random() < PATIENCE:
            found, at_ticks = self._more(run), now_ticks()
        kill = choose(found, run, self._luck)
        for process in kill.processes if kill else ():
            _kill(process)
        code = self._ours.wait(run, RUN_LIMIT_S)
        problems = [] if code is not None else ["the run did not end"]
        if beside is not None:
            problems += self._end_beside(*beside)
        owes = self._owes_groups
        cleared = code != -signal.SIGKILL or (kill is not None and kill.stage in AFTER_CLEARING)
        self._owes_groups = (owes and not cleared) or (
            kill is not None and len(kill.processes) == len(ALL)
        )
        problems += self._gone(before)
        problems += users_of(
            frozenset().union(*(process.namespaces for process in found)), at_ticks
        )
        problems += self._directory.problems()
        who, at = (kill.who, kill.stage) if kill else ("nobody", "over")
        self.counts[f"{who} / {at}"] += 1
        _say(number, who, at, moment_s, code, beside is not None, owes, problems)
        if code == 0:
            problems += self._complete()
        return problems

    def _wait_for_moment(self, run: int) -> float:
        """Waits for a moment of the whole run, or of one of its stages: some are short. Returns how
        long it took."""
        begun_s = time.monotonic()
        if self._luck.random() < BY_STAGE:
            wanted, left_s = self._luck.choice(STAGES), self._luck.uniform(0, STAGE_S)
            deadline_s = begun_s + RUN_LIMIT_S
            while run not in self._ours.ended and time.monotonic() < deadline_s:
                if stage(self._ours.look(run)) == wanted:
                    break
                time.sleep(POLL_S)
        else:
            share = STARTUP_SHARE + (1 - STARTUP_SHARE) * self._directory.trials_left
            left_s = self._luck.uniform(0, self._whole_s * share * LATE_FACTOR)
        reached_s = time.monotonic()
        while run not in self._ours.ended and time.monotonic() - reached_s < left_s:
            self._ours.look(run)
            time.sleep(POLL_S)
        return time.monotonic() - begun_s

    def finish(self) -> list[str]:
        """Resumes what was killed last, without a kill: the run becomes complete."""
        before = picture()
        code = self._run(self._directory)
        self._owes_groups = False
        problems = [*self._gone(before), *self._directory.problems()]
        problems += self._complete() if code == 0 else [f"the last run ended with {code}"]
        if problems:
            print(json.dumps({"last": problems}), flush=True)
        return problems

    def _more(self, run: int) -> list[Process]:
        """The processes of a run that is a lone command, once it is more than that, or has
        ended."""
        deadline_s = time.monotonic() + RUN_LIMIT_S
        while len(found := self._ours.look(run)) == 1 and time.monotonic() < deadline_s:
            time.sleep(self._luck.uniform(0, PATIENT_S))
        return found

    def _run(self, directory: Directory) -> int | None:
        return self._ours.wait(self._ours.start(directory.command(), self._log), RUN_LIMIT_S)

    def _beside(self, number: int) -> tuple[int, Directory] | None:
        if number % BESIDE_EVERY:
            return None
        directory = Directory(self._folder / f"beside-{number}")
        return self._ours.start(directory.command(), self._log), directory

    def _end_beside(self, run: int, directory: Directory) -> list[str]:
        code = self._ours.wait(run, RUN_LIMIT_S)
        problems = [f"beside: {problem}" for problem in directory.problems()]
        if code != 0 or directory.trials_left:
            problems.append(f"the run beside it ended with {code}")
        elif not problems:
            shutil.rmtree(directory.path)
        return problems

    def _gone(self, before: Mapping[str, frozenset[str]]) -> list[str]:
        """What is there too much after a moment to end."""
        deadline_s = time.monotonic() + GONE_LIMIT_S
        while True:
            changes = [
                line for line in differences(before, picture()) if not self._ours.is_foreign(line)
            ]
            left = self._ours.left(without_groups=self._owes_groups) + changes
            if not left or time.monotonic() > deadline_s:
                break
            time.sleep(POLL_S * 5)
        return left + namers_of(f"{self._folder}/")

    def _complete(self) -> list[str]:
        """The directory holds a whole run: its logs give the same digests again."""
        words = [*program(), "lab", "replay", str(self._directory.path)]
        code = self._ours.wait(self._ours.start(words, self._log), RUN_LIMIT_S)
        problems = [] if code == 0 else [f"replay of {self._directory.path} ended with {code}"]
        if self._directory.trials_left:
            problems.append(f"{self._directory.path} is complete and lacks trials")
        if not problems:
            shutil.rmtree(self._directory.path)
        self.counts[COMPLETE] += 1
        self._directory = Directory(self._folder / f"run-{self._number_of_directories}")
        self._number_of_directories += 1
        return problems


def _kill(process: Process) -> None:
    if is_alive(process.pid, process.start_ticks):
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it ended in this moment


def _say(
    number: int,
    who: str,
    at: str,
    moment_s: float,
    code: int | None,
    beside: bool,
    owed: bool,
    problems: list[str],
) -> None:
    told = {
        "round": number,
        "killed": who,
        "stage": at,
        "moment_s": round(moment_s, 3),
        "exit": code,
    }
    told |= {"beside": beside, "groups_owed": owed, "problems": problems}
    print(json.dumps(told), flush=True)


def adopt_orphans() -> None:
    """From here on orphans of our runs become our children."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


class Playable(Protocol):
    """Rounds of any engine."""

    counts: Counter[str]

    def round(self, number: int, /) -> Sequence[str]:
        """One round; returns its problems."""

    def finish(self) -> Sequence[str]:
        """After the last round; returns its problems."""


def play(rounds: Playable, count: int, folder: Path) -> int:
    """Runs rounds and tells of them; returns 1, and keeps the folder, when something stayed or was
    lost."""
    bad = sum(bool(rounds.round(number)) for number in range(1, count + 1)) + bool(rounds.finish())
    print(
        json.dumps(
            {"rounds": count, "bad": bad, "counts": dict(sorted(rounds.counts.items()))}, indent=1
        )
    )
    if not bad:
        shutil.rmtree(folder)
    return 1 if bad else 0


def main() -> int:
    """Runs the rounds; returns 1 when something stayed or was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--whole-s", type=float, help="seconds of an undisturbed run; measured if left out"
    )
    chosen = parser.parse_args()
    adopt_orphans()
    folder = Path(tempfile.mkdtemp(prefix="kill-rounds-"))
    limits.frames_per_s_max(lambda text: print(text, file=sys.stderr, flush=True))
    rounds = Rounds(folder, chosen.seed, chosen.whole_s or 0.0)
    whole_s = chosen.whole_s or rounds.undisturbed()
    print(
        json.dumps({"seed": chosen.seed, "folder": str(folder), "whole_s": round(whole_s, 1)}),
        flush=True,
    )
    return play(rounds, chosen.rounds, folder)


if __name__ == "__main__":
    sys.exit(main())
