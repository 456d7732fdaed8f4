"""The parts of trials on other machines that need no other machine."""

import json
import socket
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from lab import load
from tailrace.errors import RunRefusedError
from tailrace.experiment.engine import Simulated
from tailrace.experiment.native import Failed
from tailrace.experiment.plans import Plans
from tailrace.experiment.remote import address, executors, worker
from tailrace.experiment.remote.address import SchedulerAddress
from tailrace.experiment.remote.envelope import Answers, Batch, Build, Task, own_build
from tailrace.experiment.remote.executors import opened, refuse_executor
from tailrace.experiment.remote.rates import Rates
from tailrace.experiment.remote.slurm import Jobs
from tailrace.experiment.remote.waiting import BATCH_S, BATCH_TRIALS_MAX, Waiting
from tailrace.experiment.remote.worker import run_tasks
from tailrace.experiment.remote.workers import Workers
from tailrace.experiment.schedule import TrialKey


def keys(**arms: int) -> list[TrialKey]:
    """So many trials of each arm, in blocks as a run has them."""
    numbers = range(1, max(arms.values()) + 1)
    return [
        TrialKey(arm, number)
        for number in numbers
        for arm, count in arms.items()
        if number <= count
    ]


def drained(waiting: Waiting, slots: int = 2) -> list[list[TrialKey]]:
    batches = []
    while batch := waiting.batch(slots):
        batches.append(batch)
    return batches


def test_every_trial_is_handed_out_once() -> None:
    every = keys(a=5, b=3, c=1)
    waiting = Waiting(every)
    assert sorted(key for batch in drained(waiting) for key in batch) == sorted(every)
    assert waiting.left == 0


def test_the_first_trial_of_each_arm_measures_it_and_then_the_longest_goes_first() -> None:
    waiting = Waiting(keys(short=3, long=3))
    assert [waiting.batch(2), waiting.batch(2)] == [[TrialKey("short", 1)], [TrialKey("long", 1)]]
    waiting.measured("short", 1.0)
    waiting.measured("long", 60.0)
    assert [batch[0].arm for batch in drained(waiting)] == ["long", "long", "short", "short"]


def test_short_trials_travel_together_and_the_last_ones_in_small_batches() -> None:
    waiting = Waiting(keys(a=1001))
    waiting.batch(2)
    waiting.measured("a", 0.05)
    sizes = [len(batch) for batch in drained(waiting)]
    assert sizes[0] == round(BATCH_S / 0.05)
    assert sizes[-1] == 1
    assert len(sizes) < 1000 / 5


def test_a_batch_has_a_limit() -> None:
    waiting = Waiting(keys(a=10_001))
    waiting.batch(1)
    waiting.measured("a", 1e-6)
    assert len(waiting.batch(1)) == BATCH_TRIALS_MAX


def test_what_was_lost_goes_first() -> None:
    waiting = Waiting(keys(a=4))
    waiting.measured("a", 0.001)
    taken = waiting.batch(1)
    waiting.back(taken)
    assert waiting.batch(1)[: len(taken)] == taken


def test_a_trial_with_which_workers_died_goes_last() -> None:
    waiting = Waiting(keys(a=4))
    [first] = waiting.batch(1)
    waiting.back([first], is_suspect=True)
    assert waiting.suspect() is None, "others are left"
    assert first not in [key for batch in drained(waiting) for key in batch]
    assert (waiting.suspect(), waiting.suspect()) == (first, None)


class DyingLink:
    """A link whose scheduler dies when a result is read; what it then knows is that the batch had
    finished."""

    key, state, is_alive = "batch", "finished", True

    def __init__(self) -> None:
        self.restored_count = 0
        self.answers = b""

    def slots(self) -> int:
        return 1

    def send(self, text: str, told: Callable[[], None], worker: str | None = None) -> "DyingLink":
        self.answers = run_tasks(text, "worker", lambda: True).packed()
        told()
        return self

    def workers(self) -> dict[str, int]:
        return {"worker": 1}

    def limit_deaths(self, limits: dict[str, int]) -> dict[str, int]:
        return dict.fromkeys(limits, 0)

    def result(self, _timeout_s: float) -> Any:
        if not self.restored_count:
            self.is_alive = False
            raise ConnectionError("in <TCP>: Stream is closed")
        return self.answers

    def restored(self, _say: Callable[[str], None]) -> bool:
        self.restored_count, self.is_alive = 1, True
        return True

    def release(self) -> None:
        """Nothing."""

    def cancel(self, sent: object) -> None:
        """Nothing."""


