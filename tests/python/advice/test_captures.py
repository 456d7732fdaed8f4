"""Advice about a capture: what its queue took is not the server's time."""

import json
from pathlib import Path
from typing import Any

import pytest

import simulated_capture
from command_line import tailrace
from tailrace.cli.advising import scenario_of
from tailrace.fit.document import scenario_text
from tailrace.fit.fitting import FitOptions, fit_capture
from tailrace.scenario.loading import load_document
from tailrace.scenario.text.document import parse_document
from tailrace.scenario.workloads.oltp import Oltp

SERVER_MS = 1.0
CLIENT = ("client>switch", "switch>client")
QUICK = ("--only", "codel", "--screening", "1", "--trials-max", "6", "--scale", "0.5")


def loaded_server() -> dict[str, Any]:
    """Users of a server, and bulk transfers that fill the queue to their host."""
    return {
        "tailrace": 1,
        "name": "queue",
        "network": {
            "link": {"rate": "1Gbit/s", "delay": "5us"},
            "topology": {"kind": "star", "hosts": ["client", "server", "other"]},
        },
        "workloads": {
            "shop": {
                "kind": "oltp",
                "client": "client",
                "server": "server",
                "users": 4,
                "gap": "exponential(5ms)",
                "round_trips": [
                    {"request": "200B", "response": "4kB", "server_time": "exponential(1ms)"}
                ],
            },
            "bulk": {
                "kind": "stream",
                "source": "other",
                "destination": "client",
                "connections": 2,
                "size": "30MB",
            },
        },
        "experiment": {"trials": 1, "duration": "600ms"},
    }


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated_capture.capture(
        loaded_server(), tmp_path_factory.mktemp("capture") / "queue.pcap", CLIENT
    )


def server_ms(loaded: Any) -> float:
    [users] = [one for one in loaded.scenario.running.values() if isinstance(one, Oltp)]
    return float(users.round_trips[0].server_time.mean) / 1e9


def test_a_full_queue_is_no_slow_server(capture: Path) -> None:
    plain = load_document(
        parse_document(scenario_text(fit_capture(capture, FitOptions())), "plain")
    )
    assert server_ms(plain) > 2.5 * SERVER_MS, "alone, the fit takes the queue for the server"
    # The corrections end as soon as the latencies agree: what is left of the server's time depends
    # on the draws.
    assert server_ms(scenario_of([capture], None)) == pytest.approx(SERVER_MS, rel=0.4)


def test_the_time_at_present_is_that_of_the_queue(capture: Path, tmp_path: Path) -> None:
    done = tailrace("advise", str(capture), *QUICK, "--out", str(tmp_path / "advice"), "--json")
    assert done.returncode == 0, done.stderr
    assert "fitted, and simulated beside the capture; farthest from it:" in done.stderr
    data = json.loads(done.stdout)
    shares = data["makeup"]["shares"]
    assert shares["switch_queue"] > 0.5, shares
    assert [one["name"] for one in data["confirmed"]] == ["codel"], (
        "which helps against queues only"
    )
