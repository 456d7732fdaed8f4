"""The tables of README.md, from results.json and peers.json."""

import json
from pathlib import Path
from typing import Any

from jobs import JOBS, Job

HERE = Path(__file__).resolve().parent
PAGE = HERE / "README.md"
PEERS = HERE / "peers.json"
BEGIN = "<!-- begin: written by run.py -->"
END = "<!-- end: written by run.py -->"
#: `packets_delivered` agrees with a peer's within this share.
AGREEMENT = 0.01


def write(results: dict[str, Any]) -> None:
    """Puts the tables between the markers of the page."""
    put(render(results), BEGIN, END)


def put(text: str, begin: str, end: str) -> None:
    """Puts text between two markers of the page."""
    head, has_begin, rest = PAGE.read_text().partition(begin)
    _, has_end, tail = rest.partition(end)
    if not has_begin or not has_end:
        raise ValueError(f"benches/README.md lost a marker: {begin} or {end}")
    PAGE.write_text(f"{head}{begin}\n\n{text}\n{end}{tail}")


def render(results: dict[str, Any]) -> str:
    """Everything between the markers."""
    peers = json.loads(PEERS.read_text())
    measured = [(job, results["jobs"][job.name]) for job in JOBS if job.name in results["jobs"]]
    parts = [origin(results), own_table(measured), of_peers(peers), agreement(measured, peers)]
    if "sizes" in results:
        parts.append(of_sizes(results["sizes"]))
    if "front" in results:
        parts.append(front_line(results["front"]))
    if "cisco" in results:
        parts.append(cisco_line(results["cisco"]))
    return "\n\n".join(parts) + "\n"


def origin(results: dict[str, Any]) -> str:
    """When and where."""
    machine = results["machine"]
    where = (
        f"Measured on {results['date']}: {machine['cpu']}, {machine['cores']} cores, Python "
        f"{machine['python']}."
    )
    return f"{where} {results['note']}".strip()


def own_table(measured: list[tuple[Job, dict[str, Any]]]) -> str:
    """One row for each job."""
    columns = (
        "packet-hops",
        "delivered",
        "CPU s: median (least–most)",
        "Mhops/s: median (best)",
        "MiB",
    )
    lines = [row_of("Job", "", *columns, "instructions per hop"), "|---|---" + "|---:" * 6 + "|"]
    for job, row in measured:
        cpu = row["thread_cpu_s"]
        hops, delivered = grouped(row["packet_hops"]), grouped(row["packets_delivered"])
        time = f"{cpu['median']:.3f} ({cpu['min']:.3f}–{cpu['max']:.3f})"
        speed = f"{mhops(row, 'median'):.1f} ({mhops(row, 'min'):.1f})"
        instructions = f"{row['instructions_per_hop']:.0f}" if "instructions_per_hop" in row else ""
        lines.append(
            row_of(
                job.name,
                job.what,
                hops,
                delivered,
                time,
                speed,
                f"{row['memory_mib']:.1f}",
                instructions,
            )
        )
    return "\n".join(lines)


def of_peers(peers: dict[str, Any]) -> str:
    """The peers' figures, without ours: they are of another processor."""
    lines = [
        row_of("", "W1 Mhops/s", "W2 Mhops/s", "MiB, W1 / W2", "W3, 5 s: CPU s"),
        "|---" + "|---:" * 4 + "|",
    ]
    for peer in peers["rows"]:
        memory = " / ".join(peer["memory_mib"].values())
        lines.append(
            row_of(peer["name"], peer["mhops"]["W1"], peer["mhops"]["W2"], memory, peer["w3_cpu_s"])
        )
    return f"{peers['note']}\n\n" + "\n".join(lines)


def agreement(measured: list[tuple[Job, dict[str, Any]]], peers: dict[str, Any]) -> str:
    """Packets delivered, ours against theirs."""
    sentences = []
    for job, row in measured:
        theirs = peers["delivered"].get(job.peer)
        if theirs is not None:
            off = row["packets_delivered"] / theirs - 1
            verdict = "agrees" if abs(off) <= AGREEMENT else "does not agree"
            ours = grouped(row["packets_delivered"])
            sentences.append(
                f"{job.name}: {ours} here, about {grouped(theirs)} there ({off:+.2%}, {verdict})."
            )
    return "Packets delivered, within 1 %? " + " ".join(sentences)


def of_sizes(sizes: dict[str, Any]) -> str:
    """One row for each fat tree."""
    size, ways, line = sizes["last_level"].split(",")
    model = f"{int(size) // 1024} KiB, {ways} ways, lines of {line} bytes"
    columns = (
        "packet-hops",
        "ns per hop: median (least–most)",
        "times the first",
        "MiB",
        "KiB per host",
        "build, s",
    )
    keys = [key for key in ("instructions_per_hop", "misses_per_hop") if key in sizes["rows"][0]]
    lines = [
        row_of("Hosts", *columns, *(key.replace("_", " ") for key in keys)),
        "|---:" * (7 + len(keys)) + "|",
    ]
    first = sizes["rows"][0]["ns_per_hop"][0]
    for row in sizes["rows"]:
        cost, least, most = row["ns_per_hop"]
        memory, build = row["memory_mib"], row["build_s"]
        shared = (f"{memory:.1f}", f"{memory * 1024 / row['hosts']:.1f}", f"{build:.2f}")
        counts = [f"{row[key]:g}" for key in keys]
        time = (f"{cost:.0f} ({least:.0f}–{most:.0f})", f"{cost / first:.2f}")
        lines.append(
            row_of(grouped(row["hosts"]), grouped(row["packet_hops"]), *time, *shared, *counts)
        )
    title = (
        "Fat trees of four sizes, one endless flow for each host on random pinned paths. "
        f"{origin(sizes)}"
    )
    if keys:
        title += (
            " Misses are those of callgrind's model of a last level of "
            f"{model}, in the loop of events."
        )
    return f"{title}\n\n" + "\n".join(lines)


def front_line(front: dict[str, Any]) -> str:
    """How the work around the simulation grows."""
    counted = front["instructions"].items()
    sizes = ", ".join(
        f"{found / 1e9:.2f} billion instructions at {hosts} hosts" for hosts, found in counted
    )
    return (
        f"`tailrace run` of a fat tree without the simulation: {sizes}. Without what does not "
        "depend on the size they "
        f"grow with the number of hosts to the power of {front['exponent']:.2f}."
    )


def cisco_line(cisco: dict[str, Any]) -> str:
    """The published experiment, and what its full counts take on cores of one's own."""
    counts = (
        "the published counts"
        if cisco["scale"] == 1
        else f"{cisco['scale']:g} of the published counts"
    )
    minutes = cisco["cpu_s"] / cisco["scale"] / cisco["jobs"] / 60
    return (
        f"The published database mix with {counts} (two arms of {cisco['trials']} trials, solo "
        f"runs, report; {cisco['jobs']} trials at a time): {cisco['cpu_s']:.0f} s of CPU time, "
        f"{cisco['wall_s']:.0f} s by the clock, {cisco['peak_mib']:.0f} MiB at most with the "
        f"interpreter. In full it takes about {minutes:.1f} minutes of {cisco['jobs']} cores that "
        "do nothing else."
    )


def row_of(*cells: str) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |"


def mhops(row: dict[str, Any], which: str) -> float:
    """Million packet-hops in a second of CPU time."""
    return float(row["packet_hops"] / row["thread_cpu_s"][which] / 1e6)


def grouped(number: int) -> str:
    """Thousands apart."""
    return f"{number:,}".replace(",", " ")
