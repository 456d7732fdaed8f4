"""Every format that is read: its seeds, and what the program makes of an input.

An input is accepted, or refused by an error that the user can correct (`tailrace.errors`) and that names the file.
Anything else is a finding: another exception, an internal error (exit code 70), a message that names no file.

What is accepted is used: a plan, also that of a scenario, is simulated for a moment, in which no invariant may break.
"""

import contextlib
import gzip
import io
import json
import shutil
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from tailrace.blast.frames import READERS, read_frames
from tailrace.cli import console
from tailrace.cli.app import app
from tailrace.disk.specification import FOLDER as SPECIFICATIONS
from tailrace.errors import TailraceError
from tailrace.experiment.native import make_trial, run_trial
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.results.directory.run_directory import Run
from tailrace.results.directory.tables import TABLES, read_trial_table
from tailrace.results.metrics.goal import parse_goal
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.loading import load_scenario, parse_assignment, parse_sweep
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.search.variable import parse_variables

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "tests" / "fuzz" / "seeds"
EXAMPLES = ROOT / "examples"
CORPUS = ROOT / "tests" / "python" / "importers"
REFUSED = (console.EXPECTATION_FAILED, console.USAGE, console.INVALID_TRIAL)
BRIEF_S = 0.3
"""How long a plan is simulated."""
PLAN_BYTES_MAX = 40_000
"""Of the examples' plans: larger ones change little by a change."""
TABLE = "small/1.transactions.parquet"
PRECISION = 0.01
"""Of ranges, as `tailrace search` has it."""


class FindingError(Exception):
    """What the program did is wrong, and it raised nothing."""


@dataclass(frozen=True)
class Format:
    """One format. `read` has the program read a file, gives what it said, and raises for a finding."""

    name: str
    suffix: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[Path], str]
    is_binary: bool = False


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int
    out: str
    err: str


def program(*words: str) -> Answer:
    """Calls a command in this process, as its entry point does; an internal error is raised."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(console, "_unexpected", _raised),
        patch.object(sys, "argv", ["tailrace", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = console.guarded(lambda: app(prog_name="tailrace"))
    return Answer(code, out.getvalue(), err.getvalue())


def _raised(error: BaseException) -> NoReturn:
    raise error


def answered(file: Path, *words: str) -> str:
    """What a command said about a file; raises `FindingError` for an exit code or a message that says nothing."""
    answer = program(*words)
    if answer.code not in (console.DONE, *REFUSED):
        raise FindingError(f"{words[0]}: exit code {answer.code}")
    if answer.code == console.USAGE and file.name not in answer.err:
        raise FindingError(f"{words[0]}: the message does not name the file: {answer.err.strip()[:200]}")
    return f"{answer.code} {answer.err}"


def known_errors(read: Callable[[], object]) -> str:
    """What a function said: nothing, or an error that the user can correct."""
    try:
        read()
    except TailraceError as error:
        return str(error)
    return ""


def globbed(*patterns: str) -> list[bytes]:
    """The files of the repository that match."""
    return [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def own_seeds(name: str) -> list[bytes]:
    """Those that are written down for this alone."""
    return [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]


# --- scenarios and plans ------------------------------------------------------------------------------------------


def read_scenario(file: Path) -> str:
    """`check`; of a sound one a moment of the first arm."""
    said = answered(file, "check", str(file))
    if said.startswith("0"):
        simulate_first_arm(file)
    return said


def simulate_first_arm(file: Path) -> None:
    """What `check` calls valid has a plan that the simulator takes."""
    arm, scenario = next(iter(load_scenario(file).arms.items()))
    text = canonical_json(lower(scenario, arm, 1))
    try:
        trial = make_trial(text)
    except TailraceError as error:
        raise FindingError(f"a scenario is valid, and its plan is not: {error}") from None
    simulate(trial)


def simulate(trial: Any) -> None:
    """Runs a trial for a moment."""
    timer = threading.Timer(BRIEF_S, trial.cancel)
    timer.start()
    try:
        run_trial(trial)
    finally:
        timer.cancel()


def read_plan(file: Path) -> str:
    """The simulator takes it, or says what is wrong with it."""
    text = file.read_bytes().decode("utf-8", errors="replace")
    try:
        trial = make_trial(text)
    except TailraceError as error:
        return str(error)
    simulate(trial)
    return ""


@cache
def plans() -> list[bytes]:
    """Those of the examples' first arms that are small."""
    return [text for path in sorted(EXAMPLES.glob("*.yaml")) if len(text := _plan_of(path)) <= PLAN_BYTES_MAX]


def _plan_of(path: Path) -> bytes:
    arm, scenario = next(iter(load_scenario(path).arms.items()))
    return canonical_json(lower(scenario, arm, 1)).encode()


def read_parameters(file: Path) -> str:
    """Host parameters, as `run --calibrated` applies them."""

    def read() -> None:
        load_scenario(base_scenario(), host_parameters(file, [base_scenario()]))

    return known_errors(read)