@pytest.mark.usefixtures("fake")
def test_a_scheduler_that_dies_while_a_result_is_read_costs_nothing() -> None:
    link, plans, kept = DyingLink(), Plans(load().arms), Kept()
    done = Workers("dask://x", link, print).run_all([TrialKey("dpp", 1)], plans.json, kept)  # type: ignore[arg-type]
    assert (done, kept.keys, link.restored_count) == (False, [TrialKey("dpp", 1)], 1)


class SentBatch:
    """A batch that a worker has finished, or one that waits for its worker."""

    def __init__(
        self, text: str, key: str, *, is_pending: bool = False, is_cancelled: bool = False
    ) -> None:
        self.key, self.state = key, "pending" if is_pending else "finished"
        answers = run_tasks(text, "worker", lambda: True)
        if is_cancelled:
            answers = replace(
                answers, answers=tuple(replace(answer, outcome="") for answer in answers.answers)
            )
        self.answers = answers.packed()

    def result(self, _timeout_s: float) -> bytes:
        return self.answers

    def release(self) -> None:
        """Nothing."""


class LeavingLink(DyingLink):
    """A link to a first worker, which leaves in order once it has a batch of its own, and then to a
    second one."""

    def __init__(self) -> None:
        super().__init__()
        self.sent_to: list[str | None] = []
        self.looks = 0

    def workers(self) -> dict[str, int]:
        self.looks += 1
        assert self.looks < 100, "the command waits for a worker that is gone"
        return {"second" if "first" in self.sent_to else "first": 1}

    def limit_deaths(self, limits: dict[str, int]) -> dict[str, int]:
        return dict.fromkeys(limits, 2 if self.sent_to == [None] else 0)

    def send(self, text: str, told: Callable[[], None], worker: str | None = None) -> SentBatch:  # type: ignore[override]
        self.sent_to.append(worker)
        told()
        return SentBatch(text, f"batch-{len(self.sent_to)}", is_pending=worker != "second")


@pytest.mark.usefixtures("fake")
def test_a_suspect_whose_worker_has_left_goes_to_another_one() -> None:
    link, plans, kept = LeavingLink(), Plans(load().arms), Kept()
    done = Workers("dask://x", link, print).run_all([TrialKey("dpp", 1)], plans.json, kept)  # type: ignore[arg-type]
    assert (done, kept.keys, link.sent_to) == (
        False,
        [TrialKey("dpp", 1)],
        [None, "first", "second"],
    )


