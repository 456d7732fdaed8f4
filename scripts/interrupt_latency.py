"""How long a command goes on after Ctrl-C, in each phase and for several sizes: a table.

`interrupt_latency.py [--command run|sweep|search|sensitivity] [--hosts 16 1024 3456 8192]
[--moments 2] [--jobs 2]`

The phases are told from the functions that begin them. A run that is not disturbed says when each
begins; then one run for each moment is sent SIGINT that far into the phase, and the time until its
end is taken: the longest of a phase, in seconds of wall time, which is longer on a busy machine,
and of processor time.
"""

import argparse
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRIALS = {
    "opening": "tailrace.experiment.run.manifest_of",
    "parsing": "tailrace.experiment.engine.make_trial",
    "running": "tailrace.experiment.engine.run_trial",
    "storing": "tailrace.experiment.run.judged",
}
"""The function that begins each phase that all commands have; building and gathering are parts of
`running`."""
RUN = {
    "start": "",
    "reading": "tailrace.cli.running.load_scenario",
    "planning": "tailrace.cli.running.ExperimentRun",
    **TRIALS,
    "summary": "tailrace.cli.running.summarise_and_report",
    "page": "tailrace.report.write_page",
}
SEARCH = {
    "start": "",
    "reading": "tailrace.cli.searching.load_scenario",
    "planning": "tailrace.experiment.points.ExperimentRun",
    **TRIALS,
    "deciding": "tailrace.search.deciding.Tried",
    "summary": "tailrace.cli.searching.write_search",
}
SENSITIVITY = {
    "start": "",
    "reading": "tailrace.cli.studying.load_scenario",
    "planning": "tailrace.experiment.points.ExperimentRun",
    **TRIALS,
    "screening": "tailrace.sensitivity.study.Designs",
    "region": "tailrace.sensitivity.study.region",
    "summary": "tailrace.cli.studying.write_study",
}
LOAD = "workloads.web.load"
COMMANDS = {
    "run": (["run"], RUN),
    "sweep": (["run", "--sweep", f"{LOAD}=30%,40%,50%"], RUN),
    "search": (
        ["search", "--vary", f"{LOAD}=30%,40%,50%", "--goal", "web.p99 < 1s", "--maximise", "load"],
        SEARCH,
    ),
    "sensitivity": (
        f"sensitivity --vary {LOAD}=30%..50% --figure web.p99 "
        "--trajectories 2 --samples 0 --checks 0".split(),
        SENSITIVITY,
    ),
}
"""Of every command its words, and its phases."""
PHASES = list(dict.fromkeys(phase for _, phases in COMMANDS.values() for phase in phases))
HOOKS = """
import importlib, os, sys
from tailrace.cli.start import answer_interrupts
answer_interrupts()
phases = {phases!r}
def hooked(name, function):
    def call(*words, **named):
        os.write({told}, name.encode() + b"\\n")
        return function(*words, **named)
    return call
os.write({told}, b"start\\n")
for name, place in phases.items():
    if place:
        module, _, attribute = place.rpartition(".")
        owner = importlib.import_module(module)
        setattr(owner, attribute, hooked(name, getattr(owner, attribute)))
sys.argv = {words!r}
from tailrace.cli import main
main()
"""
PORTS_OF_HOSTS = 4
"""A fat tree of switches with k ports has k^3/4 hosts."""
LIMIT_S = 600.0


def scenario(hosts: int, duration: str) -> str:
    """A fat tree with flows between all hosts."""
    k = 2 * round((hosts * PORTS_OF_HOSTS) ** (1 / 3) / 2)
    return (
        f"tailrace: 1\nname: hosts-{hosts}\n"
        f"network: {{topology: {{kind: fat-tree, k: {k}}}, link: {{rate: 10Gbit/s, delay: 1us}}}}\n"
        "workloads: {web: {kind: flows, sizes: web-search, load: 50%}}\n"
        f"experiment: {{duration: {duration}, trials: 2}}\n"
    )


