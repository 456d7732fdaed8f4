"""The extension: what it takes, what it gives back, and that it leaves Python alone meanwhile."""

import json
import os
import struct
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tailrace import _native
from tailrace.live.trial.outcome import FABRIC_COLUMNS

pytestmark = pytest.mark.smoke

MS_PS = 10**9
BUFFER = {"initial_bytes": 1_000_000, "maximum_bytes": 1_000_000}
TCP = {
    "congestion_control": "cubic",
    "slow_start_exit": "hystart",
    "initial_window_segments": 10,
    "window_cap_bytes": 0,
    "ecn": False,
    "sack": True,
    "tail_loss_probe": True,
    "rto_min_ps": 200 * MS_PS,
    "rto_max_ps": 120_000 * MS_PS,
    "delayed_ack_ps": 40 * MS_PS,
    "slow_start_after_idle": True,
    "small_queue_ps": MS_PS,
    "send_buffer": BUFFER,
    "receive_buffer": BUFFER,
}
NIC = {
    "queue_bytes": 1_000_000,
    "tso_bytes": 64_000,
    "gro_bytes": 64_000,
    "rx_coalesce_ps": 8_000_000,
    "rx_jitter": {"exponential": {"mean": 2_000_000}},
    "rx_ring_frames": 4096,
}
QUEUE = {"name": "default", "service": {"dwrr": 1000}, "limit": {"bytes": 100_000}, "aqm": "none"}
OLTP = {
    "client": "app",
    "server": "db",
    "users": 4,
    "transactions": 20,
    "warmup_transactions": 0,
    "round_trips": [
        {
            "request_bytes": 200,
            "response_bytes": 18_000,
            "server_time": {"constant": 100_000_000},
            "write_bytes": 0,
            "produce_fs_per_byte": 0,
            "consume_fs_per_byte": 0,
        }
    ],
    "gap": {"exponential": {"mean": MS_PS}},
    "gap_from": "end",
    "start": {"uniform": {"low": 0, "high": MS_PS}},
}
STREAM = {
    "source": "db",
    "destination": "app",
    "connections": 2,
    "bytes": 0,
    "stagger_ps": 0,
    "pin_forward": [],
    "pin_backward": [],
}
COLUMNS = {
    "transactions": {
        "workload": "u32",
        "user": "u32",
        "start_ps": "u64",
        "latency_ps": "u64",
        "size_bytes": "u64",
        "ideal_ps": "u64",
    },
    "cut_off": {"workload": "u32", "user": "u32", "start_ps": "u64", "waited_ps": "u64"},
    "workload_series": {"workload": "u32", "bin": "u32", "start_ps": "u64", "goodput_bytes": "u64"},
    **FABRIC_COLUMNS,
}
LETTERS = {"u32": "I", "u64": "Q", "f64": "d"}


def workload(**body: Any) -> dict[str, Any]:
    """One workload of a plan."""
    return {"header": {"name": "shop", "priority": 0, "port": 5432}, "body": body}


def plan(**changes: Any) -> str:
    """Two hosts at one switch, four users."""
    policy = {"queues": [QUEUE], "queue_of_priority": [0] * 8, "dpp": None}
    switch = {
        "name": "switch",
        "switching": "store-and-forward",
        "latency_ps": 1_000_000,
        "buffer_bytes": 1_000_000,
        "policy": policy,
        "port_policies": [],
    }
    cpu = {"per_packet_ps": 0, "per_byte_fs": 0}
    sample = {
        "version": 2,
        "name": "sample",
        "seed": 1,
        "stop_at_ps": 1000 * MS_PS,
        "framing": {"header_bytes": 14, "overhead_bytes": 24},
        "clock_offset_ppb": 50_000,
        "hosts": [
            {"name": name, "mtu_bytes": 1500, "nic": NIC, "cpu": cpu, "tcp": TCP}
            for name in ("app", "db")
        ],
        "switches": [switch],
        "links": [
            {"a": name, "b": "switch", "rate_bps": 10_000_000_000, "delay_ps": 500_000}
            for name in ("app", "db")
        ],
        "workloads": [workload(oltp=OLTP)],
        "observe": {
            "ports": [["switch", "app"]],
            "series_bins": 100,
            "series_bin_ps": MS_PS,
            "transactions_max": 1000,
            "digest": True,
        },
    }
    return json.dumps(sample | changes)


