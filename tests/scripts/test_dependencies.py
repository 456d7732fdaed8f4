"""The gates of what is not ours: each fault is found, and advisories gate nothing."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import advisories
import checks
import python_licences as subject

FILE = {"hash": f"sha256:{'0' * 64}"}
TABLE = {"anywhere": {"MIT": ["one"]}, "tools": {"LGPL-2.1-only": ["tool"]}}


def package(name: str, *needs: str, **changes: Any) -> dict[str, Any]:
    """As in `uv.lock`."""
    own: dict[str, Any] = {
        "name": name,
        "version": "1",
        "source": {"registry": subject.INDEX},
        "wheels": [FILE],
    }
    return {**own, "dependencies": [{"name": one} for one in needs], **changes}


OURS = package("tailrace", "one", source={"editable": "."})
SOUND = [OURS, package("one"), package("tool")]


def test_the_packages_of_the_lock_file_pass() -> None:
    assert subject.main() == 0


@pytest.mark.parametrize(
    ("packages", "table", "fault"),
    [
        ([*SOUND, package("new")], TABLE, "new: its licence is not in python-licences.toml"),
        ([OURS, package("one")], TABLE, "tool: it is in python-licences.toml and not in uv.lock"),
        (
            SOUND,
            {**TABLE, "anywhere": {"MIT": ["one"], "ISC": ["one"]}},
            "one: it is in .* more than once",
        ),
        (
            SOUND,
            {**TABLE, "anywhere": {"GPL-3.0-only": ["one"]}},
            r"GPL-3.0-only: .* not allowed \[anywhere\]",
        ),
        (
            SOUND,
            {**TABLE, "anywhere": {"MIT AND GPL-3.0-only": ["one"]}},
            "MIT AND GPL-3.0-only: .* not allowed",
        ),
        (
            [
                package("tailrace", "one", source={"editable": "."}),
                package("one", "tool"),
                package("tool"),
            ],
            TABLE,
            "tool: it runs with the program, and its licence is for tools alone",
        ),
        (
            [OURS, package("tool"), package("one", source={"git": "https://example.org/one"})],
            TABLE,
            "one: it comes from .*git",
        ),
        (
            [OURS, package("tool"), package("one", wheels=[{"hash": "md5:0"}])],
            TABLE,
            "one: .* no SHA-256",
        ),
        ([OURS, package("tool"), package("one", wheels=[])], TABLE, "one: .* no SHA-256"),
    ],
)
def test_each_fault_of_a_package_is_found(
    packages: list[dict[str, Any]], table: Any, fault: str
) -> None:
    [found] = subject.faults(packages, table)
    assert re.match(fault, found)
    assert list(subject.faults(SOUND, TABLE)) == []


def test_an_expression_is_met_by_one_of_its_choices() -> None:
    allowed = frozenset({"MIT", "ISC"})
    for licence in ("MIT", "GPL-3.0-only OR MIT", "MIT AND ISC", "GPL-3.0-only OR MIT AND ISC"):
        assert subject.is_allowed(licence, allowed)
    for licence in ("GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT OR ISC) AND GPL-3.0-only"):
        assert not subject.is_allowed(licence, allowed)


def test_an_installed_package_that_states_another_licence_is_found() -> None:
    assert list(subject.disagreement("hypothesis", "MPL-2.0")) == []
    [found] = subject.disagreement("hypothesis", "MIT")
    assert found.startswith("hypothesis: it states MPL-2.0")
    assert list(subject.disagreement("a-package-that-is-not-installed", "MIT")) == []


def test_a_crate_of_a_licence_that_is_not_allowed_is_refused(tmp_path: Path) -> None:
    stricter = tmp_path / "deny.toml"
    text = (checks.ROOT / "deny.toml").read_text("utf-8")
    stricter.write_text(text.replace('    "MIT",\n', ""), "utf-8")
    assert stricter.read_text("utf-8") != text
    [program, *words] = checks.DEPENDENCIES[0].command
    done = subprocess.run(
        [program, "--config", str(stricter), *words],
        cwd=checks.ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode != 0
    assert "rejected: license is not explicitly allowed" in done.stderr


class Database(BaseHTTPRequestHandler):
    """Knows an advisory of the first package that it is asked for."""

    def do_POST(self) -> None:
        """Answers."""
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        results = [{"vulns": [{"id": "PYSEC-1"}]}, *({} for _ in queries[1:])]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"results": results}).encode())

    def log_message(self, *_arguments: object) -> None:
        """Nothing."""


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A database of advisories on loopback."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Database) as server:
        monkeypatch.setattr(advisories, "DATABASE", f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("database")
def test_advisories_are_told_and_gate_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert advisories.main() == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.endswith(": PYSEC-1")
    assert re.fullmatch(r"advisories: 1 of \d{3} packages have some", last)


def test_a_database_that_cannot_be_reached_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(advisories, "DATABASE", "http://127.0.0.1:9")
    assert advisories.main() == 0
    assert "not looked up: http://127.0.0.1:9 cannot be reached" in capsys.readouterr().out
