"""`tailrace lab doctor`, `lab calibrate`, `lab replay` and `lab clean`."""

from collections.abc import Callable
from pathlib import Path

from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit, emit_json, emit_text, note
from tailrace.errors import RunRefusedError, reason_of


def print_doctor(*, measure: bool, json_: bool) -> int:
    """Prints what the machine has and lacks for live runs; returns the exit code."""
    from tailrace.live.machine import doctor, limits

    found = []
    if measure:
        from tailrace.live import divisor

        limits.measure()
        found = [divisor.fact(divisor.measure(note))]
    facts = [*doctor.examine(), *found]
    if json_:
        emit_json(doctor.as_data(facts))
    else:
        emit(doctor.as_text(facts))
    return DONE if doctor.is_healthy(facts) else EXPECTATION_FAILED


def calibrate_hosts(out: Path | None, mtu: str, rate: str) -> None:
    """Measures the hosts and writes the fragment."""
    from tailrace.live.machine.calibrate import calibrate, fragment

    _write_fragment(out, lambda: fragment(calibrate(mtu, rate, note)))


def calibrate_processor(out: Path | None) -> None:
    """Measures the kernel's costs on a core and writes the fragment."""
    from tailrace.live.machine.kernel_costs import fragment, measure

    _write_fragment(out, lambda: fragment(measure(note)))


def _write_fragment(out: Path | None, measure: Callable[[], str]) -> None:
    if out is None:
        emit_text(measure())
        return
    try:
        out.touch(exist_ok=False)  # before the measurement, whose result would otherwise be lost
    except FileExistsError:
        raise RunRefusedError(
            f"{out}: the file exists already (hint: choose another name, or remove it)"
        ) from None
    except OSError as error:
        raise RunRefusedError(
            f"{out}: the file cannot be created: {reason_of(error)} (hint: choose another --out)"
        ) from None
    try:
        out.write_text(measure(), encoding="utf-8")
    except BaseException:
        out.unlink(missing_ok=True)
        raise
    note(f"wrote {out}; `tailrace run SCENARIO --calibrated {out}` simulates with it")


def replay_run(path: Path, *, json_: bool) -> int:
    """Replays every log of a run; returns the exit code, 1 when a digest differs."""
    from tailrace.live.trial.replay import replay

    replayed = replay(path)
    if json_:
        emit_json({"trials": [vars(one) for one in replayed]})
    else:
        emit("\n".join(one.sentence for one in replayed))
    return DONE if all(one.is_same for one in replayed) else EXPECTATION_FAILED


def clean_machine() -> None:
    """Removes the remains of killed runs from the machine."""
    from tailrace.live.lab.clean import clean

    removed = clean()
    emit(f"removed: {', '.join(removed)}" if removed else "nothing to remove")
