"""The report of a run as the paper has it."""

import shutil
from pathlib import Path

import pytest

from fake_run import FakeRun
from report_page import Page, page_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def cisco(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = FakeRun().write(tmp_path_factory.mktemp("cisco") / "run")
    shutil.copy(ROOT / "reproductions" / "cisco-dpp" / "published.yaml", path / "published.yaml")
    return path


@pytest.fixture(scope="module")
def page(cisco: Path) -> Page:
    return page_of(cisco)
