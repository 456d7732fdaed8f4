"""`tailrace show`."""

from pathlib import Path

from tailrace.cli.console import emit_json, emit_table
from tailrace.errors import RunRefusedError, closest, known_arm
from tailrace.results import Run
from tailrace.results.directory.run_directory import Trial
from tailrace.results.ports.queuing import port_counters, port_policies, switch_counters
from tailrace.results.ports.queuing_text import format_ports, format_switches, vendor_of


def refuse_queues(path: Path | None, *of_interfaces: object) -> Path:
    """The run directory, without which there are no queues; options of interfaces are refused."""
    if path is None:
        raise RunRefusedError("show queues needs a run directory (hint: `tailrace list` shows them)")
    if any(option is not None for option in of_interfaces):
        raise RunRefusedError(
            "--fabric, --interval, --count and --since belong to `show interfaces` (hint: `tailrace top`)"
        )
    return path


def show_queues(path: Path, arm: str | None, number: int, port: str | None, *, json_: bool) -> None:
    """Prints the counters of one trial."""
    run = Run.read(path)
    trial = trial_of(run, arm, number)
    chosen = trial.arm
    plan = run.plan(chosen)
    policy_of = port_policies(plan)
    ports = [
        port_counters(found, policy_of(found["node"], found["towards"])) for found in trial.outcome.get("ports", [])
    ]
    names = [str(found["port"]) for found in ports]
    if port is not None and port not in names:
        raise RunRefusedError(f"{path}: there is no port '{port}' (hint: {closest(port, names, 'ports')})")
    shown = [found for found in ports if port in (None, found["port"])]
    # Drops by the switch itself belong to no port; they are shown with the ports of that switch.
    named = {port.partition(">")[0]} if port else None
    switches = [switch_counters(s) for s in trial.outcome.get("switches", []) if named is None or s["name"] in named]
    if json_:
        emit_json({"arm": chosen, "trial": number, "ports": shown, "switches": switches})
        return
    vendor = vendor_of(run.scenario_text())
    emit_table(lambda: format_ports(shown, vendor) if shown else "no switch has a port")
    if switches:
        emit_table(lambda: "\n" + format_switches(switches))


def trial_of(run: Run, arm: str | None, number: int) -> Trial:
    """Trial `number` of `arm`; without an arm, of the first one in which this trial has counters.

    Raises `RunRefusedError` when the arm does not exist or the trial has no counters.
    """
    if arm is not None:
        known_arm(arm, list(run.trials), str(run.path))
    counted = {name: [trial for trial in trials if trial.outcome] for name, trials in run.trials.items()}
    for name in run.arms if arm is None else [arm]:
        for trial in counted[name]:
            if trial.number == number:
                return trial
    where = next(iter(run.arms), "") if arm is None else arm
    raise RunRefusedError(f"{run.path}: {_why(run, arm, where, number)} (hint: {_instead(counted, where)})")


def _why(run: Run, arm: str | None, where: str, number: int) -> str:
    of = "any arm" if arm is None else f"'{arm}'"
    is_there = any(trial.number == number for trial in run.trials.get(where, []))
    return f"trial {number} of {of} has no counters" if is_there else f"there is no trial {number} of {of}"


def _instead(counted: dict[str, list[Trial]], where: str) -> str:
    """A hint: the trials of this arm with counters, or else the arms with such trials."""
    if numbers := ", ".join(str(trial.number) for trial in counted.get(where, [])):
        return f"trials with counters of '{where}': {numbers}"
    arms = [name for name, trials in counted.items() if trials]
    return f"arms with counters: {', '.join(arms)}" if arms else "no trial of this run has counters yet"
