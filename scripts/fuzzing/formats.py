"""Every format that is read: its seeds, and what the program makes of an input.

An input is accepted, or refused by an error that the user can correct (`tailrace.errors`) and that
names the file. Anything else is a finding: another exception, an internal error (exit code 70), a
message that names no file.

What is accepted is used: a plan, also that of a scenario, is simulated for a moment, in which no
invariant may break.

`FORMATS` has what others write or users edit, and one run directory. Left out is what only this
program writes: the lines and the manifest of a large sweep (`results/large`), the ingress logs that
`replay` reads, the state of standing live networks (`lab.json`), and files of the user's cache
(`live-limits.json`, facts of database templates). How the program reads a damaged one of these is
not tried.
"""

import gzip
import json
import struct
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from fuzzing.imports import imported
from fuzzing.program import (
    ROOT,
    FindingError,
    Format,
    answered,
    globbed,
    known_errors,
    own_seeds,
    program,
    temporary,
)
from fuzzing.runs import BASE, base_run, base_scenario, in_run, interfaces, member, read_interfaces
from tailrace.cli import codes
from tailrace.errors import ScenarioError, TailraceError
from tailrace.experiment.native import drop_causes, make_trial, run_or_cancel
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.scenario.calibrated import host_parameters
from tailrace.scenario.figures import parse_goal
from tailrace.scenario.loading import load_scenario, parse_assignment
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.varied import parse_sweep
from tailrace.search.variable import parse_variables
from tailrace.tools.blast.frames import READERS, read_frames
from tailrace.tools.drive.specification import FOLDER as SPECIFICATIONS

EXAMPLES = ROOT / "examples"
CORPUS = ROOT / "tests" / "python" / "importers"
BRIEF_S = 0.3
"""How long a plan is simulated."""
PLAN_BYTES_MAX = 40_000
"""Of the examples' plans: larger ones change little by a change."""
TABLE = "small/1.transactions.parquet"
PRECISION = 0.01
"""Of ranges, as `tailrace search` has it."""


# --- scenarios and plans --------------------------------------------------------------------------


def read_scenario(file: Path) -> str:
    """`check`; of a sound one a moment of the first arm."""
    said = answered(file, "check", str(file))
    if said.startswith("0"):
        simulate_first_arm(file)
    return said


def simulate_first_arm(source: Path | Mapping[str, Any]) -> None:
    """What `check` calls valid has a plan that the simulator takes."""
    arm, scenario = next(iter(load_scenario(source).arms.items()))
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
        run_or_cancel(trial)
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
    return [
        text
        for path in sorted(EXAMPLES.glob("*.yaml"))
        if len(text := _plan_of(path)) <= PLAN_BYTES_MAX
    ]


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
            parse_goal(text, load_scenario(base_scenario()).scenario)


def read_recording(file: Path) -> str:
    """Recorded requests, of a scenario beside them."""
    scenario = file.with_name("replayed.yaml")
    workload = {"kind": "replay", "client": "a", "server": "b", "file": file.name}
    data = BASE | {
        "workloads": {"orders": workload},
        "arms": {"base": {}},
        "expect": [],
        "headline": [],
    }
    scenario.write_text(json.dumps(data), encoding="utf-8")
    said = answered(file, "check", str(scenario))
    if said.startswith("0"):
        simulate_first_arm(scenario)
    return said


# --- files of others ------------------------------------------------------------------------------


def importing(source: str) -> Callable[[Path], str]:
    """`tailrace import`; of what it writes a moment."""

    def read(file: Path) -> str:
        said, scenario = imported(file, source)
        if scenario is not None:
            simulate_first_arm(scenario)
        return said

    return read


def read_capture(file: Path) -> str:
    """`profile`, and the scenario that is fitted, which `check` accepts."""
    said = answered(file, "profile", str(file), "--json")
    fitted: list[str] = []
    told = known_errors(lambda: fitted.append(scenario_text(fit_capture(file, FitOptions()))))
    for text in fitted:
        try:
            load_scenario(YAML(typ="safe").load(text))
        except ScenarioError as error:
            raise FindingError(f"fit wrote what check rejects: {error.problems[0].what}") from None
    return f"{said} {told}"


