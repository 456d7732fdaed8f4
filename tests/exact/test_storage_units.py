"""Units of the kernels' own iSCSI and NVMe over TCP, captured in virtual time and decoded by
tshark: those with which the simulated sessions are compared.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from machine import ROOT, TAILRACE
from tailrace.exact import program

sys.path.insert(0, str(ROOT / "scripts"))

import storage_units

EXAMPLES = ROOT / "examples" / "exact"
REQUESTS = Path(__file__).with_name("storage-requests.sh")
CAPTURES = ROOT / "crates" / "programs" / "src" / "storage" / "protocol" / "captures"
LIMIT_S = 250
CASES = {
    "linux-nvme-tcp": ("nvme-tcp", "nvme", ""),
    "linux-nvme-tcp-digests": ("nvme-tcp", "nvme", ",hdr_digest,data_digest"),
    "linux-nvme-tcp-success": ("nvme-tcp", "nvme", ",disable_sqflow"),
    "open-iscsi-lio": ("iscsi", "iscsi", ""),
}
"""Protocol, script of the target, options of the initiator."""


def captured(folder: Path, name: str) -> Path:
    """The capture of a guest that asks for one thing after the other."""
    protocol, script, options = CASES[name]
    plan = subprocess.run(
        [*TAILRACE, "plan", str(EXAMPLES / "network.yaml")],
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / "plan.json").write_text(plan.stdout, encoding="utf-8")
    target = {"words": [str(EXAMPLES / f"{script}-target.sh")], "is_awaited": True}
    asking = {"words": [str(REQUESTS), protocol, options], "is_awaited": True, "delay_ns": 10**9}
    programs = {"server": [target], "client": [asking]}
    (folder / "programs.json").write_text(json.dumps(programs), encoding="utf-8")
    file = folder / "client.pcapng"
    command = [str(program.installed(program.ENGINE)), "run", "--plan", str(folder / "plan.json")]
    command += ["--programs", str(folder / "programs.json"), "--dir", str(folder / "run")]
    command += ["--capture", "client>leaf", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    return file


@pytest.mark.parametrize(
    "name",
    [
        name if name == "linux-nvme-tcp" else pytest.param(name, marks=pytest.mark.slow)
        for name in CASES
    ],
)
def test_units_of_the_kernels_are_decoded_without_an_error_and_are_those_of_the_simulated_sessions(
    tmp_path: Path, name: str
) -> None:
    needed = ["tshark", *(["iscsistart"] if CASES[name][0] == "iscsi" else [])]
    missing = [
        each for each in needed if shutil.which(each, path="/usr/sbin:/usr/bin:/sbin:/bin") is None
    ]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    lines = (CAPTURES / f"{name}.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("#"))
    assert storage_units.listing(CASES[name][0], captured(tmp_path, name)) == kept


def test_a_capture_that_tshark_cannot_decode_is_an_error(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("not installed: tshark")
    file = tmp_path / "none.pcapng"
    file.write_bytes(b"no capture")
    with pytest.raises(storage_units.DecodeError):
        storage_units.listing("nvme-tcp", file)
