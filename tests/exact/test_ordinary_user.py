"""Exact runs without the rights of root: guests are in user namespaces."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import machine
from tailrace.exact import program
from trial_files import read_trial

SCENARIO = Path(__file__).with_name("small.yaml")
LIMIT_S = 200
NOBODY = 65_534
READS = "-all,+dac_read_search"
"""The interpreter of the tests may be in a folder of root's. It is read there; nothing else is
permitted."""
WHO = [f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def as_user(words: list[str], home: Path) -> "subprocess.CompletedProcess[str]":
    """A command of an ordinary user's."""
    places = {"HOME": str(home), "TMPDIR": str(home), "TAILRACE_EXACT_KERNEL": str(home / "linux")}
    command = ["setpriv", *WHO, f"--inh-caps={READS}", f"--ambient-caps={READS}", *words]
    environment = {**os.environ, **places}
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env=environment,
        cwd=home,
    )


@pytest.fixture
def home() -> Iterator[Path]:
    """The user's home, with a copy of the kernel, which may lie in a folder of root's."""
    kernel = program.kernel()
    assert kernel is not None, "without one the test is skipped"
    folder = Path(tempfile.mkdtemp(prefix="ordinary-exact-"))
    try:
        folder.chmod(0o755)
        shutil.copy(kernel, folder / "linux")
        shutil.copy(SCENARIO, folder / "small.yaml")
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY)
        yield folder
        assert machine.wait_until_gone(str(folder)) == []
    finally:
        shutil.rmtree(folder)


def test_an_ordinary_user_gets_the_result_of_root(home: Path, tmp_path: Path) -> None:
    if as_user(["unshare", "--user", "--pid", "--fork", "true"], home).returncode != 0:
        pytest.skip("this machine refuses user namespaces to ordinary users")
    words = [
        *machine.TAILRACE,
        "run",
        "--exact",
        str(home / "small.yaml"),
        "--trials",
        "1",
        "--scale",
        "0.3",
        "--out",
    ]
    done = as_user([*words, str(home / "run")], home)
    assert done.returncode == 0, done.stdout + done.stderr
    by_root = subprocess.run(
        [*words, str(tmp_path)], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert by_root.returncode == 0, by_root.stderr
    digests = [
        read_trial(out / "trials" / "fifo" / "1.json")["digest"] for out in (home / "run", tmp_path)
    ]
    assert digests[0] == digests[1]
