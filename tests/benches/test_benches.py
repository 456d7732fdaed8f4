"""The measured jobs are plans that run, and the page says what was measured."""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tailrace import _native
from tailrace.scenario.network.cpu import COSTS_OF_PROCESSOR, PROFILES

BENCHES = Path(__file__).resolve().parents[2] / "benches"


@pytest.fixture(autouse=True)
def _benches_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHES))
    for name in (
        "jobs",
        "run",
        "table",
        "workloads",
        "cisco",
        "front",
        "guard",
        "memory",
        "instructions",
        "captures",
        "child",
        "beside",
        "peers",
        "sizes",
    ):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_the_tables_show_the_recorded_results() -> None:
    table = importlib.import_module("table")
    page = (BENCHES / "README.md").read_text()
    rendered = table.render(json.loads((BENCHES / "results.json").read_text()))
    assert f"{table.BEGIN}\n\n{rendered}\n{table.END}" in page, (
        "run `python benches/run.py --table`"
    )


def test_every_job_is_a_plan_that_delivers_packets() -> None:
    jobs = importlib.import_module("jobs")
    for job in jobs.JOBS:
        plan = jobs.shortened(job.plan(), jobs.MS)
        outcome = json.loads("".join(_native.Trial(json.dumps(plan)).run()[0]))
        conserved = outcome["conservation"]
        assert outcome["packets_delivered"] > 0, job.name
        assert (
            conserved["sent"]
            == conserved["delivered"] + conserved["dropped"] + conserved["in_network"]
        ), job.name


def test_hosts_with_processors_have_the_costs_of_the_kernel_profile() -> None:
    workloads = importlib.import_module("workloads")
    profile = PROFILES["linux-kernel"]
    per_byte = ("read_byte", "write_byte")
    named = {
        name: f"{name}_fs" if name in per_byte else f"{name}_ps" for name in COSTS_OF_PROCESSOR
    }
    expected = {key: getattr(profile, name) for name, key in named.items()}
    assert (expected, profile.per_packet) == (workloads.KERNEL_COSTS, workloads.PER_PACKET_PS)


def test_runs_of_one_plan_that_differ_are_refused() -> None:
    run = importlib.import_module("run")
    clocks = dict.fromkeys(run.CLOCKS, 0.5)
    same: dict[str, Any] = {
        "digest": "a",
        "packet_hops": 3,
        "packets_delivered": 1,
        "events": 3,
        "peak_bytes": 3 << 20,
    }
    assert run.summarise("W1", [same | clocks] * 2, 1 << 20)["memory_mib"] == 2.0
    with pytest.raises(RuntimeError, match="digest differs"):
        run.summarise("W1", [same | clocks, same | clocks | {"digest": "b"}], 1 << 20)


def test_packets_delivered_must_agree_within_one_per_cent() -> None:
    table, jobs = importlib.import_module("table"), importlib.import_module("jobs")
    peers = {"delivered": {"W1": 1000}}
    for delivered, verdict in ((1009, "+0.90%, agrees"), (985, "-1.50%, does not agree")):
        assert verdict in table.agreement([(jobs.JOBS[0], {"packets_delivered": delivered})], peers)


def test_the_front_grows_with_the_hosts_and_not_with_their_square() -> None:
    front = importlib.import_module("front")
    recorded = json.loads((BENCHES / "results.json").read_text())["front"]
    counted = {int(hosts): found for hosts, found in recorded["instructions"].items()}
    assert front.exponent(counted) == recorded["exponent"] <= 1.1


def test_the_exponent_is_that_of_what_depends_on_the_size() -> None:
    front = importlib.import_module("front")
    assert [
        front.exponent({n: 7_000 + 3 * n**power for n in (16, 128, 1024)}) for power in (1, 2)
    ] == [1.0, 2.0]


def test_the_captures_of_the_bench_are_what_their_names_say(tmp_path: Path) -> None:
    captures = importlib.import_module("captures")
    for size_bytes, connections, _ in captures.JOBS.values():
        captures.write(tmp_path / "made.pcap", size_bytes, min(connections, 50), 150)
        text, _ = _native.profile_capture(str(tmp_path / "made.pcap"), "{}")
        told = json.loads(text)
        assert told["frame_sizes"]["top_bytes"] == [[size_bytes, 150]]
        assert told["flow_summary"]["connections"] == min(connections, 50)
        assert told["tcp"]["payload_bytes"] == 150 * (size_bytes - 54)
        assert captures.profile(tmp_path / "made.pcap")["frames"] == 150


