"""The lines that `tailrace advise` prints for hosts, in a network namespace: applied, and taken
back."""

import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tailrace.advice.candidate import Candidate
from tailrace.advice.candidates import candidates
from tailrace.advice.settings import poll_mode_settings
from tailrace.advice.situation import Situation
from tailrace.scenario.loading import load_scenario

CASES = Path(__file__).parents[1] / "python" / "advice" / "cases"
LIMIT_S = 200
"""One line is a command of tailrace, for which a very busy machine needs a minute."""
PORT = "5432"
ADDRESSES = ("10.99.0.1/24", "10.99.0.2/24")
PICTURE = (
    "sysctl -a --pattern '^net.ipv4.tcp_' 2>/dev/null",
    "ip -details route show",
    "iptables-save -t mangle | grep '^-A' || true",
    "cat /sys/class/net/eth0/mtu",
    "ls",
)
"""What must be the same before and after, with the files in the working directory."""
TOLD = {
    "rto-min-10ms": ("ip route show", "rto_min lock 10ms"),
    "quick-ack": ("ip route show", "quickack 1"),
    "initial-window-40": ("ip route show", "initcwnd 40"),
    "no-restart": ("sysctl net.ipv4.tcp_slow_start_after_idle", "= 0"),
    "socket-buffers-64MiB": ("sysctl net.ipv4.tcp_rmem", "= 4096\t131072\t67108864"),
    "wred-ecn": ("sysctl net.ipv4.tcp_ecn", "= 1"),
    "bbr": ("sysctl net.ipv4.tcp_congestion_control", "= bbr"),
    "strict-queue": ("iptables-save -t mangle", "--ports 5432 -j DSCP --set-dscp 0x20"),
    "mtu-9000": ("cat /sys/class/net/eth0/mtu", "9000"),
}
"""A command, and what it tells when the setting is there."""


def known() -> dict[str, Candidate]:
    """The candidates of short transactions behind long flows, by name."""
    loaded = load_scenario(CASES / "prioritise.yaml")
    [(_, arm)] = loaded.arms.items()
    return {
        one.name: one
        for one in candidates(Situation(loaded.document, arm, ("orders",), "latency_p99_ms"))
    }


