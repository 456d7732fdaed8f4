"""Texts for programs, with hostile values: they stay data in every language, or are refused.

A real interpreter reads the text where this machine has one; what is read here besides is the
grammar of the language.
"""

import configparser
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import mpi_of
import requests_of
import storage_of
from hostile import hostile
from tailrace.errors import RunRefusedError
from tailrace.files import require_plain
from tailrace.live.engine import LiveEngine
from tailrace.live.lab.lab import Lab
from tailrace.live.programs import hammerdb, tcl
from tailrace.programs import (
    dnsperf,
    fio,
    hpcc,
    kernel_storage,
    knot,
    lua,
    mariadb,
    nginx,
    open_mpi,
    perf_test,
    pgbench,
    postgres_template,
    rabbitmq,
    redis,
    redis_benchmark,
    sysbench,
    wrk,
)
from tailrace.programs.local import LocalRunner
from tailrace.programs.work import Work
from tailrace.tools.drive import identity, load_run
from tailrace.tools.drive.load import STANDARD

LIMIT_S = 20
NAME = "A-z_09"
"""Every kind of character that names have."""
PATHS = [
    text for text in hostile("/tmp/run") if not text.startswith(("-", "..")) and "\0" not in text
]
"""Paths that a system can have, each with something that a program divides or evaluates."""


def run(words: list[str], text: str = "") -> str:
    """What an interpreter prints."""
    done = subprocess.run(
        words, input=text.encode(), capture_output=True, timeout=LIMIT_S, check=True
    )
    return done.stdout.decode()


# --- languages that quote -------------------------------------------------------------------------


def lua_value(literal: str) -> bytes:
    """The bytes of a string of Lua that has decimal escapes alone (Lua 5.1 reference manual,
    2.1)."""
    assert re.fullmatch(r'"(?:[A-Za-z0-9 \-_./:]|\\\d{3})*"', literal), literal
    pieces = re.findall(r"\\(\d{3})|(.)", literal[1:-1])
    return b"".join(bytes([int(number)]) if number else one.encode() for number, one in pieces)


@pytest.mark.parametrize("text", [*hostile("x"), "/tmp/\udcff", "]]--[["])
def test_a_string_of_lua_is_the_text(text: str) -> None:
    raw = text.encode("utf-8", "surrogateescape")
    assert lua_value(lua.text(text)) == raw
    if found := shutil.which("luajit") or shutil.which("lua"):
        script = f"for i = 1, #s do io.write(string.format('%02x', s:byte(i))) end"  # noqa: F541  braces are Lua's
        assert bytes.fromhex(run([found, "-"], f"local s = {lua.text(text)}\n{script}")) == raw


def tcl_value(word: str) -> str:
    """A word of Tcl that is bare, in braces, or of escapes by number (Tcl(n), rules 6 and 9)."""
    if re.fullmatch(r"\{[^{}\\\n]*\}", word):
        return word[1:-1]
    assert re.fullmatch(r"(?:[A-Za-z0-9_./:@%+=,-]|\\U[0-9a-f]{8})+", word), word
    return re.sub(r"\\U([0-9a-f]{8})", lambda found: chr(int(found[1], 16)), word)


@pytest.mark.parametrize("text", [*hostile("x"), "", "{", "a}b", "#x", "|touch x"])
def test_a_word_of_tcl_is_the_text(text: str) -> None:
    assert tcl_value(tcl.word(text)) == text
    if found := shutil.which("tclsh"):
        script = f"fconfigure stdout -encoding utf-8 -translation lf\nset x {tcl.word(text)}\nputs -nonewline $x\n"  # noqa: E501
        assert run([found], script) == text
        listed = f"fconfigure stdout -encoding utf-8 -translation lf\nputs -nonewline [lindex {tcl.words('a', text)} 1]\n"  # noqa: E501
        assert run([found], listed) == text


@pytest.mark.parametrize("path", PATHS)
def test_scripts_of_hammerdb_have_the_path_of_a_run_as_a_value(path: str) -> None:
    load = Work(TRANSACTIONS, 7, ROWS)
    script = hammerdb.driver_script(load, Path(path), "10.77.0.2")
    plain = hammerdb.driver_script(load, Path("/run"), "10.77.0.2")
    differing = [line for line in script.splitlines() if line not in plain.splitlines()]
    assert [line.split(maxsplit=2)[:2] for line in differing] == [
        ["variable", "control"],
        ["variable", "log_prefix"],
    ]
    if found := shutil.which("tclsh"):
        settings = (
            script.partition("proc ")[0] + "fconfigure stdout -encoding utf-8 -translation lf\n"
        )
        assert run([found], settings + "puts -nonewline $::tailrace::control\n") == path