def started(words: list[str], phases: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """A command with hooks, and the pipe on which it says its phases."""
    said, told = os.pipe()
    code = HOOKS.format(phases=phases, told=told, words=["tailrace", *words])
    command = [sys.executable, "-c", code]
    running = subprocess.Popen(
        command, pass_fds=[told], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    os.close(told)
    return running, said


def phase_times(words: list[str], phases: dict[str, str]) -> list[tuple[str, float]]:
    """The phases of a run that is not disturbed, each with its length in seconds; each phase
    once."""
    running, said = started(words, phases)
    seen: list[tuple[str, float]] = []
    while content := os.read(said, 4096):
        seen += [(name, time.monotonic()) for name in content.decode().split()]
    _, errors = running.communicate(timeout=LIMIT_S)
    os.close(said)
    if running.returncode:
        raise SystemExit(
            f"{' '.join(words)}: exit code {running.returncode}: {errors.decode().strip()}"
        )
    ends = [at for _, at in seen[1:]] + [time.monotonic()]
    lengths: dict[str, float] = {}
    for (name, at), end in zip(seen, ends, strict=True):
        lengths.setdefault(name, end - at)
    return list(lengths.items())


def cpu_s(pid: int) -> float:
    """Processor time of a process, user and system (proc(5): fields 14 and 15 of its stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def latency(
    words: list[str], phases: dict[str, str], phase: str, into_s: float
) -> tuple[float, float, int]:
    """From SIGINT to the end, sent so long after a phase began: wall time, processor time, exit
    code."""
    running, said = started(words, phases)
    seen = ""
    while phase not in seen.split():
        if not select.select([said], [], [], LIMIT_S)[0] or not (content := os.read(said, 4096)):
            break
        seen += content.decode()
    time.sleep(into_s)
    spent_s = cpu_s(running.pid)
    os.kill(running.pid, signal.SIGINT)  # send_signal() would take the status of one that has ended
    begun_s = time.monotonic()
    _, status, used = os.wait4(running.pid, 0)  # stderr is a line or two, which its pipe holds
    took_s = time.monotonic() - begun_s
    running.returncode = os.waitstatus_to_exitcode(status)
    running.communicate(timeout=LIMIT_S)
    os.close(said)
    return took_s, used.ru_utime + used.ru_stime - spent_s, running.returncode


def main() -> None:
    """A line for each size and phase."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--command", choices=COMMANDS, default="run")
    parser.add_argument("--hosts", type=int, nargs="+", default=[16, 1024, 3456, 8192])
    parser.add_argument("--moments", type=int, default=2, help="in each phase")
    parser.add_argument("--duration", default="500us", help="of the scenario")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--phases", nargs="+", choices=PHASES, default=PHASES)
    given = parser.parse_args()
    command, phases = COMMANDS[given.command]
    # A shell that starts this in the background has it ignore Ctrl-C, and the runs would inherit
    # that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(f"{'hosts':>6} {'phase':<10} {'lasts, s':>9} {'to end, s':>10} {'CPU, s':>7}  exit codes")
    for hosts in given.hosts:
        with tempfile.TemporaryDirectory(prefix="tailrace-latency-") as folder:
            file = Path(folder, "scenario.yaml")
            file.write_text(scenario(hosts, given.duration))
            words = [*command, str(file), "--jobs", given.jobs, "--out"]
            for phase, lasts_s in phase_times([*words, str(Path(folder, "whole"))], phases):
                if phase not in given.phases:
                    continue
                moments = [
                    lasts_s * (number + 0.5) / given.moments for number in range(given.moments)
                ]
                found = [
                    latency([*words, str(Path(folder, f"{phase}-{number}"))], phases, phase, into_s)
                    for number, into_s in enumerate(moments)
                ]
                codes = ",".join(str(code) for _, _, code in found)
                took_s, used_s = (max(one[column] for one in found) for column in (0, 1))
                print(
                    f"{hosts:6} {phase:<10} {lasts_s:9.2f} {took_s:10.2f} {used_s:7.2f}  {codes}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
