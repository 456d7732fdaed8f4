"""The scenario as text: YAML in which each value says where it is from."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tailrace.fit.fitting import Fitting
from tailrace.fit.network import Stated
from tailrace.fit.quantities import rate_text, time_text
from tailrace.fit.workload import Origin, Setting
from tailrace.scenario.workloads.recording import recording_text

MTU_DEFAULT = 1500
PS_PER_NS = 1000
COMMENT_COLUMN = 60


def scenario_text(fitting: Fitting, stem: str = "recorded") -> str:
    """The whole file; names of recordings begin with `stem`."""
    return "\n".join(_lines(fitting, stem)) + "\n"


def recordings_of(fitting: Fitting, stem: str) -> dict[str, str]:
    """Names of the files with recorded requests, beside the scenario, with their contents."""
    return {
        _recording_name(stem, name): recording_text(fit.recording)
        for name, fit in fitting.workloads.items()
        if fit.recording
    }


def _recording_name(stem: str, workload: str) -> str:
    return f"{stem}-{workload}.csv"


def _lines(fitting: Fitting, stem: str) -> Iterator[str]:
    yield (
        "# Written by `tailrace fit`. measured: the capture shows it. estimated: derived from "
        "what it shows."
    )
    yield "# assumed: the capture does not show it. stated: an option of the command."
    yield "tailrace: 1"
    yield f"name: {_flow(fitting.name)}"
    yield f"description: {_flow(f'Fitted to {fitting.file}.')}"
    yield ""
    yield from _network(fitting)
    yield from _hosts(fitting)
    yield "workloads:"
    for name, fit in fitting.workloads.items():
        yield f"  {name}:"
        yield f"    kind: {fit.kind}"
        for note in fit.notes:
            yield f"    # {note}"
        for setting in fit.settings:
            yield from _setting(setting, 4)
        if fit.recording:
            note = f"{sum(map(len, fit.recording))} requests on {len(fit.recording)} connections"
            yield from _setting(
                Setting("file", _recording_name(stem, name), Origin.MEASURED, note), 4
            )
    yield ""
    yield "experiment:"
    yield _commented("  trials: 3", Origin.ASSUMED)
    yield _commented(f"  duration: {time_text(fitting.duration_ns)}", fitting.duration_note)
    if fitting.has_ends:
        yield _commented(
            "  ends: duration", "the trial goes on when the workloads with an end are done"
        )


def _network(fitting: Fitting) -> Iterator[str]:
    line, delay = fitting.line, fitting.timing.delay
    yield "network:"
    yield "  link:"
    yield _commented(f"    rate: {rate_text(line.value)}", _comment(line))
    yield _commented(f"    delay: {time_text(delay.value / PS_PER_NS)}", _comment(delay))
    yield _commented("  topology:", "assumed: one switch; a capture does not show the topology")
    yield "    kind: star"
    yield f"    hosts: {_flow(fitting.hosts.listed)}"
    if fitting.hosts.merged:
        yield f"    # `others` stands for {fitting.hosts.merged} addresses with the least data"
    yield ""


def _hosts(fitting: Fitting) -> Iterator[str]:
    special = {name: mtu for name, mtu in fitting.mtus.items() if mtu != MTU_DEFAULT}
    interfaces = fitting.timing.interfaces
    if not special and not interfaces:
        return
    yield "hosts:"
    if interfaces:
        yield "  defaults:"
        yield _commented(
            f"    nic: {_flow(interfaces)}",
            "estimated: round trips are shorter than the defaults allow",
        )
    for name, mtu in special.items():
        yield _commented(f"  {name}: {{mtu: {mtu}B}}", "measured: MSS and headers")
    yield ""


def _setting(setting: Setting, indent: int) -> Iterator[str]:
    yield _commented(f"{' ' * indent}{setting.key}: {_flow(setting.value)}", setting.comment)


def _comment(value: Stated) -> str:
    return f"{value.origin}: {value.note}"


def _commented(line: str, comment: str) -> str:
    return f"{line.ljust(COMMENT_COLUMN)} # {comment}" if comment else line


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str) and not _is_plain(value):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_plain(text: str) -> bool:
    """Without characters that mean something in YAML's flow style; quantities and calls with one
    argument."""
    return (
        all(character.isalnum() or character in "/%-._()" for character in text)
        and text[:1] not in "-.%"
    )