# --- languages that take names and numbers --------------------------------------------------------


def test_a_name_means_itself_in_every_language() -> None:
    assert (shlex.split(NAME), shlex.quote(NAME)) == ([NAME], NAME)
    assert (tcl.word(NAME), lua.text(NAME)) == (NAME, f'"{NAME}"')
    assert f"10.77.0.1 {NAME}\n".split() == ["10.77.0.1", NAME]
    assert not NAME.startswith(("-", "."))
    assert Path(NAME).name == NAME
    parser = configparser.ConfigParser()
    parser.read_string(f"[{NAME}]\nkey={NAME}\n")
    assert parser[NAME]["key"] == NAME
    require_plain("a name", Path("/") / NAME, "")


TRANSACTIONS: dict[str, Any] = {
    "name": NAME,
    "port": 5432,
    "client": NAME,
    "server": NAME,
    "users": 2,
    "transactions": 3,
    "warmup_transactions": 0,
    "round_trips": [{"response_bytes": 500, "request_bytes": 900}],
    "start": {"constant": 0},
    "gap": {"exponential": {"mean": 5 * 10**9}},
    "priority": 0,
}
ROWS = {500: 900}
ADDRESSES = ["10.77.0.2", "10.78.0.2"]
RUN = f"/run/tailrace/{NAME}"
SESSION = {
    "initial_r2t": True,
    "immediate_data": False,
    "first_burst_bytes": 65536,
    "max_burst_bytes": 262144,
    "target_max_recv_bytes": 8192,
    "initiator_max_recv_bytes": 8192,
    "header_digest": False,
    "data_digest": True,
    "commands": 32,
    "queue_size": 128,
    "in_capsule_bytes": 8192,
    "success_flag": True,
}


def placed(protocol: str) -> kernel_storage.StorageTarget:
    keys = {"name": NAME, "target": NAME, "port": 3260, "device": NAME}
    raw = keys | {"protocol": protocol if protocol == "local" else {protocol: SESSION}}
    return kernel_storage.StorageTarget(storage_of.work(**raw), 0, "10.77.0.2")


def scripts() -> dict[str, str]:
    """Scripts of a shell in guests."""
    device = {
        "sector_bytes": 512,
        "read_latency": {"constant": 10**6},
        "servers": 1,
        "queue_depth": 32,
    }
    made = {
        f"target of {one}": kernel_storage.target([placed(one)], {NAME: device})
        for one in ("iscsi", "nvme-tcp")
    }
    made |= {
        f"initiator of {one}": kernel_storage.attach(placed(one), NAME)
        for one in ("iscsi", "nvme-tcp")
    }
    return made | {"disk": kernel_storage.disk(placed("local"), device)}


def texts(name: str) -> dict[str, str]:
    """What programs read, with a name of hosts and workloads where it is one."""
    raw = TRANSACTIONS | {"name": name, "client": name, "server": name}
    web = requests_of.work()
    web = replace(web, raw={**web.raw, "name": name, "clients": [name], "servers": [name]})
    return {
        "pgbench": pgbench.Script(raw, 7, ROWS).script(),
        "postgresql": postgres_template.load_script(ROWS),
        "mariadb": mariadb.load_script(ROWS),
        "sysbench": sysbench.Script(raw, 7, ROWS).text(Path("/run/log")),
        "wrk": wrk.Script(web).text(Path("/run/log")),
        "dnsperf": dnsperf.Dnsperf(replace(web, raw={**web.raw, "is_udp": True})).file(),
        "hammerdb": hammerdb.commands_script(Work(raw, 7, ROWS), Path("/run/driver"), 5.0),
        "hpcc": hpcc.input_text(2),
        "redis-benchmark": redis_benchmark.request_text(100, 500),
        "redis": redis.configuration("/run/files", ADDRESSES, 3, 6379),
        "nginx": nginx.configuration("/run", "/run/files", ADDRESSES, 3, None, 80),
        "knot": knot.configuration("/run", "/run/files", ADDRESSES, 3, 53, 1),
        "rabbitmq": rabbitmq.configuration("/run", ADDRESSES, 5672) + rabbitmq.queue_of("x"),
    }


