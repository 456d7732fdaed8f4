"""Hostile names in imported files: each becomes a name, or is refused; and nothing is run."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile import hostile
from tailrace.errors import TailraceError
from tailrace.fit.fitting import FORBIDDEN
from tailrace.importers.eos.importer import import_eos
from tailrace.importers.fio.importer import import_fio
from tailrace.importers.nxos.importer import import_nxos
from tailrace.importers.section import Section
from tailrace.importers.sonic.importer import import_sonic
from tailrace.importers.storage.scenario import Setting
from tailrace.importers.vdbench.importer import import_vdbench
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.quantities import NAME_PATTERN
from tailrace.scenario.text.yaml import load_yaml
from tailrace.tools.blast.frames import read_frames

HERE = Path(__file__).parent
LINES = [text for text in hostile("x1") if not {"\n", "\r"} & set(text)]
"""Those that are in one line."""


def names_of(section: Section) -> set[str]:
    """Names that the section would write into a scenario."""
    queues = {name for policy in section.policies.values() for name in policy.get("queues", ())}
    return {section.switch_name, *section.policies, *queues}


def nxos(text: str) -> Section:
    lines = [
        f"switchname {text}",
        f"policy-map type queuing {text}",
        "  class type queuing c-out-8q-q1",
        "    priority level 1",
    ]
    return import_nxos(
        "\n".join([*lines, "system qos", f"  service-policy type queuing output {text}"]) + "\n"
    )[0]


def sonic(text: str) -> Section:
    data = json.loads((HERE / "config_db.json").read_text(encoding="utf-8"))
    data["DEVICE_METADATA"] = {"localhost": {"hostname": text}}
    return import_sonic(json.dumps(data))[0]


def eos(text: str) -> Section:
    return import_eos(
        f"hostname {text}\nqos profile {text}\n   tx-queue 1\n      priority strict\n"
    )[0]


@pytest.mark.parametrize("read", [nxos, sonic, eos])
@pytest.mark.parametrize("text", LINES)
def test_names_of_an_imported_configuration_are_names(
    read: Callable[[str], Section], text: str
) -> None:
    try:
        section = read(text)
    except TailraceError:
        return
    assert [name for name in names_of(section) if not re.fullmatch(NAME_PATTERN, name)] == []


@pytest.mark.parametrize("text", LINES)
def test_an_import_runs_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = f"exec_prerun=touch {tmp_path}/ran\n"
    job = f"[global]\nioengine=libaio\nfilename=/dev/sdb\nsize=1g\nruntime=5\n{run}[{text}]\nrw=read\nbs=4k\n"  # noqa: E501
    tests = (
        "startcmd='touch "
        f"{tmp_path}/ran'\nsd={text},lun=/dev/sdb\nwd=w,sd={text},rdpct=100\nrd=r,wd=w,elapsed=5\n"
    )
    for read, content in ((import_fio, job), (import_vdbench, tests)):
        try:
            made, _ = read(content, Path("test"), Setting())
        except TailraceError:
            continue
        if made is not None:
            load_scenario(made.data())  # with names that a scenario takes
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", hostile("de:ad"))
def test_frames_of_blast_are_bytes(text: str, tmp_path: Path) -> None:
    file = tmp_path / "frames"
    file.write_text(f"{text}\n", encoding="utf-8")
    try:
        frames = read_frames(file, None)
    except TailraceError:
        return
    assert all(isinstance(frame, bytes) for frame in frames)


@pytest.mark.parametrize("text", hostile("x1"))
def test_names_of_a_fitted_scenario_are_names(text: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]+", FORBIDDEN.sub("-", text))


@pytest.mark.parametrize(
    "text", [*hostile("fabric.cfg"), "c\nworkloads: {evil: 1}\n#", "c\u2028x", "c\x85x"]
)
def test_the_comment_of_a_written_section_is_one_line(text: str) -> None:
    sections = [import_nxos((HERE / "fabric.nxos").read_text(encoding="utf-8"))[0]]
    made, _ = import_fio(
        "[a]\nioengine=libaio\nfilename=/dev/sdb\nsize=1g\nruntime=5\nrw=read\nbs=4k\n",
        Path("x"),
        Setting(),
    )
    for one in (*sections, made):
        assert one is not None
        assert load_yaml(one.text(text), is_marked=False) == load_yaml(
            one.text("x"), is_marked=False
        )
        assert len(one.text(text).splitlines()) == len(one.text("x").splitlines())
