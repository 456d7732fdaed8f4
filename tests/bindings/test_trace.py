"""`tailrace trace`: the files have what happened in the simulated run, and what cannot be traced is
refused."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from command_line import tailrace
from sealing import seal

SCENARIO = """
tailrace: 1
name: beside
network:
  topology: {kind: star, switch: leaf, hosts: [client, server, other]}
  link: {rate: 1Gbit/s, delay: 5us}
switches: {leaf: {buffer: 200kB}}
workloads:
  orders:
    kind: oltp
    client: client
    server: server
    users: 4
    round_trips: [{request: 200B, response: 20kB}]
    gap: exponential(1ms)
  backup: {kind: stream, source: other, destination: client, connections: 2}
arms: {beside: {}}
experiment: {trials: 1, duration: 400ms, warm_up: 100ms}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    done = tailrace("run", str(folder / "scenario.yaml"), "--out", str(folder / "run"))
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture(scope="module")
def slowest(run: Path) -> dict[str, Any]:
    """The slowest transaction: its frames were dropped, and one was repeated after a timeout."""
    words = (
        "-o",
        str(run.parent / "slowest.perfetto-trace"),
        "--pcapng",
        str(run.parent / "slowest.pcapng"),
    )
    done = tailrace("trace", str(run), *words, "--json")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, "the digest is that of the run"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_slowest_transaction_is_the_one_that_is_explained(
    run: Path, slowest: dict[str, Any]
) -> None:
    explained = json.loads(tailrace("explain", str(run), "--slowest", "1", "--json").stdout)[
        "explained"
    ][0]
    (one,) = slowest["transactions"]
    assert (one["workload"], one["user"]) == ("orders", explained["slowest"][0]["user"])
    assert one["start_ps"] == explained["slowest"][0]["start_ps"]
    assert one["sentence"] == explained["slowest"][0]["sentence"]


def test_the_parts_on_the_track_of_the_user_are_the_latency(slowest: dict[str, Any]) -> None:
    trace = Trace()
    trace.ParseFromString(Path(slowest["trace"]).read_bytes())
    names = {each.track_descriptor.uuid: each.track_descriptor.name for each in trace.packet}
    (user,) = (uuid for uuid, name in names.items() if name.startswith("user "))
    events = [each.track_event for each in trace.packet if each.track_event.track_uuid == user]
    begins = [event for event in events if event.type == TrackEvent.Type.TYPE_SLICE_BEGIN]
    values = [{each.name: each.int_value for each in event.debug_annotations} for event in begins]
    assert sum(each["time_ps"] for each in values[1:]) == values[0]["latency_ps"]
    kinds = Counter(each.track_event.type for each in trace.packet if each.HasField("track_event"))
    assert kinds[TrackEvent.Type.TYPE_SLICE_BEGIN] == kinds[TrackEvent.Type.TYPE_SLICE_END]
    (one,) = slowest["transactions"]
    assert values[0]["latency_ps"] == one["end_ps"] - one["start_ps"]
    instants = {each.track_event.name for each in trace.packet}
    assert {"retransmission timeout", "tail loss probe"} <= instants


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_the_analysis_of_the_capture_agrees_with_what_happened(slowest: dict[str, Any]) -> None:
    fields = ("tcp.analysis.retransmission", "_ws.malformed", "ip.checksum.status", "frame.comment")
    wanted = [word for name in fields for word in ("-e", name)]
    command = [
        "tshark",
        "-o",
        "ip.check_checksum:TRUE",
        "-r",
        slowest["pcapng"],
        "-T",
        "fields",
        *wanted,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) == slowest["frames"]
    again = [bool(row[0]) for row in rows]
    assert again == ["repeated" in row[3] for row in rows]
    assert (sum(again), len(rows)) == (14, 493), "the figures of docs/models/trace.md"
    assert {(row[1], row[2]) for row in rows} == {("", "1")}
    assert sum("dropped at leaf>client: buffer-full, queue " in row[3] for row in rows) == 14
    assert sum("repeated after a retransmission timeout" in row[3] for row in rows) == 1


def test_the_capture_is_read_by_the_profile(slowest: dict[str, Any]) -> None:
    done = tailrace("profile", slowest["pcapng"], "--json")
    assert done.returncode == 0, done.stderr
    assert f'"frames": {slowest["frames"]}' in done.stdout


def test_those_under_way_at_a_moment_are_told(run: Path, tmp_path: Path) -> None:
    done = tailrace("trace", str(run), "--at", "120ms", "-o", str(tmp_path / "at.perfetto-trace"))
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("orders #")]
    assert len(told) > 1
    assert (tmp_path / "at.perfetto-trace").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--arm", "besides"], "there is no arm 'besides' (hint: did you mean 'beside'"),
        (
            ["--workload", "order"],
            "there is no workload or group 'order' (hint: did you mean 'orders'",
        ),
        (["--workload", "backup"], "'backup' is a stream without an end"),
        (["--trial", "2"], "there is no trial 2 of"),
        (
            ["--id", "1000000"],
            "there is no transaction 1000000 of 'orders' (hint: numbers from 0 to ",
        ),
        (["--at", "401ms"], "--at 401 ms is outside the trial (hint: it ends at 400 ms)"),
        (["--at", "soon"], "--at: "),
        (["--id", "1", "--at", "1ms"], "--id and --at exclude each other"),
        (["--port", "leaf>client"], "--port belongs to --pcapng"),
        (
            ["--pcapng", "x.pcapng", "--port", "leaf>clien"],
            "there is no port 'leaf>clien' (hint: did you mean 'leaf>",
        ),
        (
            ["-o", "missing/x"],
            "--out: missing/x: there is no directory missing (hint: mkdir -p missing)",
        ),
        (
            ["-o", "."],
            "--out: .: this is a directory (hint: name a file, such as trace.perfetto-trace)",
        ),
        (["-o", "x", "--pcapng", "x"], "name the same file"),
    ],
)
def test_what_is_not_there_is_refused(run: Path, words: list[str], expected: str) -> None:
    done = tailrace("trace", str(run), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr


@pytest.mark.parametrize(
    ("engine", "words", "expected"),
    [
        ("exact", [], "this is a run of the engine 'exact'"),
        (
            "live",
            [],
            "has no ingress log, from which frames are traced (hint: `tailrace run --live "
            "--log-ingress`)",
        ),
        ("live", ["--pcapng", "x.pcapng"], "--pcapng is of simulated runs"),
    ],
)
def test_what_other_engines_do_not_have_is_refused(
    run: Path, tmp_path: Path, engine: str, words: list[str], expected: str
) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    manifest = json.loads((other / "manifest.json").read_text(encoding="utf-8"))
    (other / "manifest.json").write_text(
        json.dumps({**manifest, "engine": engine}), encoding="utf-8"
    )
    seal(other / "manifest.json")
    done = tailrace("trace", str(other), *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
