"""The result of a measurement: JSON in the words of the specifications, a table, a page."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tailrace.experiment.machine import describe_machine
from tailrace.files import write_json
from tailrace.tools.switch.procedure import Procedure, SizeResult, fps_text
from tailrace.tools.switch.rig import REPEATS_IN_ALL

FORMAT = 1
FOLDERS_MAX = 10_000
BUFFER_SHARE_MIN = 0.02
"""What a buffer adds to a throughput is told from this share on."""
REPEATABLE = (
    "Zero loss is not repeatable on virtual cores: a pause of a core of some hundred microseconds "
    "loses frames of any software switch. Compare the goals of 0.1 and 0.5 % beside it."
)


def as_data(procedure: Procedure) -> dict[str, Any]:
    """Everything that was measured."""
    rig, lengths = procedure.rig, procedure.lengths
    return {
        "format": FORMAT,
        "kind": "switch-measurement",
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "is_whole": procedure.is_whole,
        "device": rig.device.title,
        "simulated": rig.device.is_simulated,
        **rig.device.facts,
        "rate_bps": rig.device.rate_bps,
        "tests": list(procedure.tests),
        "trial_duration_s": {
            "throughput": lengths.throughput_s,
            "latency": lengths.latency_s,
            "frame_loss": lengths.loss_s,
        },
        "trials": len(rig.trials),
        "invalid_trials": rig.invalid,
        "remarks": remarks(procedure),
        "machine": describe_machine(),
        "sizes": [found.as_data() for found in procedure.results],
        "trial_log": [trial.as_data() for trial in rig.trials],
    }


def remarks(procedure: Procedure) -> list[str]:
    """What one must know to read the figures."""
    found = []
    rig = procedure.rig
    if not rig.device.is_simulated:
        found.append(REPEATABLE)
        found.append(
            f"{rig.invalid} of {len(rig.trials)} trials were invalid (the sender was paused, or "
            f"the hypervisor took cores); {REPEATS_IN_ALL - rig.repeats_left} were repeated."
        )
    limited = [
        one for one in procedure.results if one.throughput and one.throughput.limit == "generator"
    ]
    if rig.repeats_left == 0:
        found.append(
            "So many trials were invalid that the last ones were not repeated: measure again "
            "on an idle machine."
        )
    for one in limited:
        assert one.throughput is not None, "it was selected by it"
        alone = (
            f"; without a switch it reaches {fps_text(one.sender_fps)}" if one.sender_fps else ""
        )
        found.append(
            f"{one.frame_bytes} B: limited by the generator, which reaches "
            f"{fps_text(one.throughput.most_fps)} frames a second at most{alone}."
        )
    if any(one.sender_fps for one in limited):
        found.append(
            "Where the kernel switches, it does so within the sender's own calls: the difference "
            "between the generator alone and with the switch is the time that switching takes."
        )
    if rig.device.is_simulated:  # elsewhere a pause of a core looks like a buffer
        duration_s = procedure.lengths.throughput_s
        found += [text for one in procedure.results if (text := _buffer_remark(one, duration_s))]
    if not procedure.is_whole:
        found.append("The measurement was interrupted: what was measured until then is here.")
    return found


def _buffer_remark(one: SizeResult, duration_s: float) -> str:
    """What the buffer adds to the throughput of a short trial."""
    if one.throughput is None or one.back_to_back is None or one.back_to_back.buffer_frames is None:
        return ""
    added = one.back_to_back.buffer_frames / duration_s
    if added < BUFFER_SHARE_MIN * one.throughput.fps:
        return ""
    return (
        f"{one.frame_bytes} B: the buffer of {one.back_to_back.buffer_frames:.0f} frames adds up "
        f"to {fps_text(added)} frames a second to the throughput of a trial of {duration_s:g} s "
        "(hint: a longer --duration)."
    )


def write(data: dict[str, Any], folder: Path) -> None:
    """Writes result.json and report.html."""
    from tailrace.tools.switch.page import write_page

    write_json(folder / "result.json", data)
    write_page(data, folder / "report.html")


def free_folder(name: str, runs: Path = Path("runs")) -> Path:
    """A folder below `runs/` that does not exist."""
    return next(
        path
        for number in range(1, FOLDERS_MAX)
        if not (path := runs / f"measure-{name}-{number}").exists()
    )
