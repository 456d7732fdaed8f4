"""An explanation keeps every transaction: a trial with very many is refused before it is run
again."""

from pathlib import Path

import pytest

from fake_run import FakeRun
from report_page import edit_trials
from tailrace.errors import RunRefusedError
from tailrace.experiment import explain
from tailrace.experiment.reporter import Silent
from tailrace.results import Run


def test_a_trial_of_more_transactions_than_fit_in_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = FakeRun(trials=1, with_solo=False).write(tmp_path / "run")
    edit_trials(
        path, lambda outcome: outcome["workloads"][0].update(transactions=explain.EXPLAINED_MAX + 1)
    )
    run = Run.read(path)
    monkeypatch.setattr(explain, "explainable", lambda _run: run.workloads)
    with pytest.raises(
        RunRefusedError, match="transactions, and an explanation keeps each of them"
    ):
        explain.explain_trials(run, run.with_outcome("fifo"), 1, Silent())
    monkeypatch.setattr(explain, "explainable", lambda _run: run.workloads[1:])
    monkeypatch.setattr(explain, "explain_all", lambda *_all: {})
    with pytest.raises(KeyError):  # it goes on: what is not explained does not count
        explain.explain_trials(run, run.with_outcome("fifo"), 1, Silent())
