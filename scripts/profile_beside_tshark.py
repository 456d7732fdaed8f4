"""Compare profiles of captures with the statistics of tshark, count by count.

`profile_beside_tshark.py DIR..` reads every capture below the folders, and prints which counts
differ in which file, and how many agree. Only headers outside of tunnels count, as in a profile;
tshark puts no fragments together. The exit status is 1 when a count differs.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailrace.errors import TailraceError
from tailrace.profile.capture import Profile, ProfileOptions, profile_capture

SUFFIXES = {".pcap", ".pcapng", ".cap", ".gz", ".zst"}
LIMIT_S = 300
ANALYSES = {
    "retransmissions": "tcp.analysis.retransmission",
    "fast_retransmissions": "tcp.analysis.fast_retransmission",
    "spurious_retransmissions": "tcp.analysis.spurious_retransmission",
    "out_of_order": "tcp.analysis.out_of_order",
    "duplicate_acks": "tcp.analysis.duplicate_ack",
    "zero_windows": "tcp.analysis.zero_window",
    "zero_window_probes": "tcp.analysis.zero_window_probe",
    "window_updates": "tcp.analysis.window_update",
    "keep_alives": "tcp.analysis.keep_alive",
    "after_gaps": "tcp.analysis.lost_segment",
}
"""Counts of a profile and the fields of tshark that mark the same segments."""
FIELDS = (
    "frame.len",
    "frame.protocols",
    "ip.dsfield.dscp",
    "ipv6.tclass.dscp",
    "ip.proto",
    "ipv6.nxt",
    "tcp.stream",
    "tcp.len",
    *ANALYSES.values(),
)
OUTER = re.compile(
    r"^(?:(?:eth:(?:llc:)?ethertype|sll:ethertype|sll|null|raw)(?::vlan:ethertype|:ieee8021ad:ethertype|:ieee8021ad)*:)?"
    r"(?:(?P<version>ip|ipv6)(?::ipv6\.\w+|:ah)*(?::(?P<carried>\w+))?(?![\w.])|(?P<arp>arp))"
)
"""The protocols of a frame as tshark lists them, from outside."""
PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58}


@dataclass
class Counted:
    """Counts of one capture: in all, of frames and bytes of connections (both directions together),
    of code points."""

    counts: Counter[str] = field(default_factory=Counter)
    connections: Counter[tuple[int, int]] = field(default_factory=Counter)
    code_points: Counter[int] = field(default_factory=Counter)


def main() -> None:
    """Compares, prints, and exits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    files = sorted(file for folder in given.folders for file in captures(folder))
    with ThreadPoolExecutor(given.jobs) as pool:
        results = list(pool.map(differences, files))
    compared = [found for found in results if found is not None]
    for file, found in zip(files, results, strict=True):
        for name, (ours, theirs) in (found or {}).items():
            if ours != theirs:
                sys.stdout.write(f"{file}: {name}: {ours}, tshark {theirs}\n")
    counts: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for found in compared:
        for name, (ours, theirs) in found.items():
            counts[name] += ours == theirs
            sums[name] += theirs if isinstance(theirs, int) else 0
    for name, equal in sorted(counts.items()):
        sys.stdout.write(
            f"{name:26} equal in {equal} of {len(compared)} captures; tshark counts "
            f"{sums[name]} in all\n"
        )
    sys.stdout.write(
        f"{len(files) - len(compared)} of {len(files)} files are read by one of the two only "
        "or by neither\n"
    )
    sys.exit(any(equal < len(compared) for equal in counts.values()))


def captures(folder: Path) -> Iterator[Path]:
    """The captures in a folder, or the file itself."""
    if folder.is_file():
        yield folder
        return
    yield from (file for file in folder.rglob("*") if file.is_file() and file.suffix in SUFFIXES)