@cache
def captures() -> list[bytes]:
    """Of both formats: a connection of which every segment is known, datagrams, and those of a
    simulated run."""
    sys.path.append(str(ROOT / "tests" / "support"))
    from capture_files import Connection, ipv4, udp, write_pcap

    with temporary() as folder:
        connection = Connection().opened()
        for number in range(6):
            connection.exchange(5_000 + 20_000 * number, 1000 + 100 * number, 5000 + 700 * number)
        packets = [ipv4("10.0.0.1", "10.0.0.2", 17, udp(4000, 53, 100 + 7 * at)) for at in range(8)]
        datagrams = [
            (at * 10**7, bytes(12) + b"\x08\x00" + packet) for at, packet in enumerate(packets)
        ]
        found = [
            write_pcap(folder / "tcp.pcap", connection.frames).read_bytes(),
            write_pcap(folder / "udp.pcap", datagrams).read_bytes(),
            write_pcap(folder / "cut.pcap", connection.frames, snap_bytes=60).read_bytes(),
        ]
        traced = folder / "traced.pcapng"
        answer = program(
            "trace", str(base_run()), "-o", str(folder / "trace"), "--pcapng", str(traced)
        )
        if answer.code != codes.DONE:
            raise RuntimeError(f"the seed of pcapng cannot be made: {answer.err}")
        return [*found, traced.read_bytes()[:20_000]]


def compressed() -> list[bytes]:
    """Captures as gzip and as zstd."""
    return [way(one) for one in captures() for way in (gzip.compress, stored_as_zstd)]


def stored_as_zstd(content: bytes) -> bytes:
    """A frame of Zstandard with blocks that are stored as they are (RFC 8878, sections 3.1.1.1 and
    3.1.1.2)."""
    block = 1 << 16
    parts = [content[at : at + block] for at in range(0, len(content), block)]
    heads = [
        (len(part) << 3 | (at == len(parts) - 1)).to_bytes(3, "little")
        for at, part in enumerate(parts)
    ]
    start = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(content))
    return start + b"".join(head + part for head, part in zip(heads, parts, strict=True))


def read_frame_file(file: Path) -> str:
    """Frames of `blast`, as the syntax that they seem to have and as each of the three."""
    return "; ".join(
        known_errors(lambda one=one: read_frames(file, one))  # type: ignore[misc]
        for one in (None, *READERS)
    )


def read_specification(file: Path) -> str:
    """A drive's sheet."""
    return answered(file, "measure", "specs", str(file), "--as-scenario")


# --- all ------------------------------------------------------------------------------------------

FORMATS: Sequence[Format] = (
    Format(
        "scenario", ".yaml", lambda: globbed("examples/*.yaml", "examples/*/*.yaml"), read_scenario
    ),
    Format(
        "nxos",
        ".cfg",
        lambda: globbed("tests/python/importers/corpus/nxos/*.cfg"),
        importing("nxos"),
    ),
    Format(
        "sonic",
        ".json",
        lambda: globbed("tests/python/importers/corpus/sonic/*.json"),
        importing("sonic"),
    ),
    Format("eos", ".cfg", lambda: own_seeds("eos"), importing("eos")),
    Format("vdbench", ".vdb", lambda: own_seeds("vdbench"), importing("vdbench")),
    Format("fio", ".fio", lambda: own_seeds("fio"), importing("fio")),
    Format("postgres", ".log", lambda: own_seeds("postgres"), importing("postgres")),
    Format("flows", ".txt", lambda: own_seeds("flows"), importing("flows")),
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
    Format(
        "causes", ".json", member("trials/*/*.causes.json"), in_run("trials/small/1.causes.json")
    ),
    Format("published", ".yaml", lambda: own_seeds("published"), in_run("published.yaml")),
    Format(
        "table", ".parquet", member(f"trials/{TABLE}"), in_run(f"trials/{TABLE}"), is_binary=True
    ),
)


def format_of(name: str) -> Format:
    """A format by its name; raises `TailraceError` where the simulator is not built: it would
    refuse every input."""
    drop_causes()
    return next(one for one in FORMATS if one.name == name)