def read_options(file: Path) -> str:
    """Lines with the kind of an option and its text: `set`, `sweep`, `vary`, `goal`."""
    lines = [line.partition(" ") for line in file.read_text("utf-8", errors="replace").splitlines()]
    return "; ".join(known_errors(lambda one=one: read_option(one[0], one[2])) for one in lines)  # type: ignore[misc]


def read_option(kind: str, text: str) -> None:
    """One option of the command line, applied to a scenario."""
    match kind:
        case "set":
            load_scenario(base_scenario(), dict([parse_assignment(text)]))
        case "sweep":
            load_scenario(base_scenario(), {"sweep": parse_sweep([text])})
        case "vary":
            parse_variables([text], PRECISION)
        case "goal":
            parse_goal(text, ["orders", "copy"])


def read_recording(file: Path) -> str:
    """Recorded requests, of a scenario beside them."""
    scenario = file.with_name("replayed.yaml")
    workload = {"kind": "replay", "client": "a", "server": "b", "file": file.name}
    data = BASE | {"workloads": {"orders": workload}, "arms": {"base": {}}, "expect": [], "headline": []}
    scenario.write_text(json.dumps(data), encoding="utf-8")
    said = answered(file, "check", str(scenario))
    if said.startswith("0"):
        simulate_first_arm(scenario)
    return said


# --- files of others ----------------------------------------------------------------------------------------------


def importing(vendor: str) -> Callable[[Path], str]:
    """`tailrace import`."""
    return lambda file: answered(file, "import", vendor, str(file))


def read_capture(file: Path) -> str:
    """`profile`, and the scenario that is fitted."""
    said = answered(file, "profile", str(file), "--json")
    return f"{said} {known_errors(lambda: scenario_text(fit_capture(file, FitOptions())))}"


@cache
def captures() -> list[bytes]:
    """Of both formats: a connection of which every segment is known, datagrams, and those of a simulated run."""
    sys.path.append(str(ROOT / "tests" / "support"))
    from capture_files import Connection, ipv4, udp, write_pcap

    with temporary() as folder:
        connection = Connection().opened()
        for number in range(6):
            connection.exchange(5_000 + 20_000 * number, 1000 + 100 * number, 5000 + 700 * number)
        packets = [ipv4("10.0.0.1", "10.0.0.2", 17, udp(4000, 53, 100 + 7 * at)) for at in range(8)]
        datagrams = [(at * 10**7, bytes(12) + b"\x08\x00" + packet) for at, packet in enumerate(packets)]
        found = [
            write_pcap(folder / "tcp.pcap", connection.frames).read_bytes(),
            write_pcap(folder / "udp.pcap", datagrams).read_bytes(),
            write_pcap(folder / "cut.pcap", connection.frames, snap_bytes=60).read_bytes(),
        ]
        traced = folder / "traced.pcapng"
        answer = program("trace", str(base_run()), "-o", str(folder / "trace"), "--pcapng", str(traced))
        if answer.code != console.DONE:
            raise RuntimeError(f"the seed of pcapng cannot be made: {answer.err}")
        return [*found, traced.read_bytes()[:20_000]]


def compressed() -> list[bytes]:
    """Captures as gzip and as zstd."""
    return [way(one) for one in captures() for way in (gzip.compress, stored_as_zstd)]


def stored_as_zstd(content: bytes) -> bytes:
    """A frame of Zstandard with blocks that are stored as they are (RFC 8878, sections 3.1.1.1 and 3.1.1.2)."""
    block = 1 << 16
    parts = [content[at : at + block] for at in range(0, len(content), block)]
    heads = [(len(part) << 3 | (at == len(parts) - 1)).to_bytes(3, "little") for at, part in enumerate(parts)]
    start = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(content))
    return start + b"".join(head + part for head, part in zip(heads, parts, strict=True))


def read_frame_file(file: Path) -> str:
    """Frames of `blast`, as the syntax that they seem to have and as each of the three."""
    return "; ".join(known_errors(lambda one=one: read_frames(file, one)) for one in (None, *READERS))  # type: ignore[misc]


def read_specification(file: Path) -> str:
    """A drive's sheet."""
    return answered(file, "disk", "specs", str(file), "--as-scenario")


# --- run directories ----------------------------------------------------------------------------------------------

BASE: dict[str, Any] = {
    "tailrace": 1,
    "name": "base",
    "network": {"link": {"rate": "1Gbit/s"}, "topology": {"kind": "star", "switch": "leaf", "hosts": ["a", "b", "c"]}},
    "switches": {"leaf": {"buffer": "1MB", "policy": "fifo"}},
    "workloads": {
        "orders": {
            "kind": "oltp",
            "client": "a",
            "server": "b",
            "users": 4,
            "transactions": 5,
            "round_trips": [{"request": "200B", "response": "8kB"}],
            "gap": "exponential(200us)",
        },
        "copy": {"kind": "stream", "source": "c", "destination": "a", "size": "200kB"},
    },
    "arms": {"small": {}, "large": {"switches.leaf.buffer": "4MB"}},
    "experiment": {"trials": 3, "duration": "50ms"},
    "observe": {"windows": "1ms", "interfaces": "1ms", "series_bins": 20},
    "expect": [
        {
            "metric": "rate_ratio",
            "workload": "orders",
            "arm": "large",
            "baseline": "small",
            "at_least": 0.1,
            "kind": "bound",
        }
    ],
    "headline": [{"workload": "orders", "metric": "latency_p99_ms"}],
}
"""A scenario of which everything is recorded, in a tenth of a second."""