def test_texts_for_programs_have_names_and_numbers_alone() -> None:
    assert {kind for kind, text in texts("hostile'name").items() if "hostile" in text} == set()
    work = storage_of.work(name=NAME, protocol="local", target=None)
    lines = fio.job_file(work, f"{RUN}/{NAME}", 5).splitlines()
    assert [line for line in lines if NAME in line] == [f"filename={RUN}/{NAME}", f"[{NAME}]"]
    launch = replace(mpi_of.launch(mpi_of.planned(), Path(RUN)), scratch=RUN)
    assert launch.hostfile() == "a\nb\n"
    assert {value for value in launch.parameters().values() if "/" in value} == {
        f"{RUN}/{open_mpi.AGENT}",
        RUN,
    }
    for name, script in scripts().items():
        used = [
            word
            for line in script.splitlines()
            if NAME in line
            for word in shlex.split(line)
            if NAME.lower() in word.lower()
        ]
        assert all(re.fullmatch(r"[\w./:,= -]+", word) for word in used), name
        run(["sh", "-n"], script)
    for words in commands(NAME):
        assert all("\n" not in word for word in words)


def commands(name: str) -> Iterable[list[str]]:
    """Commands with the name of a host and of a workload."""
    raw = TRANSACTIONS | {"name": name, "client": name, "server": name}
    web = requests_of.work()
    web = replace(web, raw={**web.raw, "name": name})
    script = sysbench.Script(raw, 7, ROWS)
    yield list(
        script.command(Path("/s.lua"), sysbench.server_options("pgsql", "10.77.0.2", 5432), 5).argv
    )
    yield list(
        pgbench.Script(raw, 7, ROWS)
        .command(Path("/pgbench"), Path("/s"), Path("/l"), "10.77.0.2", 5)
        .argv
    )
    yield list(wrk.Script(web).command(Path("/s.lua"), "10.77.0.2", 5).argv)
    yield list(fio.client(storage_of.work(name=name), Path("/x")).argv)
    messages = replace(
        web,
        raw={**web.raw, "request": {"constant": 200}, "response": {"constant": rabbitmq.ACK_BYTES}},
    )
    messages = replace(
        messages, raw={**messages.raw, "round_trips": [{"response_bytes": rabbitmq.ACK_BYTES}]}
    )
    yield list(perf_test.Messages(messages).command("10.77.0.2").argv)


def test_the_agent_of_open_mpi_runs_none_of_its_words(tmp_path: Path) -> None:
    agent = tmp_path / open_mpi.AGENT
    agent.write_text(open_mpi.AGENT_TEXT, encoding="utf-8")
    agent.chmod(0o755)
    for number, text in enumerate(text for text in hostile("x") if not {"\0", "\r"} & set(text)):
        run([str(agent), f"h{number}", "orted", shlex.quote(text)])
        launch = replace(
            mpi_of.launch(mpi_of.planned(), tmp_path), addresses={f"h{number}": "10.77.0.2"}
        )
        [(host, words)] = launch.asked()
        assert list(launch.daemon(host, words).argv) == ["orted", text]
    assert sorted(path.name for path in tmp_path.iterdir()) == [open_mpi.AGENT]


# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_folder_that_a_program_would_divide_is_refused(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunRefusedError, match=r"programs do not take .* as part of a name"):
        Lab("{}", Path(path))
    engine = LiveEngine.__new__(LiveEngine)
    with pytest.raises(RunRefusedError, match=r"^the run directory .* with --out\)$") as told:
        engine.open(Path(path))
    assert str(told.value).isprintable()
    monkeypatch.setattr("tempfile.gettempdir", lambda: path)
    with pytest.raises(RunRefusedError, match="TMPDIR"), LocalRunner(Path("/nonexistent/x")):
        pytest.fail("it is refused")


@pytest.mark.parametrize("path", ["/tmp/run-1_2", "/home/jürgen/läufe", "/srv/日本/a+b=c.d"])
def test_a_plain_folder_has_letters_of_any_script(path: str) -> None:
    require_plain("the folder", Path(path), "")


@pytest.mark.parametrize(
    "text", ["/dev/$ncpus", "/dev/sda\nexec_prerun=touch x", "/dev/sda,x", "-rf", "/dev/a:b"]
)
def test_a_drive_is_one_word_and_no_option(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drive: Any = SimpleNamespace(device=Path(text))
    if "$" in text or "\n" in text or "," in text:
        with pytest.raises(RunRefusedError, match="the drive"):
            load_run.command(drive, STANDARD[0], 5.0, 1)
    else:
        words = load_run.command(drive, STANDARD[0], 5.0, 1)
        assert f"--filename={str(Path(text).absolute()).replace(':', chr(92) + ':')}" in words
    asked: list[list[str]] = []

    def noted(words: list[str]) -> dict[str, Any]:
        asked.append(words)
        return {}

    monkeypatch.setattr(identity, "path_of", lambda needed: Path("/usr/bin") / needed.program)
    monkeypatch.setattr(identity, "_asked", noted)
    identity.identity_of(Path(text), is_nvme=True)
    assert [sum(word == str(Path(text).absolute()) for word in words) for words in asked] == [1, 1]