def endless() -> str:
    """A plan that runs for an hour of simulated time: nobody waits for its end."""
    return plan(workloads=[workload(stream=STREAM)], stop_at_ps=3_600_000 * MS_PS)


def numbers(column: tuple[str, bytes]) -> list[float]:
    """A column as Python numbers."""
    letter = LETTERS[column[0]]
    return list(struct.unpack(f"<{len(column[1]) // struct.calcsize(letter)}{letter}", column[1]))


def test_a_trial_conserves_its_frames_and_finishes_its_transactions() -> None:
    outcome = json.loads("".join(_native.Trial(plan()).run()[0]))
    frames = outcome["conservation"]
    assert frames["sent"] == frames["delivered"] + frames["dropped"] + frames["in_network"]
    assert outcome["finished"]
    assert outcome["workloads"][0]["transactions"] == 80


def test_the_tables_have_the_stated_columns_of_equal_length() -> None:
    _, _, tables = _native.Trial(plan()).run()
    assert {
        name: {c: kind for c, (kind, _) in table.items()} for name, table in tables.items()
    } == COLUMNS
    for table in tables.values():
        assert len({len(numbers(column)) for column in table.values()}) == 1


def test_every_transaction_is_in_the_table() -> None:
    _, _, tables = _native.Trial(plan()).run()
    table = tables["transactions"]
    assert sorted(set(numbers(table["user"]))) == [0, 1, 2, 3]
    latencies = numbers(table["latency_ps"])
    assert len(latencies) == 80
    # The server alone takes 100 us; nothing here can take longer than the trial.
    assert all(100_000_000 < latency < 1000 * MS_PS for latency in latencies)


def test_the_same_plan_gives_the_same_digest_and_the_same_numbers() -> None:
    first, second = (_native.Trial(plan()).run() for _ in range(2))
    assert json.loads("".join(first[0]))["digest"] == json.loads("".join(second[0]))["digest"]
    assert first[2] == second[2]


def test_another_seed_gives_another_digest() -> None:
    digests = {
        json.loads("".join(_native.Trial(plan(seed=seed)).run()[0]))["digest"] for seed in (1, 2)
    }
    assert len(digests) == 2


def test_what_is_not_a_plan_is_refused_in_words() -> None:
    with pytest.raises(_native.PlanError, match="the plan cannot be read: missing field"):
        _native.Trial("{}")


def test_an_unknown_name_is_named() -> None:
    lost = OLTP | {"server": "nowhere"}
    with pytest.raises(_native.PlanError, match='there is no node named "nowhere"'):
        _native.Trial(plan(workloads=[workload(oltp=lost)]))


def test_a_cancelled_trial_says_so() -> None:
    trial = _native.Trial(endless())
    trial.cancel()
    assert json.loads("".join(trial.run()[0]))["cancelled"]


def test_python_goes_on_while_a_trial_runs() -> None:
    trial = _native.Trial(endless())
    assert trial.progress() == 0.0
    answers: list[str] = []
    runner = threading.Thread(target=lambda: answers.append("".join(trial.run()[0])))
    runner.start()
    while trial.progress() == 0.0:  # only another thread than the trial's can see this end
        pass
    assert 0.0 < trial.progress() < 1.0
    trial.cancel()
    runner.join()
    assert json.loads(answers[0])["cancelled"]


def test_the_simulator_and_the_package_have_one_version() -> None:
    assert _native.version() == version("tailrace")


def test_failures_are_ordinary_exceptions() -> None:
    assert issubclass(_native.PlanError, ValueError)
    assert issubclass(_native.TrialFailed, RuntimeError)


def test_the_type_stub_says_what_the_extension_has(tmp_path: Path) -> None:
    """The stub alone: the package would be checked with it, which `make lint` does."""
    (tmp_path / "stubs" / "tailrace").mkdir(parents=True)
    (tmp_path / "stubs" / "tailrace" / "__init__.pyi").touch()
    stub = Path(_native.__file__).with_name("_native.pyi")
    (tmp_path / "stubs" / "tailrace" / "_native.pyi").write_text(
        stub.read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "mypy.ini").write_text("[mypy]\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy.stubtest",
        "--mypy-config-file",
        "mypy.ini",
        "tailrace._native",
    ]
    answer = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(tmp_path / "stubs")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
