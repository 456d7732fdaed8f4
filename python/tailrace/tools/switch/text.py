"""The result of a measurement as tables for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from tailrace.results.format.columns import WIDTH, align, fill
from tailrace.results.format.numbers import count_text, digits_text
from tailrace.tools.switch.procedure import fps_text

US = 1000.0
SHARES_SHOWN = (10, 50, 100)
LIMITS = {"line": "line", "generator": "generator", "switch": "switch"}
MS = 1000.0


def as_text(data: Mapping[str, Any]) -> str:
    """All tables, and what one must know to read them."""
    sizes = data["sizes"]
    parts = [
        data["device"],
        _throughput(sizes),
        _latency(sizes),
        _loss(sizes),
        _back_to_back(sizes),
        _goals(sizes),
        "\n".join(fill(f"- {text}", WIDTH) for text in data["remarks"]),
    ]
    return "\n\n".join(part for part in parts if part)


def _throughput(sizes: Sequence[Mapping[str, Any]]) -> str:
    head = [
        "frame",
        "throughput f/s",
        "line f/s",
        "% of line",
        "largest load f/s",
        "limited by",
        "trials",
    ]
    rows = [
        [
            f"{one['frame_bytes']} B",
            _fps(found["throughput_fps"]),
            _fps(found["theoretical_fps"]),
            digits_text(found["share_of_theoretical"] * 100),
            _fps(found["max_offered_load_fps"]),
            LIMITS[found["limited_by"]]
            + (" (invalid)" if found["rests_on_an_invalid_trial"] else ""),
            str(found["trials"]),
        ]
        for one in sizes
        if (found := one["throughput"])
    ]
    return "Throughput (RFC 2544, zero loss)\n" + align([head, *rows]) if rows else ""


def _latency(sizes: Sequence[Mapping[str, Any]]) -> str:
    head = [
        "frame",
        "load",
        "min µs",
        "mean µs",
        "p50 µs",
        "p99 µs",
        "p99.9 µs",
        "max µs",
        "switch µs",
    ]
    rows = []
    for one in sizes:
        for point in one["latency"]:
            if point["percent_of_throughput"] in SHARES_SHOWN and point["latency_ns"]:
                values = [
                    point["latency_ns"][key]
                    for key in ("min", "mean", "p50", "p99", "p99_9", "max")
                ]
                own = point["switch_latency_ns"]
                rows.append(
                    [
                        f"{one['frame_bytes']} B",
                        f"{point['percent_of_throughput']} %",
                        *(digits_text(value / US) for value in values),
                        "–" if own is None else digits_text(own / US),
                    ]
                )
    return "Latency at shares of the throughput\n" + align([head, *rows]) if rows else ""


def _loss(sizes: Sequence[Mapping[str, Any]]) -> str:
    shares = sorted(
        {point["percent_of_maximum"] for one in sizes for point in one["frame_loss"]}, reverse=True
    )
    if not shares:
        return ""
    head = ["frame", *(f"{share} %" for share in shares)]
    rows = []
    for one in sizes:
        found = {
            point["percent_of_maximum"]: point["loss_ratio"] * 100 for point in one["frame_loss"]
        }
        rows.append(
            [
                f"{one['frame_bytes']} B",
                *(digits_text(found[s]) if s in found else "" for s in shares),
            ]
        )
    return "Frame loss in % at shares of the largest load\n" + align([head, *rows])


def _back_to_back(sizes: Sequence[Mapping[str, Any]]) -> str:
    head = ["frame", "burst frames", "implied buffer ms", "corrected buffer ms", "buffer frames"]
    rows = []
    for one in sizes:
        found = one["back_to_back"]
        if found and not found["not_tested"]:
            values = (
                found["implied_dut_buffer_time_s"] * MS,
                found["corrected_dut_buffer_time_s"] * MS,
            )
            rows.append(
                [
                    f"{one['frame_bytes']} B",
                    count_text(found["back_to_back_frames"]),
                    *(digits_text(value) for value in values),
                    count_text(found["corrected_dut_buffer_frames"]),
                ]
            )
    asked = any(one["back_to_back"] for one in sizes)
    if not rows:
        return (
            "Back-to-back: not tested, no frame is lost at the largest load (RFC 9004)"
            if asked
            else ""
        )
    return "Back-to-back (RFC 9004)\n" + align([head, *rows])


def _goals(sizes: Sequence[Mapping[str, Any]]) -> str:
    head = [
        "frame",
        "loss goal",
        "conditional throughput f/s",
        "lower bound f/s",
        "upper bound f/s",
        "trials",
    ]
    rows = []
    for one in sizes:
        found = one["mlrsearch"]
        if found and found["failed"]:
            rows.append(
                [
                    f"{one['frame_bytes']} B",
                    f"no result: {found['failed']}",
                    "",
                    "",
                    "",
                    str(found["trials"]),
                ]
            )
        for goal in found["goals"] if found else ():
            rows.append(
                [
                    f"{one['frame_bytes']} B",
                    f"{goal['goal_loss_ratio'] * 100:g} %",
                    _fps(goal["conditional_throughput_fps"]),
                    _fps(goal["relevant_lower_bound_fps"]),
                    _fps(goal["relevant_upper_bound_fps"]),
                    str(found["trials"]),
                ]
            )
    return "MLRsearch\n" + align([head, *rows]) if rows else ""


def _fps(value: float | None) -> str:
    return "–" if value is None else fps_text(value)
