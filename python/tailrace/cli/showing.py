"""`tailrace show`."""

from pathlib import Path

from tailrace.cli.console import emit, emit_json
from tailrace.errors import RunRefusedError, closest
from tailrace.results import Run
from tailrace.results.queuing import port_counters, port_policy, switch_counters
from tailrace.results.queuing_text import format_ports, format_switches


def show_queues(path: Path, arm: str | None, number: int, port: str | None, *, json_: bool) -> None:
    """Prints the counters of one trial."""
    run = Run.read(path)
    chosen = arm or next(iter(run.arms), "")
    if chosen not in run.trials:
        raise RunRefusedError(f"{path}: there is no arm '{chosen}' (hint: {closest(chosen, list(run.trials), 'arms')})")
    trial = next((trial for trial in run.trials[chosen] if trial.number == number), None)
    if trial is None or not trial.outcome:
        numbers = ", ".join(str(trial.number) for trial in run.trials[chosen] if trial.outcome)
        hint = f"trials with counters: {numbers}" if numbers else "no trial of this arm has counters"
        raise RunRefusedError(f"{path}: trial {number} of '{chosen}' has none (hint: {hint})")
    plan = run.plan(chosen)
    ports = [
        port_counters(found, port_policy(plan, found["node"], found["towards"]))
        for found in trial.outcome.get("ports", [])
    ]
    names = [str(found["port"]) for found in ports]
    if port is not None and port not in names:
        raise RunRefusedError(f"{path}: there is no port '{port}' (hint: {closest(port, names, 'ports')})")
    shown = [found for found in ports if port in (None, found["port"])]
    # A switch's own drops belong to no port: they are shown with the ports of that switch.
    named = {port.partition(">")[0]} if port else None
    switches = [switch_counters(s) for s in trial.outcome.get("switches", []) if named is None or s["name"] in named]
    if json_:
        emit_json({"arm": chosen, "trial": number, "ports": shown, "switches": switches})
        return
    emit(format_ports(shown) if shown else "no switch has a port")
    if switches:
        emit("\n" + format_switches(switches))
