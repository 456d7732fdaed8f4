"""`tailrace show`."""

from pathlib import Path

from msgspec import to_builtins

from tailrace.cli.console import emit_json, emit_table
from tailrace.errors import RunRefusedError, closest
from tailrace.results import Run
from tailrace.results.directory.find_trial import trial_of
from tailrace.results.ports.classification import classify_rules
from tailrace.results.ports.queuing import port_counters, port_policies, switch_counters
from tailrace.results.ports.queuing_text import (
    format_ports,
    format_rules,
    format_switches,
    vendor_of,
)


def refuse_queues(path: Path | None, *of_interfaces: object) -> Path:
    """The run directory, without which there are no queues; options of interfaces are refused."""
    if path is None:
        raise RunRefusedError(
            "show queues needs a run directory (hint: `tailrace list` shows them)"
        )
    if any(option is not None for option in of_interfaces):
        raise RunRefusedError(
            "--fabric, --interval, --count and --since belong to `show interfaces` (hint: "
            "`tailrace lab top`)"
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
        port_counters(found, policy_of(found.node, found.towards)) for found in trial.outcome.ports
    ]
    names = [found.port for found in ports]
    if port is not None and port not in names:
        raise RunRefusedError(
            f"{path}: there is no port '{port}' (hint: {closest(port, names, 'ports')})"
        )
    shown = [found for found in ports if port in (None, found.port)]
    # Drops by the switch itself belong to no port; they are shown with the ports of that switch.
    named = {port.partition(">")[0]} if port else None
    switches = [
        switch_counters(s) for s in trial.outcome.switches if named is None or s.name in named
    ]
    rules = (
        [rule for rule in classify_rules(plan) if named is None or rule.switch in named]
        if plan
        else []
    )
    if json_:
        found = {
            "arm": chosen,
            "trial": number,
            "ports": shown,
            "switches": switches,
            "classify": rules,
        }
        emit_json(to_builtins(found))
        return
    vendor = vendor_of(run.scenario_text())
    emit_table(lambda: format_ports(shown, vendor) if shown else "no switch has a port")
    if switches:
        emit_table(lambda: "\n" + format_switches(switches))
    if rules:
        emit_table(lambda: "\n" + format_rules(rules))
