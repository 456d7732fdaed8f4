"""The tables of the reproduction `lock-out` are those of its summary."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parents[2] / "reproductions" / "lock-out"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lock_out_summary", FOLDER / "summary.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_summary() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    summary = json.loads((FOLDER / "result-summary.json").read_text(encoding="utf-8"))
    assert script().with_tables(readme, summary) == readme
    assert readme.count("<!-- table ") == readme.count("<!-- end -->") >= 4


def test_at_least_six_queues_and_eight_seeds_stand_behind_them() -> None:
    summary = json.loads((FOLDER / "result-summary.json").read_text(encoding="utf-8"))
    for name, engine in (("lock-out", "simulated"), ("lock-out-live", "simulated")):
        arms = summary[name][engine]["arms"]
        queues = {arm for arm in arms if arm.startswith("one-")}
        assert len(queues) >= 6
        assert all(row["trials"] >= 8 for row in arms.values())
