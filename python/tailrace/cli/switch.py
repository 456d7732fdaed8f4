"""`tailrace measure switch`."""

from contextlib import ExitStack
from pathlib import Path

from tailrace.cli.codes import DONE, INTERRUPTED
from tailrace.cli.console import emit_json, emit_table, note, overrides
from tailrace.cli.measure_arguments import SwitchArguments
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError, reason_of
from tailrace.files import make_folder
from tailrace.scenario.text.units import RATE as BIT_RATE
from tailrace.scenario.text.units import TIME, Dimension, QuantityError, parse
from tailrace.tools.switch import mlr, result, text
from tailrace.tools.switch.devices.live import LiveSwitch
from tailrace.tools.switch.devices.simulated import RATE, SimulatedSwitch, default_scenario
from tailrace.tools.switch.frames import parse_sizes
from tailrace.tools.switch.procedure import TESTS, Lengths, Procedure, parse_tests, sizes_for
from tailrace.tools.switch.rig import Rig
from tailrace.tools.switch.trial import Device

SIMULATED_TRIAL_S = 0.05
"""Default length of a simulated trial, which has no random part. Longer ones matter where a buffer
fills slowly."""
TRIAL_S_MIN, TRIAL_S_MAX = 1e-4, 120.0
PS_PER_S = 1e12
S_PER_MIN = 60.0


def measure_switch(request: SwitchArguments) -> int:
    """Measures, prints and writes; returns the exit code. An interrupt keeps completed trials."""
    _refuse_combinations(request)
    tests = TESTS if request.tests is None else parse_tests(request.tests)
    if "mlrsearch" in tests:
        mlr.library()
    sizes = None if request.sizes is None else parse_sizes(request.sizes)
    device = _device(request)
    lengths = _lengths(request, device)
    chosen = sizes_for(device, sizes, note)
    folder = request.out or result.free_folder(request.fabric or "simulated")
    if (folder / "result.json").exists():
        raise RunRefusedError(f"{folder}: it has a result already (hint: choose another --out)")
    _make(folder)
    procedure = Procedure(Rig(device), chosen, tests, lengths, note)
    note(f"measuring {device.title}; expected time: about {_time_text(procedure.expected_s())}")
    code = DONE
    with ExitStack() as stack:
        if isinstance(device, LiveSwitch):
            device.prepare(note)
            stack.enter_context(device)
        try:
            procedure.run()
        except KeyboardInterrupt:
            note("interrupted: what was measured until now is kept")
            code = INTERRUPTED
    data = result.as_data(procedure)
    if request.json_:
        emit_json(data)
    else:
        emit_table(lambda: text.as_text(data))
    try:
        result.write(data, folder)
    except OSError as error:
        raise RunRefusedError(
            f"{error.filename or folder}: {reason_of(error)}; the result is printed and not kept "
            "(hint: make room, and measure again)"
        ) from None
    note(f"wrote {folder}/result.json and {folder}/report.html")
    return code


def _make(folder: Path) -> None:
    """Before anything is measured: a result that has no place would be lost."""
    try:
        make_folder(folder)
    except OSError as error:
        raise RunRefusedError(
            f"--out: {folder}: {reason_of(error)} (hint: name a folder that can be made)"
        ) from None


def _refuse_combinations(request: SwitchArguments) -> None:
    of_scenario = {
        "--source": request.source,
        "--destination": request.destination,
        "--arm": request.arm,
        "--set": request.assignments,
    }
    given = [name for name, value in of_scenario.items() if value]
    if request.fabric and request.scenario:
        raise RunRefusedError(
            "--fabric measures a switch of this machine and SCENARIO a simulated one (hint: "
            "give one of them)"
        )
    if not request.scenario and given:
        raise RunRefusedError(
            f"{given[0]} belongs to a scenario (hint: name one, or omit {given[0]})"
        )
    if request.scenario and request.rate:
        raise RunRefusedError(
            "--rate: the scenario has the rates of its links (hint: --set network.link.rate=...)"
        )
    if request.full and request.duration:
        raise RunRefusedError("--full has lengths of its own (hint: omit --duration)")


def _device(request: SwitchArguments) -> Device:
    if request.rate is not None:
        _parsed("--rate", request.rate, BIT_RATE)
    if request.fabric:
        return LiveSwitch(request.fabric, request.rate or RATE)
    if request.scenario:
        loaded = loaded_of(request.scenario, overrides(request.assignments))
        return SimulatedSwitch(loaded, request.arm, request.source, request.destination)
    return SimulatedSwitch(default_scenario(request.rate or RATE), None, None, None)


def _lengths(request: SwitchArguments, device: Device) -> Lengths:
    if request.full:
        return Lengths.full()
    if request.duration is None:
        return Lengths.of(SIMULATED_TRIAL_S) if device.is_simulated else Lengths()
    seconds = _parsed("--duration", request.duration, TIME) / PS_PER_S
    if not TRIAL_S_MIN <= seconds <= TRIAL_S_MAX:
        raise RunRefusedError(
            f"--duration: {request.duration} is not between 100us and 2min (hint: --duration 2s)"
        )
    return Lengths.of(seconds)


def _parsed(option: str, text: str, dimension: Dimension) -> int:
    try:
        value = parse(text, dimension)
    except QuantityError as error:
        raise RunRefusedError(f"{option}: {error.what} (hint: {error.hint})") from None
    if value == 0:
        raise RunRefusedError(
            f"{option} must be greater than zero (hint: {option} {dimension.examples[0]})"
        )
    return value


def _time_text(seconds: float) -> str:
    if seconds < S_PER_MIN:
        return f"{max(1, round(seconds))} s"
    if seconds < 100 * S_PER_MIN:
        return f"{seconds / S_PER_MIN:.0f} min"
    return f"{seconds / S_PER_MIN / 60:.0f} h"