def test_the_guard_refuses_what_costs_more_than_its_margin() -> None:
    guard = importlib.import_module("guard")
    stored = json.loads(guard.STORED.read_text())
    assert {(hosts, *sorted(row)) for hosts, row in stored.items()} == {
        ("128", "instructions_per_hop", "misses_per_hop"),
        ("1024", "instructions_per_hop", "misses_per_hop"),
    }
    for key, margin in guard.MARGINS.items():
        for share, told in ((0.99, 0), (1.01, 1)):
            row = stored["1024"] | {key: stored["1024"][key] * (1 + share * margin)}
            assert len(guard.beyond(stored | {"1024": row}, stored)) == told, (key, share)


def test_memory_is_shared_out_to_hosts_ports_and_flows() -> None:
    memory = importlib.import_module("memory")
    tree = importlib.import_module("workloads").fat_tree(4, 1)
    assert (len(tree["hosts"]), memory.tree_ports(tree)) == (16, 80)
    assert [
        len(memory.star(tree, 3)[key]) for key in ("hosts", "switches", "links", "workloads")
    ] == [3, 1, 3, 1]
    host, port, flow, own = 700, 30, 5_000, 10**6
    peaks = {
        "none": own + 2 * (host + port),
        "star": own + 16 * (host + port),
        "tree": own + 16 * host + 80 * port,
    }
    peaks |= {"half": peaks["tree"] + 8 * flow, "full": peaks["tree"] + 16 * flow}
    shares = {"bytes_per_host": host, "bytes_per_port": port, "bytes_per_flow": flow}
    assert memory.shares(peaks, 16, 80, 16) == shares


def test_a_fat_tree_of_any_size_is_a_cycle_through_all_hosts_on_paths_that_exist() -> None:
    workloads = importlib.import_module("workloads")
    plan = workloads.fat_tree(4, workloads.MS)
    streams = {
        each["body"]["stream"]["source"]: each["body"]["stream"] for each in plan["workloads"]
    }
    at, seen = "h0", []
    while at not in seen:
        seen.append(at)
        at = streams[at]["destination"]
    assert len(seen) == len(plan["hosts"]) == 16
    outcome = json.loads("".join(_native.Trial(json.dumps(plan)).run()[0]))
    assert outcome["conservation"]["dropped"] == 0 < outcome["packets_delivered"]


def test_a_plan_is_a_job_of_the_peer_over_the_same_links() -> None:
    workloads, htsim = importlib.import_module("workloads"), importlib.import_module("peers.htsim")
    lines = htsim.job_of(workloads.w2()).splitlines()
    links = [line for line in lines if line.startswith("link ")]
    flows = [line.split() for line in lines if line.startswith("flow ")]
    assert (lines[0], len(links), len(flows)) == ("mss 1502", 2 * 384, 128)
    assert {line.split()[2] for line in links} == {"1000000", str(16 << 20)}
    for _, _start, window, count, *rest in flows:
        forward, back = rest[: int(count)], rest[int(count) + 1 :]
        assert (window, len(back)) == ("131072", int(rest[int(count)]))
        assert int(forward[0]) % 2 == 0, "a host's interface comes first"
    with pytest.raises(htsim.PeerError, match="only endless streams"):
        htsim.job_of(workloads.w3())


def test_a_peer_that_is_not_there_is_told_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = importlib.import_module("beside")
    assert beside.main(["--htsim", str(tmp_path), "--only", "W1"]) == 2
    assert "there is no libhtsim.a" in capsys.readouterr().err


def test_ratios_are_those_of_rounds() -> None:
    beside = importlib.import_module("beside")
    own = {"thread_cpu_s": 1.0, "packet_hops": 100, "packets_delivered": 7, "peak_bytes": 3 << 20}
    peer = {"process_cpu_s": 4.0, "packets_delivered": 8, "peak_bytes": 5 << 20}
    pairs = [[own, peer], [own | {"thread_cpu_s": 2.0}, peer | {"process_cpu_s": 6.0}], [own, peer]]
    found = beside.summary({"hosts": [1, 2]}, pairs, 200, 1 << 20)
    assert (found["ratio"], found["mib"]) == ([2.0, 1.5, 2.0], [2.0, 5.0])
    assert found["delivered"] == [7, 8]
