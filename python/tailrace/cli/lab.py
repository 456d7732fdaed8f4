"""`tailrace lab`: networks that are up."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from tailrace.cli.console import emit, emit_json, emit_page, note, overrides, warn
from tailrace.cli.inspect import counted
from tailrace.cli.scenarios import loaded_of
from tailrace.errors import RunRefusedError, known_arm
from tailrace.live.lab import standing
from tailrace.outcome.types import NetworkOutcome
from tailrace.results.format.columns import align
from tailrace.results.format.numbers import bytes_text, count_text, rate_text

TOP_EVERY_S = 1.0


def bring_up(
    scenario: list[Path],
    name: str | None,
    arm: str | None,
    metrics: int | None,
    assignments: Mapping[str, Any] | None,
    fabric: str,
) -> None:
    """Creates the fabric of a scenario."""
    from tailrace.experiment.engine import LIVE
    from tailrace.experiment.real_kernel import network, raise_found
    from tailrace.live.lab import kinds
    from tailrace.live.public import prepare_machine
    from tailrace.scenario.lowering.plan import canonical_json, lower

    loaded = loaded_of(scenario, overrides(assignments))
    chosen = known_arm(arm or loaded.scenario.baseline, list(loaded.arms))
    kind, arms = kinds.kind_of(fabric), {chosen: loaded.arms[chosen]}
    raise_found(loaded, arms, lambda scenario: network(scenario, LIVE))
    kinds.refuse(kind, loaded, arms)
    prepare_machine(kind, note)
    warn(kinds.ignored(kind, loaded, arms))
    plan_json = canonical_json(lower(loaded.arms[chosen], chosen, trial=1))
    up = standing.bring_up(name or loaded.scenario.name, plan_json, metrics, kind.name)
    emit(
        align(
            [
                ["host", "address", "MTU"],
                *([h["name"], h["address"], str(h["mtu"])] for h in up.hosts),
            ]
        )
    )
    for warning in up.state.get("warnings", []):
        note(f"warning: {warning}")
    first = up.hosts[0]["name"] if up.hosts else "HOST"
    commands = (
        f"`tailrace lab exec {first} -- PROGRAM`, `tailrace lab top`, `tailrace lab down {up.name}`"
    )
    note(f"fabric '{up.name}' is up: {commands}")


def take_down(name: str | None) -> None:
    """Stops a fabric."""
    fabric = standing.chosen(name)
    outcome = standing.take_down(fabric)
    emit(ports_text(outcome, {}, 0.0))
    note(f"fabric '{fabric.name}' is down")


def print_fabrics(*, json_: bool) -> None:
    """Prints the fabrics that are up."""
    found = standing.standing()
    if json_:
        emit_json([{"name": each.name, **each.state} for each in found])
        return
    rows = [[each.name, str(len(each.hosts)), str(each.folder)] for each in found]
    emit(align([["fabric", "hosts", "folder"], *rows]) if rows else "no fabric is up")


def exec_on_host(host: str, words: list[str], name: str | None) -> None:
    """Replaces this process by a program on a host."""
    command = standing.exec_words(standing.chosen(name), host, words)
    sys.stdout.flush()
    os.execv(
        command[0], command
    )  # the program inherits the terminal, and its exit code is that of the command


def capture_port(port: str, file: Path, seconds: float, name: str | None) -> None:
    """Captures at a port for a time, or until interrupted."""
    fabric = standing.chosen(name)
    node, arrow, towards = (part.strip() for part in port.partition(">"))
    if not arrow:
        raise RunRefusedError(
            f"'{port}' is not a port (hint: write SWITCH>NODE, as `tailrace lab top` prints it)"
        )
    fabric.call("capture", port=[node, towards], path=str(file.absolute()))
    frames = 0
    try:
        time.sleep(seconds)
    finally:
        frames = fabric.call("capture-stop", port=[node, towards]).get("frames", 0)
    emit(f"wrote {file}: {counted(frames, 'frame', 'frames')}, {file.stat().st_size} bytes")


def show_top(name: str | None, *, once: bool, json_: bool) -> None:
    """Prints the counters every second until interrupted."""
    fabric = standing.chosen(name)
    before: dict[str, int] = {}
    read_s = time.monotonic()
    while True:
        outcome = fabric.counters()
        now_s = time.monotonic()
        if json_:
            emit_json(to_builtins(outcome))
        else:
            (emit if once else emit_page)(ports_text(outcome, before, now_s - read_s))
        if once:
            return
        before, read_s = _tx_bytes(outcome), now_s
        time.sleep(TOP_EVERY_S)


def ports_text(outcome: NetworkOutcome, before: dict[str, int], span_s: float) -> str:
    """One line for each queue of each port; with an earlier reading, also the rates since then."""
    rows = [["port", "rate", "queue", "sent", "now", "dropped", "marked", "most queued"]]
    for port in outcome.ports:
        name = f"{port.node}>{port.towards}"
        moved = port.tx_bytes - before[name] if name in before and span_s > 0 else None
        for index, queue in enumerate(port.queues):
            rows.append(
                [
                    name if index == 0 else "",
                    rate_text(port.rate_bps) if index == 0 else "",
                    queue.name,
                    bytes_text(queue.tx_bytes),
                    rate_text(moved * 8 / span_s) if index == 0 and moved is not None else "",
                    count_text(sum(lost.frames for lost in queue.drops.values())),
                    count_text(queue.marked_frames),
                    bytes_text(queue.depth_max_bytes),
                ]
            )
    return align(rows, left=3) if len(rows) > 1 else "no switch has a port"


def _tx_bytes(outcome: NetworkOutcome) -> dict[str, int]:
    return {f"{port.node}>{port.towards}": port.tx_bytes for port in outcome.ports}
