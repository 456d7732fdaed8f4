"""Without the rights of root: a lab in a user namespace, or a refusal in plain words."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import machine
from elsewhere import elsewhere
from tailrace.live.lab import fabric
from tailrace.live.machine import limits
from trial_files import read_trial

LIMIT_S = 200
NOBODY = 65_534
"""Of Debian and of the kernel's overflowuid."""
READS = "-all,+dac_read_search"
"""The interpreter of the tests may be in a folder of root's. It is read there; the fabric gives the
right up."""


class User:
    """An ordinary user with a home."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def tailrace(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command of this user's, to whom the machine's /dev/net/tun may be closed."""
        who = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={READS}"]
        places = {"XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state"}
        environment = {name: str(self.home / folder) for name, folder in places.items()}
        environment |= {
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            fabric.ENVIRONMENT: str(self.home / "fabric"),
        }
        command = ["setpriv", *who, f"--ambient-caps={READS}", *machine.TAILRACE, *words]
        return subprocess.run(
            elsewhere("open-tun", command),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            env=os.environ | environment,
            cwd=self.home,
        )


@pytest.fixture
def user() -> Iterator[User]:
    """With what was measured of this machine, which takes a quarter of a minute, and a copy of the
    fabric."""
    limits.frames_per_s_max(lambda _text: None)
    home = Path(tempfile.mkdtemp(prefix="ordinary-"))
    try:
        home.chmod(0o755)
        shutil.copy(fabric.program(), home / "fabric")
        (home / "cache" / "tailrace").mkdir(parents=True)
        shutil.copy(limits.path(), home / "cache" / "tailrace")
        shutil.copy(machine.SCENARIO, home / "small.yaml")
        for path in [home, *home.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        yield User(home)
        assert machine.wait_until_gone(str(home)) == []
    finally:
        shutil.rmtree(home)


def require_lab(user: User) -> None:
    """Skips where the machine keeps labs from ordinary users, such as by a limit of user
    namespaces."""
    facts = json.loads(user.tailrace("lab", "doctor", "--json").stdout)["facts"]
    told = {fact["what"]: fact for fact in facts}
    assert told["privileges"]["value"] == "ordinary user: labs are in a user namespace"
    if not told["a lab"]["is_good"]:
        machine.skip_lacking(f"labs of ordinary users: {told['a lab']['advice']}")


@pytest.mark.slow
def test_an_ordinary_user_runs_databases_in_a_user_namespace(user: User) -> None:
    before = machine.picture()
    require_lab(user)
    done = user.tailrace(
        "run",
        "--live",
        "small.yaml",
        "--arm",
        "dpp",
        "--set",
        "experiment.solo=false",
        "--out",
        "run",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = read_trial(user.home / "run" / "trials" / "dpp" / "1.json")
    assert outcome["workloads"][0]["transactions"] == 120
    assert outcome["fabric"]["realtime"] is False
    assert machine.picture() == before


@pytest.mark.slow
def test_an_ordinary_user_runs_an_mpi_job(user: User) -> None:
    # Priorities of programs need control groups, which only root has on this machine.
    text = (
        Path(__file__)
        .with_name("mpi.yaml")
        .read_text(encoding="utf-8")
        .replace(", priority: 3", "")
    )
    (user.home / "mpi.yaml").write_text(text, encoding="utf-8")
    require_lab(user)
    done = user.tailrace("run", "--live", "mpi.yaml", "--arm", "base", "--out", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = read_trial(user.home / "run" / "trials" / "base" / "1.json")
    assert outcome["workloads"][0]["transactions"] == 120


def test_an_ordinary_user_has_a_fabric_that_stands(user: User) -> None:
    require_lab(user)
    up = user.tailrace("lab", "up", "small.yaml")
    try:
        assert up.returncode == 0, up.stderr
        assert "warning: no control groups" in up.stderr
        ping = user.tailrace("lab", "exec", "client", "--", "ping", "-c", "2", "-i", "0.2", "db")
        assert " 0% packet loss" in ping.stdout, ping.stderr
        cores = user.tailrace("lab", "exec", "client", "--", "cat", "/proc/self/uid_map")
        assert cores.stdout.split() == ["0", str(NOBODY), "1"]
    finally:
        down = user.tailrace("lab", "down")
    assert down.returncode == 0, down.stderr


def test_without_user_namespaces_it_is_refused_in_plain_words(tmp_path: Path) -> None:
    words = ["run", "--live", str(machine.SCENARIO), "--out", str(tmp_path / "run")]
    done = machine.run_program(elsewhere("no-namespaces", [*machine.TAILRACE, *words]), LIMIT_S)
    assert done.returncode == 2, done.stdout + done.stderr
    assert (
        "a live run cannot start on this machine: privileges: too few (run as root: user "
        "namespaces are not available)" in (done.stderr)
    )
    assert "a lab needs root, or CAP_NET_ADMIN and CAP_SYS_ADMIN, or user namespaces" in done.stderr
    assert not (tmp_path / "run").exists()