@dataclass(frozen=True)
class Host:
    """A namespace with one interface, and another one behind it."""

    name: str
    folder: Path

    def run(self, line: str) -> str:
        """A line of the advice, as a user with an interface and a peer would run it."""
        done = self.attempt(line)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def attempt(self, line: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        values = {
            "INTERFACE": "eth0",
            "PEER": ADDRESSES[1].partition("/")[0],
            "PORT": PORT,
            "PATH": path,
        }
        return execute(["ip", "netns", "exec", self.name, "sh", "-c", line], self.folder, values)

    def picture(self) -> list[str]:
        """All that the lines may change."""
        return [self.run(line) for line in PICTURE]


def execute(
    words: Sequence[str], folder: Path | None = None, values: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | dict(values or {})
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def require(*words: str) -> None:
    done = execute(words)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    names = [f"advised-{os.getpid()}-{end}" for end in "ab"]
    made: list[str] = []
    try:
        for name in names:
            require("ip", "netns", "add", name)
            made.append(name)
        require(
            "ip",
            "link",
            "add",
            "eth0",
            "netns",
            names[0],
            "type",
            "veth",
            "peer",
            "name",
            "eth0",
            "netns",
            names[1],
        )
        for name, address in zip(names, ADDRESSES, strict=True):
            require("ip", "-n", name, "link", "set", "eth0", "up")
            require("ip", "-n", name, "link", "set", "lo", "up")
            require("ip", "-n", name, "address", "add", address, "dev", "eth0")
        require(
            "ip",
            "-n",
            names[0],
            "route",
            "add",
            "10.98.0.0/16",
            "via",
            ADDRESSES[1].partition("/")[0],
            "initcwnd",
            "20",
        )
        require("ip", "-n", names[1], "link", "set", "eth0", "mtu", "9000")
        made_host = Host(names[0], tmp_path)
        made_host.run("sysctl -w net.ipv4.tcp_congestion_control=reno")
        yield made_host
    finally:
        for name in made:
            require("ip", "netns", "delete", name)


SLOW = {"strict-queue"}
"""It needs a package for itself, as Open vSwitch does."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in TOLD]
)
def test_the_setting_is_there_and_then_as_before(host: Host, name: str) -> None:
    before = host.picture()
    command, told = TOLD[name]
    assert told not in host.run(command)
    settings = known()[name].settings
    assert settings
    for line in itertools.chain.from_iterable(one.apply for one in settings):
        host.run(line)
    assert told in host.run(command)
    for line in itertools.chain.from_iterable(one.undo for one in settings):
        host.run(line)
    assert host.picture() == before


def test_two_settings_of_routes_are_both_there_and_one_rollback_takes_them_back(host: Host) -> None:
    before = host.picture()
    both = [known()[name].settings[0] for name in ("rto-min-10ms", "initial-window-40")]
    for line in [*both[0].apply, *both[1].apply, *both[1].apply]:
        host.run(line)
    routes = host.run("ip route show").splitlines()
    assert len(routes) == 2
    assert all("initcwnd 40" in route and "rto_min lock 10ms" in route for route in routes)
    for line in both[0].undo:
        host.run(line)
    assert host.picture() == before


def test_what_the_machine_had_is_kept_and_not_what_the_scenario_says(host: Host) -> None:
    host.run("sysctl -w net.ipv4.tcp_rmem='8192 65536 1000000'")
    [settings] = known()["socket-buffers-64MiB"].settings
    for line in [*settings.apply, *settings.apply, *settings.undo]:
        host.run(line)
    assert host.run("sysctl -n net.ipv4.tcp_rmem").split() == ["8192", "65536", "1000000"]


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A database of Open vSwitch of its own, with a bridge; no daemon switches frames."""
    for program in ("ovsdb-tool", "ovsdb-server", "ovs-vsctl"):
        if shutil.which(program) is None:
            pytest.fail(f"{program} is not installed (Debian's package: openvswitch-switch)")
    # The path of a socket has at most 107 bytes, fewer than a folder of pytest's may have.
    with tempfile.TemporaryDirectory(prefix="advised-") as folder:
        monkeypatch.setenv("OVS_RUNDIR", folder)
        require(
            "ovsdb-tool", "create", f"{folder}/conf.db", "/usr/share/openvswitch/vswitch.ovsschema"
        )
        words = [
            "ovsdb-server",
            f"{folder}/conf.db",
            f"--remote=punix:{folder}/db.sock",
            f"--unixctl={folder}/control",
        ]
        with (
            (tmp_path / "ovsdb.log").open("wb") as log,
            subprocess.Popen(words, stdout=log, stderr=log) as server,
        ):
            try:
                deadline = time.monotonic() + LIMIT_S
                while not Path(folder, "db.sock").exists():
                    assert server.poll() is None
                    assert time.monotonic() < deadline
                    time.sleep(0.01)
                require("ovs-vsctl", "--no-wait", "init")
                require("ovs-vsctl", "--no-wait", "add-br", "br-int")
                yield
            finally:
                server.terminate()


@pytest.mark.slow
@pytest.mark.usefixtures("database")
def test_a_virtual_switch_polls_and_then_does_not() -> None:
    def bridge_and_options() -> str:
        told = [
            execute(["ovs-vsctl", "get", *words])
            for words in (
                ("Open_vSwitch", ".", "other_config"),
                ("bridge", "br-int", "datapath_type"),
            )
        ]
        return "".join(one.stdout for one in told)

    def run(line: str) -> None:
        # Without a daemon that switches, `ovs-vsctl` would wait for it.
        done = execute(
            ["sh", "-c", line.replace("ovs-vsctl", "ovs-vsctl --no-wait", 1)],
            values={"BRIDGE": "br-int"},
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"

    execute(
        ["ovs-vsctl", "--no-wait", "set", "Open_vSwitch", ".", "other_config:n-handler-threads=2"]
    )
    run("ovs-vsctl set bridge $BRIDGE datapath_type=system")
    before = bridge_and_options()
    [settings] = poll_mode_settings(["hypervisor"])
    for line in settings.apply:
        run(line)
    assert 'dpdk-init="true", n-handler-threads="2", pmd-cpu-mask="0x1"' in bridge_and_options()
    assert "netdev" in bridge_and_options()
    for line in settings.undo:
        run(line)
    assert bridge_and_options() == before


def test_interrupts_are_settings_that_the_program_reads(host: Host) -> None:
    # No virtual interface has interrupts to moderate: the kernel refuses, and not the program its
    # arguments.
    for line in (
        "ethtool -C $INTERFACE adaptive-rx off rx-usecs 0",
        "ethtool -L $INTERFACE combined 2",
    ):
        done = host.attempt(line)
        assert "bad command line" not in done.stderr
        assert "Operation not supported" in done.stderr or "Invalid argument" in done.stderr, (
            done.stderr
        )
