"""Memory and run directory of a trial that is 1, 5 and 20 times as long: memory does not grow with
the simulated time.

`long_memory.py [--duration-ms 1000] [--factors 1 5 20]`: for each kind of workload a line for each
length, with the peak of the process and the size of the directory, which grows until its tables are
full (docs/limits.md). Everything that can be recorded is: windows, interfaces, digests, series.
Exits with 1 where the last peak is larger than the one before it by more than the factor
`--growth`.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

NETWORK = (
    "network: {topology: {kind: star, hosts: [a, b, c, d]}, link: {rate: 1Gbit/s, delay: 1us}}"
)
OBSERVE = (
    "observe: {digest: true, transactions: 20000, series_bins: 500, "
    "interfaces: 10ms, windows: 10ms}"
)
WORKLOADS = {
    "transactions": "{kind: oltp, client: a, server: b, users: 20, round_trips: "
    "[{response: 500B}], gap: 0s}",
    "flows": "{kind: flows, sizes: web-search, load: 60%}",
    "stream": "{kind: stream, source: a, destination: b}",
}
ROOM = 1.10


def scenario(workload: str, duration: str) -> str:
    """One workload for so long."""
    return (
        f"tailrace: 1\nname: long\n{NETWORK}\nworkloads: {{one: "
        f"{WORKLOADS[workload]}}}\n{OBSERVE}\n"
        f"experiment: {{duration: {duration}, trials: 1}}\n"
    )


def measured(workload: str, duration: str) -> tuple[float, float]:
    """Peak memory of the command, and size of its directory, in MB."""
    with tempfile.TemporaryDirectory(prefix="tailrace-long-") as folder:
        file, out = Path(folder, "scenario.yaml"), Path(folder, "run")
        file.write_text(scenario(workload, duration), encoding="utf-8")
        code = "import sys; from tailrace.cli import main; main()"
        command = [sys.executable, "-c", code, "run", str(file), "--out", str(out)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        size = sum(one.stat().st_size for one in out.rglob("*") if one.is_file())
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000, size / 1e6


def main() -> None:
    """A line for each workload and length."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--duration-ms", type=int, default=1000)
    parser.add_argument("--factors", type=int, nargs="+", default=[1, 5, 20])
    parser.add_argument("--growth", type=float, default=ROOM)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=list(WORKLOADS))
    given = parser.parse_args()
    print(f"{'workload':<14} {'length':>10} {'peak, MB':>9} {'directory, MB':>14}")
    has_grown = False
    for workload in given.workloads:
        found = []
        for factor in given.factors:
            duration = f"{given.duration_ms * factor}ms"
            # A process of its own, because the peak of children is that of all so far.
            command = [
                sys.executable,
                "-c",
                f"from long_memory import measured; print(*measured({workload!r}, {duration!r}))",
            ]
            said = subprocess.run(
                command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
            ).stdout
            peak, size = (float(word) for word in said.split())
            found.append((peak, size))
            print(f"{workload:<14} {duration:>10} {peak:9.1f} {size:14.2f}", flush=True)
        has_grown |= found[-1][0] > given.growth * found[-2][0]
    sys.exit(1 if has_grown else 0)


if __name__ == "__main__":
    main()