def differences(file: Path) -> dict[str, tuple[Any, Any]] | None:
    """Both values of every count; None if one of the two cannot read the file."""
    theirs = of_tshark(file)
    try:
        profile = profile_capture(file, ProfileOptions())
    except TailraceError:
        return None
    if theirs is None:
        return None
    ours = of_profile(profile)
    names = sorted({*ours.counts, *theirs.counts})
    found: dict[str, tuple[Any, Any]] = {
        name: (ours.counts[name], theirs.counts[name]) for name in names
    }
    found["connections as listed"] = (
        sorted(ours.connections.items()),
        sorted(theirs.connections.items()),
    )
    found["code points"] = (sorted(ours.code_points.items()), sorted(theirs.code_points.items()))
    return found


def of_tshark(file: Path) -> Counted | None:
    """What tshark counts; None if it cannot read the file at all."""
    options = ["ip.defragment:FALSE", "ipv6.defragment:FALSE", "tcp.desegment_tcp_streams:FALSE"]
    command = ["tshark", "-n", "-r", str(file), "-T", "fields", "-E", "occurrence=f"]
    command += [word for option in options for word in ("-o", option)]
    command += [word for name in FIELDS for word in ("-e", name)]
    answer = subprocess.run(command, check=False, capture_output=True, timeout=LIMIT_S)
    if answer.returncode and not answer.stdout:
        return None
    counted = Counted()
    streams: dict[str, tuple[int, int]] = {}
    for line in answer.stdout.decode(errors="replace").splitlines():
        row = dict(zip(FIELDS, line.split("\t"), strict=True))
        _frame(counted, streams, row)
    counted.connections.update(streams.values())
    counted.counts["connections"] = len(streams)
    return counted


def _frame(counted: Counted, streams: dict[str, tuple[int, int]], row: dict[str, str]) -> None:
    length = int(row["frame.len"])
    counted.counts["frames"] += 1
    counted.counts["bytes"] += length
    outer = OUTER.match(row["frame.protocols"])
    if outer is None:
        return
    if outer["arp"]:
        counted.counts["arp"] += 1
        return
    is_ipv4 = outer["version"] == "ip"
    # A packet whose header cannot be what was sent has no protocol.
    if not row["ip.proto" if is_ipv4 else "ipv6.nxt"]:
        return
    counted.counts["ipv4" if is_ipv4 else "ipv6"] += 1
    counted.code_points[int(row["ip.dsfield.dscp" if is_ipv4 else "ipv6.tclass.dscp"])] += 1
    number = int(row["ip.proto"]) if is_ipv4 else PROTOCOLS.get(outer["carried"])
    counted.counts.update(name for name, of in PROTOCOLS.items() if of == number and name != "tcp")
    if outer["carried"] != "tcp" or not row["tcp.stream"] or not row["tcp.len"]:
        return
    counted.counts["tcp"] += 1
    frames, size = streams.get(row["tcp.stream"], (0, 0))
    streams[row["tcp.stream"]] = (frames + 1, size + length)
    for name, mark in ANALYSES.items():
        counted.counts[name] += bool(row[mark])


def of_profile(profile: Profile) -> Counted:
    """What the profile counts."""
    data, counted = profile.data, Counted()
    protocols, tcp = data["protocols"], data["tcp"]
    counted.counts.update(
        {
            "frames": data["capture"]["frames"],
            "bytes": data["capture"]["frame_bytes"],
            "ipv4": protocols["ipv4"]["frames"],
            "ipv6": protocols["ipv6"]["frames"],
            "arp": protocols["arp"]["frames"],
            "tcp": tcp["segments"],
            "connections": data["flow_summary"]["connections"],
            **{name: tcp[name] for name in ANALYSES},
        }
    )
    counted.code_points.update({one["value"]: one["frames"] for one in data["classes"]["dscp"]})
    by_number = {one["number"]: one["frames"] for one in protocols["ip_protocols"]}
    for name in ("udp", "icmp", "icmpv6"):
        counted.counts[name] = by_number.get(PROTOCOLS[name], 0)
    rows = profile.columns("connections")
    frames = (sum(both) for both in zip(rows["client_frames"], rows["server_frames"], strict=True))
    sizes = (
        sum(both)
        for both in zip(rows["client_frame_bytes"], rows["server_frame_bytes"], strict=True)
    )
    counted.connections.update(zip(frames, sizes, strict=True))
    return counted


if __name__ == "__main__":
    main()
