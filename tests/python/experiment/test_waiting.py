"""Calls of native code: an interrupt is answered while they go on."""

import signal
import threading

import pytest

from tailrace.experiment.native import run_trial
from tailrace.experiment.waiting import interruptible


def test_an_interrupt_is_raised_while_the_call_goes_on() -> None:
    go_on, main = threading.Event(), threading.main_thread().ident
    assert main is not None

    def call() -> None:
        signal.pthread_kill(main, signal.SIGINT)
        assert go_on.wait(20)

    with pytest.raises(KeyboardInterrupt):
        interruptible(call)
    assert not go_on.is_set()
    go_on.set()


def test_a_call_returns_or_raises_what_it_did_in_every_thread() -> None:
    def fail() -> None:
        raise ValueError("in the call")

    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.get_ident)))
    thread.start()
    thread.join(20)
    assert found == [thread.ident], "a thread that no signal interrupts makes the call itself"
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ValueError, match="in the call"):
        interruptible(fail)


def test_a_trial_of_the_main_thread_is_ended_by_an_interrupt() -> None:
    main = threading.main_thread().ident

    class Trial:
        cancelled = threading.Event()

        def run(self) -> None:
            assert main is not None
            signal.pthread_kill(main, signal.SIGINT)
            assert self.cancelled.wait(20)

        def cancel(self) -> None:
            self.cancelled.set()

    trial = Trial()
    with pytest.raises(KeyboardInterrupt):
        run_trial(trial)  # type: ignore[arg-type]  # as much of one as is called
    assert trial.cancelled.is_set()
