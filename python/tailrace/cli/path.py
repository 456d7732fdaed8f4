"""`tailrace measure path`."""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from tailrace.cli.codes import DONE, EXPECTATION_FAILED
from tailrace.cli.console import emit, emit_json, overrides, warn
from tailrace.cli.measure_arguments import PathArguments
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError, known_arm
from tailrace.results.compare.fidelity import TAP
from tailrace.scenario.loading import Loaded
from tailrace.scenario.scenario import Scenario
from tailrace.tools.path.path import Asked, Direction
from tailrace.tools.path.report import Report

MTU_MIN, MTU_MAX = 576, 65_535
"""RFC 791: the size that every host accepts, and the largest packet."""
FRAMES_MAX = 2**63
"""Frames a second that a plan may offer where no workload runs."""
FORMS = "A B, SCENARIO... A B, or ADDRESS"


def probe_mtu(wanted: PathArguments, *, json_: bool) -> int:
    """Probes, prints, and returns the exit code."""
    _refuse(wanted)
    expected = None if wanted.expect is None else _mtu(wanted.expect)
    report = [_address, _standing, _scenario][min(len(wanted.ends), 3) - 1](wanted, expected)
    if json_:
        emit_json(report.data())
    else:
        emit(report.text())
    return DONE if report.is_carried else EXPECTATION_FAILED


def _refuse(wanted: PathArguments) -> None:
    """Options that do not belong to this form of the command."""
    number = len(wanted.ends)
    is_scenario, is_address = number >= 3, number == 1
    if not is_scenario and wanted.ends[0].endswith((".yaml", ".yml")):
        raise RunRefusedError(
            f"{wanted.ends[0]}: of a scenario, two hosts are probed (hint: SCENARIO A B)"
        )
    given = {
        "--live": (wanted.is_live, is_scenario),
        "--exact": (wanted.is_exact, is_scenario),
        "--arm": (wanted.arm is not None, is_scenario),
        "--set": (bool(wanted.assignments), is_scenario),
        "--netns": (wanted.netns is not None, is_address),
        "--fabric": (wanted.fabric is not None, number == 2 or (is_scenario and wanted.is_live)),
    }
    for option, (is_given, is_fitting) in given.items():
        if is_given and not is_fitting:
            raise RunRefusedError(
                f"{option} does not belong to this form of measure path (hint: {FORMS})"
            )
    if wanted.is_live and wanted.is_exact:
        raise RunRefusedError("--live and --exact exclude each other (hint: choose one engine)")


def _mtu(text: str) -> int:
    digits = text.removesuffix("B").strip()
    if not digits.isdecimal() or not MTU_MIN <= int(digits) <= MTU_MAX:
        raise RunRefusedError(
            f"--expect: '{text}' is not an MTU of {MTU_MIN} to {MTU_MAX} bytes (hint: write "
            "1500B or 9000B)"
        )
    return int(digits)


def _address(wanted: PathArguments, expected: int | None) -> Report:
    from tailrace.tools.path.address import probe_address

    [name] = wanted.ends
    direction, expected_mtu = probe_address(name, wanted.netns, expected, wanted.asked(0))
    how = f"from namespace {wanted.netns}" if wanted.netns else "from this machine"
    return Report(how, expected_mtu, [direction])


def _standing(wanted: PathArguments, expected: int | None) -> Report:
    from tailrace.live.lab import standing
    from tailrace.tools.path import fabric as probing

    ends = (wanted.ends[0], wanted.ends[1])
    chosen = standing.chosen(wanted.fabric)
    mtus = probing.mtus(chosen)
    probing.require_hosts(ends, list(mtus), f"fabric '{chosen.name}'")
    expected_mtu = expected if expected is not None else max(mtus[name] for name in ends)
    found = probing.probe_standing(chosen, ends, wanted.asked(expected_mtu))
    return Report(f"fabric '{chosen.name}', {chosen.state.get('kind', TAP)}", expected_mtu, found)


def _scenario(wanted: PathArguments, expected: int | None) -> Report:
    from tailrace.tools.path.fabric import require_hosts

    *files, first, second = wanted.ends
    ends = (first, second)
    loaded = loaded_of([Path(file) for file in files], overrides(wanted.assignments))
    arm = known_arm(wanted.arm or loaded.scenario.baseline, list(loaded.arms))
    scenario = loaded.arms[arm]
    require_hosts(ends, list(scenario.graph.hosts), files[0])
    expected_mtu = (
        expected if expected is not None else max(scenario.host(name).mtu for name in ends)
    )
    asked = wanted.asked(expected_mtu)
    if wanted.is_live:
        kind = wanted.fabric or TAP
        return Report(f"live, {kind}", expected_mtu, _live(loaded, arm, ends, asked, kind))
    if wanted.is_exact:
        return Report("exact", expected_mtu, _exact(loaded, arm, ends, asked))
    return Report("simulated", expected_mtu, _simulated(scenario, ends, asked))


def _simulated(scenario: Scenario, ends: tuple[str, str], asked: Asked) -> Sequence[Direction]:
    from tailrace.experiment.native import make_trial, run_trial
    from tailrace.tools.path.virtual import probe_virtual

    return probe_virtual(lambda plan: run_trial(make_trial(plan)).outcome, scenario, ends, asked)


def _exact(loaded: Loaded, arm: str, ends: tuple[str, str], asked: Asked) -> Sequence[Direction]:
    from tailrace.exact.engine import ExactEngine
    from tailrace.exact.refuse import refuse_network
    from tailrace.experiment.engine import outcome_of
    from tailrace.tools.path.virtual import probe_virtual

    scenario = loaded.arms[arm]
    refuse_network(loaded, {arm: scenario})
    engine = ExactEngine()
    engine.build()  # raises when the kernel is not built
    with tempfile.TemporaryDirectory(prefix="tailrace-probe-") as folder:
        engine.open(Path(folder))
        try:
            return probe_virtual(lambda plan: outcome_of(engine.trial(plan)), scenario, ends, asked)
        finally:
            engine.close()


def _live(
    loaded: Loaded, arm: str, ends: tuple[str, str], asked: Asked, name: str
) -> Sequence[Direction]:
    from tailrace.experiment.engine import LIVE
    from tailrace.experiment.real_kernel import network, raise_found
    from tailrace.live.lab import kinds
    from tailrace.live.lab.lab import Lab
    from tailrace.live.machine.doctor import require
    from tailrace.scenario.lowering.plan import canonical_json, lower
    from tailrace.tools.path.fabric import probe_lab

    kind, arms = kinds.kind_of(name), {arm: loaded.arms[arm]}
    raise_found(loaded, arms, lambda scenario: network(scenario, LIVE))
    kinds.refuse(kind, loaded, arms)
    kinds.require(kind, require())
    warn(kinds.ignored(kind, loaded, arms))
    plan = canonical_json(lower(loaded.arms[arm], arm, trial=1))
    # Probes are a hundred frames a second, whatever the lines could carry.
    options = (
        ["--kind", kind.name] if kind.is_foreign else ["--frames-per-second-max", str(FRAMES_MAX)]
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tailrace-probe-")))
        lab = stack.enter_context(Lab(plan, folder, *options))
        return probe_lab(lab, ends, asked)
