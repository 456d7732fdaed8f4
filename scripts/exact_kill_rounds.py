"""Kill parts of exact runs at random moments: no process may stay, and finished trials are as they
were.

Each round starts `tailrace run --exact` in a run directory and ends one part of it: the command
(SIGINT, SIGTERM, SIGKILL), an engine, the keeper of a guest, its kernel, or a process of a program
in it. The next round resumes in the same directory, until the run there is complete: then its
trials have the digests of a run that nobody disturbed, and a new directory begins.

`exact_kill_rounds.py --rounds 30 --seed 1`; needs the kernel of exact runs, and no rights.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kill_directory import ROOT, Directory, program, read_object
from kill_rounds import GONE_LIMIT_S, POLL_S, RUN_LIMIT_S, Ours, adopt_orphans, play
from machine_picture import Process, is_alive

INTERRUPTED = 130
"""The exit code of a command that was asked to end, by whatever signal."""
SCENARIO = ROOT / "tests" / "exact" / "small.yaml"
TRIALS = 3
COUNTS = ("--trials", str(TRIALS), "--scale", "0.3", "--jobs", "2")
LATE_FACTOR = 1.05
"""Some kills come when the last trial has ended."""
PARTS = ("command", "engine", "keeper", "kernel", "program")
SIGNALS = {
    "command": (signal.SIGINT, signal.SIGTERM, signal.SIGKILL),
    "engine": (signal.SIGTERM, signal.SIGKILL),
}
"""Others are killed: keepers and kernels have no other end."""


class ExactDirectory(Directory):
    """A run directory of exact trials."""

    trials = TRIALS

    def command(self) -> list[str]:
        """`tailrace run --exact` into it."""
        words = ["run", "--exact", str(SCENARIO), *COUNTS, "--out", str(self.path)]
        return [*program(), *words]

    def digests(self) -> dict[str, object]:
        """Of all trials."""
        files = self.path.glob("trials/*/[0-9]*.json")
        return {
            str(file.relative_to(self.path)): ((read_object(file) or {}).get("outcome") or {}).get(
                "digest"
            )
            for file in sorted(files)
        }


def parts(found: Sequence[Process], run: int) -> dict[str, list[Process]]:
    """The processes of a run by what they are; those between their start and their program are left
    out."""
    keepers = {each.pid for each in found if _is(each, "cage")}
    by_part: dict[str, list[Process]] = {name: [] for name in PARTS}
    for each in found:
        if each.pid == run:
            by_part["command"].append(each)
        elif _is(each, "run"):
            by_part["engine"].append(each)
        elif each.pid in keepers:
            by_part["keeper"].append(each)
        elif any(word.startswith("time-travel=") for word in each.words):
            # User-Mode Linux runs programs in processes of the kernel, with its command line.
            by_part["kernel" if each.parent in keepers else "program"].append(each)
    return by_part


def _is(process: Process, verb: str) -> bool:
    return process.name == "tailrace-exact" and process.words[1:2] == (verb,)


class Rounds:
    """The rounds of one seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._luck = random.Random(seed)
        self._ours = Ours()
        self._directories = 0
        self._directory = ExactDirectory(folder / "undisturbed")
        self._whole_s = 0.0
        self._digests: dict[str, object] = {}
        self.counts: Counter[str] = Counter()

    def undisturbed(self) -> float:
        """One run without a kill: how long it takes, in seconds. Raises `RuntimeError` when it
        fails."""
        begun_s = time.monotonic()
        code = self._ours.wait(self._start(), RUN_LIMIT_S)
        problems = [*self._directory.problems(), *self._left()]
        if code != 0 or problems or len(self._directory.digests()) != TRIALS:
            raise RuntimeError(
                f"a run without a kill ended with {code}: {problems}; see {self._log}"
            )
        self._digests = self._directory.digests()
        self._whole_s = time.monotonic() - begun_s
        self._next_directory()
        return self._whole_s

    def round(self, number: int) -> list[str]:
        """One kill; returns what was wrong."""
        run = self._start()
        begun_s = time.monotonic()
        wait_s = self._luck.uniform(
            0, self._whole_s * LATE_FACTOR * max(0.3, self._directory.trials_left)
        )
        wanted = self._luck.choice(PARTS)
        who, sign = self._strike(run, wanted, begun_s + wait_s)
        code = self._ours.wait(run, RUN_LIMIT_S)
        problems = ["the run did not end"] if code is None else []
        problems += [*self._left(), *self._directory.problems()]
        if who == "command" and code not in (0, -sign, INTERRUPTED):
            problems.append(f"the command ended with {code}")
        self.counts[f"{who} {signal.Signals(sign).name}" if sign else who] += 1
        told = {
            "round": number,
            "killed": who,
            "signal": sign,
            "moment_s": round(wait_s, 2),
            "exit": code,
        }
        print(
            json.dumps({**told, "kept": len(self._directory.kept), "problems": problems}),
            flush=True,
        )
        if code == 0:
            problems += self._complete()
        return problems

    def finish(self) -> list[str]:
        """Resumes what was killed last, without a kill: the run becomes complete."""
        code = self._ours.wait(self._start(), RUN_LIMIT_S)
        problems = [*self._left(), *self._directory.problems()]
        problems += self._complete() if code == 0 else [f"the last run ended with {code}"]
        if problems:
            print(json.dumps({"last": problems}), flush=True)
        return problems

    @property
    def _log(self) -> Path:
        return self._folder / "output.log"

    def _start(self) -> int:
        return self._ours.start(self._directory.command(), self._log)

    def _strike(self, run: int, wanted: str, at_s: float) -> tuple[str, int]:
        """Ends a part of a run at a moment, or as soon as there is one; nobody when the run has
        ended before."""
        while run not in self._ours.ended:
            found = parts(self._ours.look(run), run)[wanted]
            if found and time.monotonic() >= at_s:
                chosen = self._luck.choice(found)
                sign = self._luck.choice(SIGNALS.get(wanted, (signal.SIGKILL,)))
                if is_alive(chosen.pid, chosen.start_ticks):
                    os.kill(chosen.pid, sign)
                    return wanted, sign
            time.sleep(POLL_S)
        return "nobody", 0

    def _left(self) -> list[str]:
        """What is there of runs that have ended, after a moment to end."""
        deadline_s = time.monotonic() + GONE_LIMIT_S
        while (left := self._ours.left(without_groups=True)) and time.monotonic() < deadline_s:
            time.sleep(POLL_S * 5)
        return left

    def _complete(self) -> list[str]:
        """The directory holds a whole run with the digests of an undisturbed one."""
        same = self._directory.digests() == self._digests
        problems = (
            [] if same else [f"{self._directory.path} has other digests than an undisturbed run"]
        )
        self.counts["complete"] += 1
        self._next_directory()
        return problems

    def _next_directory(self) -> None:
        self._directories += 1
        self._directory = ExactDirectory(self._folder / f"run-{self._directories}")


def main() -> int:
    """Runs the rounds; returns 1 when something stayed or was lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    adopt_orphans()
    folder = Path(tempfile.mkdtemp(prefix="exact-kill-rounds-"))
    rounds = Rounds(folder, chosen.seed)
    whole_s = rounds.undisturbed()
    print(
        json.dumps({"seed": chosen.seed, "folder": str(folder), "whole_s": round(whole_s, 1)}),
        flush=True,
    )
    return play(rounds, chosen.rounds, folder)


if __name__ == "__main__":
    sys.exit(main())