def scratch() -> Path:
    """The folder in which the process works: inputs, and what is made once."""
    return Path.cwd()


@contextlib.contextmanager
def temporary() -> Iterator[Path]:
    """A folder that is removed."""
    folder = scratch() / "temporary"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@cache
def base_scenario() -> Path:
    """The scenario as a file."""
    path = scratch() / "base.yaml"
    path.write_text(json.dumps(BASE), encoding="utf-8")
    return path


@cache
def base_run() -> Path:
    """Its run directory."""
    path = scratch() / "base-run"
    shutil.rmtree(path, ignore_errors=True)
    answer = program("run", str(base_scenario()), "--out", str(path), "--explain", "--jobs", "1")
    if answer.code not in (console.DONE, console.EXPECTATION_FAILED):
        raise RuntimeError(f"the run directory cannot be made: {answer.err}")
    (path / "published.yaml").write_bytes(own_seeds("published")[0])
    return path


def member(name: str) -> Callable[[], list[bytes]]:
    """The contents of a file of the run directory; `name` may be a pattern."""
    return lambda: [path.read_bytes() for path in sorted(base_run().glob(name))]


def in_run(name: str) -> Callable[[Path], str]:
    """Reads the run directory with the input in place of this file."""
    return lambda file: read_run(file, name)


def read_run(file: Path, name: str) -> str:
    """Everything that reads run directories."""
    run = file.parent / "runs" / "changed"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(base_run(), run)
    (run / name).write_bytes(file.read_bytes())
    said = [
        answered(run, "report", str(run)),
        answered(run, "compare", str(base_run()), str(run)),
        answered(run, "list", "--runs", str(run.parent)),
        answered(run, "show", "queues", str(run)),
        answered(run, "show", "interfaces", str(run)),
        answered(run, "run", str(base_scenario()), "--out", str(run), "--dry-run"),
        known_errors(lambda: read_tables(run)),
    ]
    return "; ".join(said)


def read_tables(run: Path) -> None:
    """Every table of every trial."""
    read = Run.read(run)
    for arm in read.trials:
        for trial in read.valid(arm):
            for name in TABLES:
                if trial.table_path(name).exists():
                    list(read_trial_table(trial, name).rows())


def interfaces() -> list[bytes]:
    """What `show interfaces --json` prints."""
    return [program("show", "interfaces", str(base_run()), "--json").out.encode()]


def read_interfaces(file: Path) -> str:
    """`show interfaces --since`: without a fabric it ends after the file was read."""
    from tailrace.cli.interfaces import _read  # what the command reads before it asks a fabric

    return known_errors(lambda: _read(file))


# --- all ----------------------------------------------------------------------------------------------------------

FORMATS: Sequence[Format] = (
    Format("scenario", ".yaml", lambda: globbed("examples/*.yaml", "examples/*/*.yaml"), read_scenario),
    Format("nxos", ".cfg", lambda: globbed("tests/python/importers/corpus/nxos/*.cfg"), importing("nxos")),
    Format("sonic", ".json", lambda: globbed("tests/python/importers/corpus/sonic/*.json"), importing("sonic")),
    Format("vdbench", ".vdb", lambda: own_seeds("vdbench"), importing("vdbench")),
    Format("fio", ".fio", lambda: own_seeds("fio"), importing("fio")),
    Format("capture", ".pcap", captures, read_capture, is_binary=True),
    Format("compressed", ".pcap.gz", compressed, read_capture, is_binary=True),
    Format("plan", ".json", plans, read_plan),
    Format("frames", ".txt", lambda: own_seeds("frames"), read_frame_file),
    Format(
        "specification",
        ".yaml",
        lambda: [path.read_bytes() for path in sorted(SPECIFICATIONS.glob("*.yaml"))],
        read_specification,
    ),
    Format("recording", ".csv", lambda: own_seeds("recording"), read_recording),
    Format("parameters", ".yaml", lambda: own_seeds("parameters"), read_parameters),
    Format("options", ".txt", lambda: own_seeds("options"), read_options),
    Format("interfaces", ".json", interfaces, read_interfaces),
    Format("manifest", ".json", member("manifest.json"), in_run("manifest.json")),
    Format("outcome", ".json", member("trials/small/1.json"), in_run("trials/small/1.json")),
    Format("causes", ".json", member("trials/*/*.causes.json"), in_run("trials/small/1.causes.json")),
    Format("published", ".yaml", lambda: own_seeds("published"), in_run("published.yaml")),
    Format("table", ".parquet", member(f"trials/{TABLE}"), in_run(f"trials/{TABLE}"), is_binary=True),
)


def format_of(name: str) -> Format:
    """A format by its name."""
    return next(one for one in FORMATS if one.name == name)
