"""Options with hostile values: refused, or one word and data."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile import hostile
from lab import load
from tailrace.cli import blasting, profiling
from tailrace.cli.blast_arguments import BlastArguments
from tailrace.cli.capture_arguments import ProfileArguments
from tailrace.errors import RunRefusedError
from tailrace.exact.engine import ExactEngine
from tailrace.experiment.remote.address import SchedulerAddress
from tailrace.experiment.remote.slurm import Jobs, batch_script, slurm_workers
from tailrace.live.lab import standing
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.kinds import kind_of
from tailrace.live.lab.standing import Standing, bring_up, exec_words
from tailrace.profile.interface import Observation
from tailrace.tools.blast.sending import Sending, SendingInterface, order
from tailrace.tools.path.address import probe_address
from tailrace.tools.path.path import Asked
from tailrace.tools.path.talk import ProbeError

LIMIT_S = 20


@pytest.mark.parametrize("text", hostile("batch"))
def test_options_of_slurm_are_refused_unless_they_are_words(text: str) -> None:
    with pytest.raises(RunRefusedError, match=r"^--partition: .* is not a partition"):
        Jobs(partition=text)
    with pytest.raises(RunRefusedError, match=r"^--time: .* is not a time limit of Slurm"):
        Jobs(time=text.replace("batch", "01:00:00"))


@pytest.mark.parametrize(
    "time", ["30", "30:00", "01:00:00", "2-00", "2-00:30", "2-00:30:00", "unlimited"]
)
def test_time_limits_of_slurm_are_taken(time: str) -> None:
    assert f"#SBATCH -t {time}" in batch_script(Jobs("gpu,long", time)).splitlines()


def test_the_script_of_a_job_has_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    python = "/opt/my python;touch x/bin/$(x)/python"
    monkeypatch.setattr("sys.executable", python)
    script = batch_script(Jobs("batch", "01:00:00"))
    [command] = [line for line in script.splitlines() if line and not line.startswith("#")]
    assert shlex.split(command)[:3] == [python, "-m", "distributed.cli.dask_worker"]
    subprocess.run(["sh", "-n"], input=script.encode(), timeout=LIMIT_S, check=True)


@pytest.mark.parametrize("folder", ["a b", "a;touch x", "a$(x)", "a\nb", "a'b"])
def test_keys_of_a_run_are_in_no_folder_that_a_shell_would_divide(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / folder)
    with (
        pytest.raises(RunRefusedError, match="the folder for the keys of the run"),
        slurm_workers(Jobs(), print),
    ):
        pytest.fail("it is refused")


def frames_of(netns: str) -> object:
    wanted = BlastArguments(
        file=Path("x"),
        host=None,
        fabric=None,
        interface="eth0",
        netns=netns,
        is_yes=False,
        threads=1,
        delay=None,
        rate=None,
        count=None,
        length=None,
        sizes=None,
        syntax=None,
        is_queued=False,
    )
    return blasting.blast_frames(wanted, json_=True)


def profile_of(netns: str) -> None:
    profiling.profile_file(
        ProfileArguments(path=Path("eth0"), netns=netns, length="1s"), json_=True
    )


def mtu_of(netns: str) -> object:
    return probe_address("127.0.0.1", netns, None, Asked(1500, 1, 1.0))


@pytest.mark.parametrize("ask", [frames_of, profile_of, mtu_of])
@pytest.mark.parametrize("text", [text for text in hostile("no-such") if "/" not in text])
def test_a_namespace_is_one_that_exists(ask: Callable[[str], object], text: str) -> None:
    with pytest.raises((RunRefusedError, ProbeError), match=r"there is no (network )?namespace"):
        ask(text)


@pytest.mark.parametrize("text", hostile("eth0"))
def test_orders_to_the_fabric_are_json(text: str) -> None:
    made = order(SendingInterface(text, namespace=text), Sending(), [[b"\0"]])
    assert json.loads(json.dumps(made))["interface"] == text
    assert "\n" not in json.dumps(made), "an order is one line"
    assert json.loads(json.dumps(Observation(text, 1).order()))["interface"] == text
    with pytest.raises(RunRefusedError):
        SchedulerAddress.parse(f"dask://127.0.0.1:8786{text.removeprefix('eth0')} ")


@pytest.mark.parametrize("text", hostile("client"))
def test_only_a_host_of_the_fabric_is_a_word_of_exec(text: str) -> None:
    fabric = Standing("f", Path("/x"), {"hosts": [{"name": "client"}]})
    with pytest.raises(FabricError, match="there is no host"):
        exec_words(fabric, text, ["true"])


@pytest.mark.parametrize("text", hostile("lab"))
def test_the_name_of_a_fabric_is_a_name(text: str) -> None:
    with pytest.raises(FabricError, match="is not a valid name"):
        bring_up(text, "{}", None)
    with pytest.raises(RunRefusedError, match="there is no fabric"):
        kind_of(text)


@pytest.mark.parametrize("text", hostile("leaf>client"))
def test_only_a_port_of_the_network_is_captured(text: str) -> None:
    engine, loaded = ExactEngine([text]), load()
    [(node, towards)] = engine._captures
    if (node, towards) != ("leaf", "client"):  # a line break at the end is not a part of the name
        assert not loaded.scenario.graph.are_joined(node, towards)
    line = json.dumps({"id": 1, "op": "capture", "port": [node, towards], "path": text})
    assert "\n" not in line
    assert json.loads(line)["path"] == text


def test_the_folder_of_a_standing_fabric_is_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = tmp_path / "fabric"
    # In place of the fabric: notes the mode that the folder has when the socket is made.
    fabric.write_text(
        "#!/bin/sh\n"
        'while [ "$1" != --dir ]; do shift; done\n'
        'stat -c %a "$2" > "$2/mode"\n'
        f'printf \'{{"lab_pid": %s, "hosts": []}}\' $PPID > "$2/{standing.STATE}"\n',
        encoding="utf-8",
    )
    fabric.chmod(0o755)
    monkeypatch.setenv("TAILRACE_FABRIC", str(fabric))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "state" / "tailrace" / "fabrics" / "lab").mkdir(parents=True, mode=0o755)
    found = bring_up("lab", "{}", None)
    assert (found.folder / "mode").read_text(encoding="ascii") == "700\n"
