"""A fabric that stays up for anybody's programs: up, list, exec, top, down."""

import json
import socket
import stat
import subprocess
import urllib.request
from pathlib import Path

import machine

LIMIT_S = 60


def tailrace(state: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One command, with its fabrics kept in a folder of the test."""
    return machine.tailrace(*words, limit_s=LIMIT_S, environment={"XDG_STATE_HOME": str(state)})


def test_a_fabric_stays_up_until_it_is_taken_down(tmp_path: Path) -> None:
    before = machine.picture()
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    up = tailrace(
        tmp_path, "lab", "up", str(machine.SCENARIO), "--arm", "dpp", "--metrics", str(number)
    )
    try:
        assert up.returncode == 0, up.stderr
        assert "10.77.0.2" in up.stdout
        folder = tmp_path / "tailrace" / "fabrics" / "small"
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "control.sock")]
        assert modes == [0o700, 0o600], "who can write to the socket starts programs as root"
        assert [
            each["name"] for each in json.loads(tailrace(tmp_path, "lab", "list", "--json").stdout)
        ] == ["small"]
        again = tailrace(tmp_path, "lab", "up", str(machine.SCENARIO))
        assert (again.returncode, "is up already" in again.stderr) == (2, True)
        ping = tailrace(
            tmp_path, "lab", "exec", "client", "--", "ping", "-c", "2", "-i", "0.01", "db"
        )
        assert " 0% packet loss" in ping.stdout, ping.stderr
        assert (
            tailrace(tmp_path, "lab", "exec", "client", "--", "sh", "-c", "exit 7").returncode == 7
        )
        absent = tailrace(tmp_path, "lab", "exec", "client", "--", "/no/such/program")
        assert (absent.returncode, absent.stdout) == (127, "")
        killed = tailrace(tmp_path, "lab", "exec", "client", "--", "sh", "-c", "kill -TERM $$")
        assert killed.returncode == 128 + 15
        unknown = tailrace(tmp_path, "lab", "exec", "clinet", "--", "true")
        assert "did you mean 'client'?" in unknown.stderr
        ports = json.loads(tailrace(tmp_path, "lab", "top", "--once", "--json").stdout)["ports"]
        assert sum(port["tx_frames"] for port in ports) == 4
        assert [port["towards"] for port in ports] == ["client", "db", "bulk"]
        with urllib.request.urlopen(
            f"http://127.0.0.1:{number}/metrics", timeout=LIMIT_S
        ) as answer:
            assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
            samples = answer.read().decode().splitlines()
        sent = [line for line in samples if line.startswith("tailrace_tx_frames_total{")]
        assert len(sent) == 6  # three ports with two queues each
        assert sum(int(line.rpartition(" ")[2]) for line in sent) == 4
        assert samples[-1] == "# EOF"
        capture = ("lab", "capture", "leaf>client", str(tmp_path / "c.pcapng"), "--seconds", "0.5")
        done = tailrace(tmp_path, *capture)
        assert done.stdout.startswith("wrote "), done.stderr
        # The block type of a section header (pcapng, section 4.1).
        assert (tmp_path / "c.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    finally:
        down = tailrace(tmp_path, "lab", "down")
    assert down.returncode == 0, down.stderr
    assert "leaf>client" in down.stdout
    assert tailrace(tmp_path, "lab", "list").stdout.strip() == "no fabric is up"
    assert machine.wait_until_gone(str(tmp_path)) == []
    assert machine.picture() == before
    assert list((tmp_path / "tailrace" / "fabrics").iterdir()) == []
