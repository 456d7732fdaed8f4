"""Traces and captures of every kind of workload over TCP: decoded with the schema of Perfetto, and
read with tshark."""

import json
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from command_line import tailrace
from trial_files import read_trial
from whole import stored

SCENARIO = """
tailrace: 1
name: kinds
network:
  switches: [leaf, node]
  hosts: [client, web, app, disks, other, cpu, machine]
  link: {rate: 1Gbit/s, delay: 5us}
  links:
    - {between: [client, leaf]}
    - {between: [web, leaf]}
    - {between: [app, leaf]}
    - {between: [disks, leaf]}
    - {between: [other, leaf]}
    - {between: [cpu, leaf]}
    - {between: [node, leaf]}
    - {between: [machine, node]}
switches: {leaf: {buffer: 200kB}}
hypervisors:
  node: {cores: 4, clock: 2GHz}
hosts:
  cpu: {cpu: {cores: 2, profile: linux-kernel, clock: 2GHz}}
  machine: {cpu: {cores: 2, profile: linux-kernel, clock: 2GHz}}
workloads:
  pages:
    kind: requests
    preset: http
    client: client
    server: web
    users: 4
    gap: exponential(2ms)
    calls: [{servers: [app], request: 200B, response: 8kB}]
  mice: {kind: flows, sources: [other], destinations: [client], sizes: 30kB, interarrival: exponential(2ms)}
  copy: {kind: stream, source: other, destination: app, size: 1MB}
  backup: {kind: stream, source: other, destination: client, connections: 2}
  disk: {kind: storage, initiators: [app], target: disks, device: memory, protocol: nbd, block: 16KiB, read: 50}
  ranks: {kind: mpi, hosts: [web, disks], pattern: allreduce, sizes: [1kB], iterations: 100}
  threads: {kind: requests, client: client, server: cpu, users: 2, request: 100B, response: 4kB, server_work: 20us}
  virtual: {kind: requests, client: client, server: machine, users: 2, request: 100B, response: 4kB, server_work: 20us}
arms: {beside: {}}
experiment: {trials: 1, duration: 60ms}
"""  # noqa: E501
ENDS = {
    "pages": {"client", "web", "app"},
    "mice": {"other", "client"},
    "copy": {"other", "app"},
    "disk": {"app", "disks"},
    "ranks": {"web", "disks"},
    "threads": {"client", "cpu"},
    "virtual": {"client", "machine"},
}
"""By workload, the hosts of its connections."""
CORES = {"threads": ["cores of cpu"], "virtual": ["cores of machine", "cores of node"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    done = tailrace("run", str(folder / "scenario.yaml"), "--out", str(folder / "run"))
    assert done.returncode == 0, done.stderr
    return folder / "run"


def traced(run: Path, workload: str, folder: Path, *words: str) -> dict[str, Any]:
    files = ["-o", str(folder / "x.perfetto-trace"), "--pcapng", str(folder / "x.pcapng")]
    done = tailrace("trace", str(run), "--workload", workload, *files, "--json", *words)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def tracks_of(path: str) -> tuple[dict[str, set[str]], dict[int, int], int]:
    """Tracks by group, the number of ends of every arrow, and the number of slices; every slice
    ends, on its track."""
    trace = Trace()
    trace.ParseFromString(Path(path).read_bytes())
    groups: dict[int, str] = {}
    tracks: dict[str, set[str]] = defaultdict(set)
    flows: dict[int, int] = defaultdict(int)
    depth: dict[int, int] = defaultdict(int)
    slices = 0
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            of = packet.track_descriptor
            if of.process.process_name:
                groups[of.uuid] = of.process.process_name
            elif of.parent_uuid in groups:
                tracks[groups[of.parent_uuid]].add(of.name)
            continue
        event = packet.track_event
        for flow in event.flow_ids:
            flows[flow] += 1
        if event.type == TrackEvent.Type.TYPE_SLICE_BEGIN:
            depth[event.track_uuid] += 1
            slices += 1
        elif event.type == TrackEvent.Type.TYPE_SLICE_END:
            depth[event.track_uuid] -= 1
            assert depth[event.track_uuid] >= 0
    assert not any(depth.values())
    return tracks, flows, slices


@pytest.mark.parametrize("workload", list(ENDS))
def test_every_kind_has_sockets_arrows_and_a_sound_capture(
    run: Path, tmp_path: Path, workload: str
) -> None:
    summary = traced(run, workload, tmp_path)
    tracks, flows, slices = tracks_of(summary["trace"])
    prefix = "sockets of "
    assert {name.removeprefix(prefix) for name in tracks if name.startswith(prefix)} == ENDS[
        workload
    ]
    assert all(
        f"({workload}" in name
        for group in tracks
        if group.startswith(prefix)
        for name in tracks[group]
    )
    assert min(flows.values(), default=0) > 1, "no arrow leads nowhere"
    assert sum(flow >= 1 << 41 for flow in flows) == 2, "one from the user, and one to it"
    assert slices > summary["frames"] > 3
    for group in CORES.get(workload, []):
        assert any(name.startswith("core ") for name in tracks[group]), tracks.keys()
    assert ("virtual switch" in tracks.get("cores of node", ())) is (workload == "virtual")
    _check_capture(summary)


def test_an_interval_of_a_stream_without_an_end_shows_its_connections(
    run: Path, tmp_path: Path
) -> None:
    summary = traced(run, "backup", tmp_path, "--at", "10ms")
    assert [one["name"] for one in summary["transactions"]] == ["backup at 10 ms"] * 2
    tracks, flows, _ = tracks_of(summary["trace"])
    assert {"interval of connection 0", "interval of connection 1"} == tracks["workload backup"]
    assert len(tracks["sockets of other"]) == 2
    assert min(flows.values()) > 1
    assert summary["frames"] > 100
    _check_capture(summary)


def test_what_has_no_operations_is_refused_in_words(run: Path) -> None:
    done = tailrace("trace", str(run), "--workload", "backup")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "'backup' is a stream without an end, which is never complete (hint: `--at TIME` shows 5 ms"
        in done.stderr
    )
    done = tailrace("trace", str(run), "--workload", "backup", "--at", "60ms")
    assert "--at 60 ms is outside the trial (hint: it ends at " in done.stderr


def test_a_trial_that_failed_says_why(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "run"
    shutil.copytree(run, other)
    file = other / "trials" / "beside" / "1.json"
    stored(
        file,
        "beside",
        1,
        None,
        plan_hash=read_trial(file)["plan_hash"],
        reason="the switch is on fire",
    )
    done = tailrace("trace", str(other))
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "trial 1 of any arm has no counters: failed, the switch is on fire (hint: no trial"
        in done.stderr
    )


def _check_capture(summary: dict[str, Any]) -> None:
    """Every frame stands in it, with right checksums."""
    if shutil.which("tshark") is None:
        return
    options = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    fields = [
        word
        for name in ("_ws.malformed", "ip.checksum.status", "frame.comment")
        for word in ("-e", name)
    ]
    command = ["tshark", *options, "-r", summary["pcapng"], "-T", "fields", *fields]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(rows) == summary["frames"]
    assert {(row[0], row[1]) for row in rows} == {("", "1")}
    assert all(row[2] for row in rows)
