"""What was sent, for programs and for people."""

from collections.abc import Sequence
from typing import Any

from tailrace.results.format.columns import align
from tailrace.results.format.numbers import count_text, digits_text, rate_text

NS_PER_S = 1e9


def as_data(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each round with its rates."""
    found = []
    for answer in answers:
        length_s = answer["length_ns"] / NS_PER_S
        per_second = answer["sent"] / length_s if length_s > 0 else 0.0
        threads = len(answer["threads"])
        found.append(
            {
                **answer,
                "frames_per_second": per_second,
                "frames_per_second_per_thread": per_second / threads,
                "bytes_per_second": per_second * answer["frame_bytes_mean"],
            }
        )
    return found


def _bytes(mean: float) -> str:
    """Whole where all frames of a round are as long."""
    return str(round(mean)) if mean == round(mean) else digits_text(mean, 4)


def as_text(rounds: Sequence[dict[str, Any]]) -> str:
    """A table with a line for each round."""
    head = [
        "bytes",
        "threads",
        "seconds",
        "sent",
        "refused",
        "frames/s",
        "per thread",
        "rate",
        "interface",
    ]
    rows = [
        [
            _bytes(each["frame_bytes_mean"]),
            str(len(each["threads"])),
            digits_text(each["length_ns"] / NS_PER_S),
            count_text(each["sent"]),
            count_text(each["refused"]),
            count_text(each["frames_per_second"]),
            count_text(each["frames_per_second_per_thread"]),
            rate_text(8 * each["bytes_per_second"]),
            count_text(each["interface_sent"]),
        ]
        for each in rounds
    ]
    gaps = sum(each["gaps"] for each in rounds)
    late = (
        f"\nThe rate was not kept: the threads were {gaps} times away for more than 1 ms."
        if gaps
        else ""
    )
    return align([head, *rows]) + late
