"""One exact trial: what the engine is asked for, and what becomes of its answer. The engine is a
script."""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab import SOUND, sound
from tailrace.exact import program
from tailrace.exact.engine import ExactEngine
from tailrace.exact.program import ExactError
from tailrace.exact.trial import Cores, ExactTrial
from tailrace.experiment.engine import Warn
from tailrace.experiment.native import Ran
from tailrace.outcome.types import Outcome
from tailrace.programs.local import LocalRunner
from tailrace.programs.postgres import Installation
from tailrace.programs.postgres_template import PostgresTemplates
from tailrace.programs.templates import Stock, Template
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from whole import part, whole

ANSWER: dict[str, Any] = whole({"exact": {"captures": [], "hosts": [], "span_ps": 1}}) | {
    "tables": {}
}


class Loaded(PostgresTemplates):
    """A template that nobody has loaded."""

    installed = Installation(Path("/usr/lib/postgresql/15/bin"), "15")

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, LocalRunner)
        self._folder.mkdir(exist_ok=True)

    def get(self, sizes: frozenset[int]) -> Template:
        return Template(self._folder, dict.fromkeys(sizes, 10), {})


class Loads(Stock):
    """Templates of any database."""

    def of(self, kind: type[Any]) -> Any:
        return Loaded(self._folder)


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Writes its words into a file, and answers with another one; its status is in a third."""
    folder = tmp_path / "engine"
    folder.mkdir()
    script = folder / "tailrace-exact"
    code = f"""#!{sys.executable}
import json, pathlib, sys
folder = pathlib.Path({str(folder)!r})
(folder / "words").write_text(json.dumps(sys.argv[1:]))
print((folder / "answer").read_text())
sys.exit(int((folder / "status").read_text()))
"""
    script.write_text(code, encoding="utf-8")
    script.chmod(0o755)
    (folder / "answer").write_text(json.dumps(ANSWER), encoding="utf-8")
    (folder / "status").write_text("0", encoding="utf-8")
    monkeypatch.setattr(program, "installed", lambda name: folder / name)
    return folder


def trial(
    folder: Path,
    cores: Cores,
    *,
    is_real: bool = False,
    captures: dict[str, Path] | None = None,
    warn: Callable[[Sequence[str]], None] = lambda _texts: None,
) -> ExactTrial:
    orders = SOUND["workloads"]["orders"] | ({"load_generator": "pgbench"} if is_real else {})
    loaded = load_scenario(sound(workloads__orders=orders))
    plan = canonical_json(lower(loaded.arms["fifo"], "fifo", 1))
    templates = Loads(folder / "templates", LocalRunner)
    return ExactTrial(plan, folder / "exact" / "trial", cores, templates, captures or {}, warn)


def words(engine: Path) -> str:
    return shlex.join(json.loads((engine / "words").read_text(encoding="utf-8")))


def test_a_trial_has_the_lowest_free_core_and_its_folder_is_gone(
    engine: Path, tmp_path: Path
) -> None:
    cores = Cores()
    with cores.one():
        ran = trial(tmp_path, cores).run()
    assert "--core 1 " in words(engine)
    assert f"--traffic {engine}/tailrace-traffic" in words(engine)
    assert isinstance(ran, Ran)
    assert ran.outcome.exact is not None
    assert ran.outcome.exact.span_ps == 1
    assert list((tmp_path / "exact").iterdir()) == []


def test_workloads_of_real_programs_are_left_to_them_with_memory_of_their_own(
    engine: Path, tmp_path: Path
) -> None:
    (engine / "status").write_text("1", encoding="utf-8")
    with pytest.raises(ExactError):  # its folder stays
        trial(tmp_path, Cores(), is_real=True).run()
    assert words(engine).endswith(
        f"--programs {tmp_path}/exact/trial/programs.json --memory 640 --without orders"
    )
    told = json.loads((tmp_path / "exact" / "trial" / "programs.json").read_text(encoding="utf-8"))
    assert {host: len(programs) for host, programs in told.items()} == {"db": 1, "client": 1}


def test_captures_are_named_from_the_run_directory(engine: Path, tmp_path: Path) -> None:
    file = tmp_path / "exact" / "captures" / "trial" / "leaf-to-db.pcapng"
    captured = {"port": "leaf>db", "file": str(file), "frames": 7}
    exact = ANSWER["exact"] | {"captures": [captured]}
    (engine / "answer").write_text(json.dumps(ANSWER | {"exact": exact}), encoding="utf-8")
    ran = trial(tmp_path, Cores(), captures={"leaf>db": file}).run()
    assert words(engine).endswith(shlex.join(["--capture", "leaf>db", str(file)]))
    assert isinstance(ran, Ran)
    assert ran.outcome.exact is not None
    [capture] = ran.outcome.exact.captures
    assert (capture.port, capture.file, capture.frames) == (
        "leaf>db",
        "exact/captures/trial/leaf-to-db.pcapng",
        7,
    )


def test_a_warning_of_the_outcome_is_told_once_in_a_run(engine: Path, tmp_path: Path) -> None:
    exact = ANSWER["exact"] | {"warnings": ["web: its server listens at port 81"]}
    (engine / "answer").write_text(json.dumps(ANSWER | {"exact": exact}), encoding="utf-8")
    told: list[str] = []
    warn = Warn(told.append)
    for _ in range(2):
        ran = trial(tmp_path, Cores(), warn=warn).run()
    assert told == ["warning: web: its server listens at port 81"]
    assert isinstance(ran, Ran)
    assert ran.outcome.exact is not None
    assert ran.outcome.exact.warnings == exact["warnings"]


def test_an_engine_that_ends_badly_has_no_result_whatever_it_said(
    engine: Path, tmp_path: Path
) -> None:
    (engine / "status").write_text("1", encoding="utf-8")
    with pytest.raises(ExactError, match="the engine ended without a result"):
        trial(tmp_path, Cores()).run()


def test_a_build_is_identified_by_both_programs_and_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = set()
    for number, changed in enumerate(("", program.ENGINE, program.TRAFFIC, "linux")):
        folder = tmp_path / str(number)  # digests are kept by path
        folder.mkdir()
        for name in (program.ENGINE, program.TRAFFIC, "linux"):
            (folder / name).write_text(f"{name}{'!' * (name == changed)}", encoding="utf-8")
        monkeypatch.setattr(program, "installed", lambda name, folder=folder: folder / name)
        monkeypatch.setattr(program, "required_kernel", lambda folder=folder: folder / "linux")
        builds.add(program.build())
    assert len(builds) == 4


def test_a_failure_of_any_host_invalidates_a_trial() -> None:
    failed: dict[str, Any] = {
        "name": "db",
        "failures": [
            {"error": "refused", "at_ps": 1_500_000_000_000},
            {"error": "again", "at_ps": 2},
        ],
    }
    outcome = part(Outcome, hosts=[{"name": "client", "failures": []}, failed])
    scenario = load_scenario(sound()).arms["fifo"]
    assert ExactEngine().reasons(outcome, scenario) == ["host db: refused at 1.500000 s"]


def test_an_engine_that_is_closed_leaves_no_templates(tmp_path: Path) -> None:
    engine = ExactEngine()
    engine.open(tmp_path)
    (tmp_path / "exact" / "templates" / "one").mkdir(parents=True)
    engine.close()
    assert list(tmp_path.iterdir()) == []