class CancellingLink(DyingLink):
    """A link to a worker that stops its first batch."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0

    def send(self, text: str, told: Callable[[], None], worker: str | None = None) -> SentBatch:  # type: ignore[override]
        self.sent += 1
        told()
        return SentBatch(text, f"batch-{self.sent}", is_cancelled=self.sent == 1)


@pytest.mark.usefixtures("fake")
def test_a_trial_that_a_worker_has_stopped_runs_again() -> None:
    link, plans, kept = CancellingLink(), Plans(load().arms), Kept()
    done = Workers("dask://x", link, print).run_all([TrialKey("dpp", 1)], plans.json, kept)  # type: ignore[arg-type]
    assert (done, kept.keys, link.sent) == (False, [TrialKey("dpp", 1)], 2)


class Kept:
    """Keeps the keys of outcomes."""

    def __init__(self) -> None:
        self.keys: list[TrialKey] = []

    def tick(self, running: object) -> None:
        """Nothing."""

    def finished(self, key: TrialKey, outcome: object, wall_s: float) -> None:
        """One more."""
        self.keys.append(key)


def test_the_rates_of_the_workers_are_told_while_they_work() -> None:
    now, said = [0.0], list[str]()
    rates = Rates("dask://x", said.append, lambda: now[0])
    for second in range(1, 40):
        now[0] = second
        rates.add("fast", 0.4)
        if second % 2:
            rates.add("slow", 2.0)
        rates.report_when_due()
    assert said[0] == "dask://x: 1.6 trials per second: slow 0.6 (busy 100%), fast 1.1 (busy 42%)"
    assert len(said) == 2, "the interval doubles"
    rates.report_total()
    assert said[-1] == "dask://x: 59 trials in 38.4 s, 1.5 per second: slow 20, fast 39"


def tasks() -> list[Task]:
    plans = Plans(load().arms)
    return [Task.of(number, plans.json(TrialKey("dpp", number))) for number in (1, 2)]


def ask(build: Build, tasks: Sequence[Task]) -> Answers:
    return Answers.read(
        run_tasks(Batch(build, tuple(tasks)).text(), "worker", lambda: True).packed()
    )


@pytest.mark.usefixtures("fake")
def test_a_worker_gives_the_outcome_that_a_run_on_this_machine_gives() -> None:
    answers = ask(own_build(), tasks()).answers
    assert [answer.ended for answer in answers] == [
        Simulated().trial(task.plan).run() for task in tasks()
    ]


@pytest.mark.usefixtures("fake")
def test_a_worker_refuses_another_build_and_another_plan() -> None:
    other = replace(own_build(), simulator="0123456789ab")
    assert ask(other, tasks()).refused == f"it has {own_build()}, and this command has {other}"
    changed = replace(tasks()[0], plan_hash="0" * 64)
    refused = ask(own_build(), [changed])
    assert refused.refused == "the hash of a plan differs from the one that was sent with it"
    assert refused.answers == ()


@pytest.mark.usefixtures("fake")
def test_a_plan_that_the_simulator_rejects_is_a_failed_trial() -> None:
    plan = json.dumps({**json.loads(tasks()[0].plan), "version": 99})
    [answer] = ask(own_build(), [Task.of(1, plan)]).answers
    assert isinstance(answer.ended, Failed)
    assert answer.panic == ""


@pytest.mark.usefixtures("fake")
def test_a_worker_starts_no_trial_that_is_no_longer_wanted() -> None:
    text = Batch(own_build(), tuple(tasks())).text()
    assert run_tasks(text, "worker", lambda: False).answers == ()


@pytest.mark.usefixtures("fake")
def test_a_worker_ends_a_batch_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0

    def is_wanted() -> bool:
        nonlocal now_s
        now_s += 0.6 * worker.BATCH_S_MAX  # for each trial
        return True

    monkeypatch.setattr(worker, "time", SimpleNamespace(monotonic=lambda: now_s))
    answers = run_tasks(Batch(own_build(), tuple(tasks())).text(), "worker", is_wanted).answers
    assert [answer.number for answer in answers] == [1], "the second would begin later than that"


def test_places_are_checked_before_anything_runs() -> None:
    assert str(SchedulerAddress.parse("dask://127.0.0.1:8786")) == "tcp://127.0.0.1:8786"
    assert str(SchedulerAddress.parse("dask://[::1]:8786")) == "tcp://[::1]:8786"
    assert str(SchedulerAddress.parse("tls://node7:8786")) == "tls://node7:8786"
    for wrong in ("dask://host", "dask://host:0", "dask://host:70000", "tcp://host:1", "cloud"):
        with pytest.raises(RunRefusedError, match="not a place where trials can run"):
            refuse_executor(wrong, Jobs())
    with pytest.raises(RunRefusedError, match="--cores requires --on slurm"):
        refuse_executor("local", Jobs(cores=2))
    refuse_executor("slurm", Jobs(cores=2))


def test_a_scheduler_that_says_nothing_is_told_and_then_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(address, "SILENCE_NOTICE_S", 0.05)
    monkeypatch.setattr(address, "GREETING_S", 0.1)
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        refused = pytest.raises(
            RunRefusedError, match="no Dask scheduler answers: it accepts the connection and says"
        )
        with refused, opened(f"dask://127.0.0.1:{silent.getsockname()[1]}", Jobs(), said.append):
            raise AssertionError("it was refused")
    assert [text.split(": ")[1] for text in said] == [
        "it accepts the connection and says nothing; waiting 0.1 s more"
    ]


def test_an_extra_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    refused = pytest.raises(
        RunRefusedError, match=r"requires Dask \(hint: pip install 'tailrace\[dask\]'\)"
    )
    monkeypatch.setattr(executors, "refuse_absent", lambda *_arguments: None)
    with refused, opened("dask://127.0.0.1:9", Jobs(), print):
        raise AssertionError("it was refused")
