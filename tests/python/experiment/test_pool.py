"""Trials on threads: all are run, an interrupt stops politely, errors come to the caller."""

import signal
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from tailrace.errors import TailraceError
from tailrace.experiment import executor, pool
from tailrace.experiment.engine import EXACT, LIVE, SIMULATED
from tailrace.experiment.estimate import TimeEstimate
from tailrace.experiment.interrupts import counted_interrupts
from tailrace.experiment.native import Cancelled, Failed, Ran
from tailrace.experiment.pool import Pool, Running
from tailrace.experiment.reporter import to_go
from tailrace.experiment.schedule import TrialKey
from tailrace.outcome.types import Outcome
from whole import part

KEYS = [TrialKey("a", number) for number in range(1, 9)]


class Waiting:
    """A trial that runs until it is told to end."""

    def __init__(self) -> None:
        self.end = threading.Event()
        self.was_cancelled = False

    def run(self) -> Ran | Cancelled:
        assert self.end.wait(20)
        return Cancelled() if self.was_cancelled else Ran(part(Outcome))

    def progress(self) -> float:
        return 0.5

    def cancel(self) -> None:
        self.was_cancelled = True
        self.end.set()


def waiting(_key: TrialKey) -> Waiting:
    """A new one for every key."""
    return Waiting()


class Watcher:
    def __init__(self, pool_: "Pool | None" = None) -> None:
        self.done: list[TrialKey] = []
        self.pool = pool_
        self.most = 0

    def tick(self, running: Sequence[Running]) -> None:
        self.most = max(self.most, len(running))
        if self.pool is not None and running:
            self.pool.cancel()
            return
        for one in running:
            one.trial.end.set()  # type: ignore[attr-defined]  # these are Waiting

    def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
        self.done.append(key)


@pytest.fixture(autouse=True)
def _waiting_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "TICK_S", 0.005)


def test_every_trial_is_run_by_no_more_threads_than_asked_for() -> None:
    watcher = Watcher()
    assert Pool(2, waiting, watcher).run_all(KEYS) is False
    assert sorted(watcher.done) == KEYS
    assert 1 <= watcher.most <= 2


def test_cancelled_trials_are_no_results_and_the_others_do_not_start() -> None:
    watcher = Watcher()
    watcher.pool = Pool(2, waiting, watcher)
    watcher.pool.run_all(KEYS)
    assert watcher.done == []


def test_after_a_cancellation_no_trial_is_made() -> None:
    made: list[TrialKey] = []

    def counted(key: TrialKey) -> Waiting:
        made.append(key)
        return Waiting()

    watcher = Watcher()
    watcher.pool = Pool(2, counted, watcher)
    watcher.pool.run_all(KEYS)
    assert len(made) <= 2


def test_a_trial_that_was_being_made_when_all_were_cancelled_is_cancelled_too() -> None:
    made: list[Waiting] = []

    def cancelling(_key: TrialKey) -> Waiting:
        late.cancel()
        made.append(Waiting())
        return made[-1]

    class Silent(Watcher):
        def tick(self, running: Sequence[Running]) -> None:
            """Ends nothing."""

    late = Pool(1, cancelling, Silent())
    late.run_all(KEYS)
    assert [trial.was_cancelled for trial in made] == [True]


def test_an_error_stops_what_runs_beside_it() -> None:
    first = Waiting()

    class Second(Waiting):
        def run(self) -> Ran | Cancelled:
            first.end.set()
            return super().run()

    class Full(Watcher):
        def tick(self, running: Sequence[Running]) -> None:
            """Ends nothing."""

        def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
            raise OSError("disk full")

    trials = dict(zip(KEYS, (first, Second()), strict=False))
    with pytest.raises(OSError, match="disk full"):
        Pool(2, trials.__getitem__, Full()).run_all(KEYS[:2])
    assert trials[KEYS[1]].was_cancelled


def test_trials_run_from_any_thread() -> None:
    watcher = Watcher()
    thread = threading.Thread(target=lambda: Pool(2, waiting, watcher).run_all(KEYS))
    thread.start()
    thread.join(20)
    assert sorted(watcher.done) == KEYS


def test_one_interrupt_is_counted_and_the_second_ends_everything() -> None:
    before = signal.getsignal(signal.SIGINT)
    with counted_interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        assert interrupts.count == 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_watcher_comes_to_the_caller() -> None:
    class Full(Watcher):
        def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        Pool(2, waiting, Full()).run_all(KEYS)


def test_a_refused_plan_is_a_failed_trial() -> None:
    def refuse(_key: TrialKey) -> Waiting:
        raise TailraceError("no such queue")

    seen: list[Ran | Failed] = []

    class Recording(Watcher):
        def finished(self, key: TrialKey, ended: Ran | Failed, wall_s: float) -> None:
            seen.append(ended)

    Pool(1, refuse, Recording()).run_all(KEYS[:1])
    assert seen == [Failed("no such queue")]


def test_the_time_to_go_comes_from_what_was_measured() -> None:
    keys = [TrialKey("slow", 1), TrialKey("slow", 2), TrialKey("fast", 1), TrialKey("fast", 2)]
    estimate = TimeEstimate(keys, jobs=2)
    assert estimate.remaining_s([]) is None
    estimate.finished(keys[0], 10)
    estimate.finished(keys[2], 2)
    assert estimate.remaining_s([]) == pytest.approx(10)  # the slow one cannot be shared
    assert estimate.fraction([]) == 0.5


def test_the_time_to_go_counts_what_the_slots_do_beside_trials() -> None:
    keys = [TrialKey("arm", number) for number in range(1, 101)]
    now = [0.0]
    estimate = TimeEstimate(keys, jobs=2, clock=lambda: now[0])
    for key in keys[:10]:  # each of two slots is busy for half of the time
        estimate.observe(2)
        now[0] += 2
        estimate.finished(key, 2)
    estimate.observe(2)
    assert estimate.remaining_s([]) == pytest.approx(90 * 2)
    estimate.observe(4)
    assert estimate.remaining_s([]) == pytest.approx(90), "twice as many slots"
    estimate.observe(0)
    assert estimate.remaining_s([]) is None, "nothing can run"


def test_the_time_to_go_claims_no_more_than_is_known() -> None:
    assert to_go(None) == "remaining time unknown"
    assert to_go(12.4) == "about 12 s remaining"
    assert to_go(600) == "about 10 min remaining"
    assert to_go(2 * 3600) == "about 2.0 h remaining"


def test_a_signal_that_the_caller_ignores_is_not_counted() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup(1) does
    try:
        with counted_interrupts() as interrupts:
            signal.raise_signal(signal.SIGHUP)
        assert interrupts.count == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_after_an_interrupt_a_trial_that_does_not_end_is_left_and_nothing_is_told_of_it() -> None:
    ended = threading.Event()

    class Long(Waiting):
        def run(self) -> Ran | Cancelled:
            assert self.end.wait(20)
            ended.set()
            return Ran(part(Outcome))

        def cancel(self) -> None:
            """Is not heard."""

    class Interrupting(Watcher):
        def tick(self, running: Sequence[Running]) -> None:
            if running and not interrupted:
                interrupted.append(True)
                signal.raise_signal(signal.SIGINT)

    trial, watcher = Long(), Interrupting()
    interrupted: list[bool] = []
    threads = set(threading.enumerate())
    assert Pool(1, lambda _key: trial, watcher, leave_s=0.05).run_all(KEYS[:1]) is True
    assert not ended.is_set(), "it is not waited for"
    trial.end.set()
    for thread in set(threading.enumerate()) - threads:
        thread.join(20)
    assert ended.is_set()
    assert watcher.done == [], "the files of the run may be closed by then"


@pytest.mark.parametrize(("engine", "is_left"), [(SIMULATED, True), (LIVE, False), (EXACT, False)])
def test_only_trials_of_the_simulator_are_left(
    engine: str, is_left: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[float | None]()

    class Asked(Pool):
        def __init__(self, *words: Any) -> None:
            asked.append(words[3])
            super().__init__(*words)

    monkeypatch.setattr(executor, "Pool", Asked)
    local = executor.Local(1, SimpleNamespace(name=engine, has_one_core=True))
    assert local.run_all([], lambda _key: "", Watcher()) is False
    assert asked == [pool.LEAVE_S if is_left else None], (
        "others have processes of their own, which must be ended"
    )
