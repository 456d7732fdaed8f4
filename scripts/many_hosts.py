"""How long a lab of many hosts takes to make and to take down, and a ping in it. As root:
many_hosts.py [HOSTS ...]."""

import sys
import tempfile
import time
from pathlib import Path

from tailrace.live.lab.lab import Lab
from tailrace.live.measure import probe
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower

HOSTS = (8, 64, 256)


def main() -> None:
    """A line for each number of hosts."""
    for count in [int(word) for word in sys.argv[1:]] or HOSTS:
        with tempfile.TemporaryDirectory(prefix="tailrace-many-hosts-") as folder:
            print(measured(count, Path(folder)), flush=True)


def measured(count: int, folder: Path) -> str:
    """What a star of so many hosts costs."""
    names = [f"h{number}" for number in range(count)]
    scenario = load_scenario(
        {
            "tailrace": 1,
            "name": "many-hosts",
            "network": {
                "topology": {"kind": "star", "hosts": names},
                "link": {"rate": "100Mbit/s"},
            },
            "workloads": {"bulk": {"kind": "stream", "source": names[1], "destination": names[0]}},
            "experiment": {"duration": "10s"},
        }
    ).scenario
    begun_s = time.monotonic()
    with Lab(canonical_json(lower(scenario, "base", 1)), folder / "lab") as lab:
        up_s = time.monotonic() - begun_s
        trip = probe.round_trip_us(lab, names[0], names[-1], lab.addresses[names[-1]])
        begun_s = time.monotonic()
    down_s = time.monotonic() - begun_s
    return (
        f"{count} hosts: made in {up_s:.2f} s, gone after {down_s:.2f} s, ping "
        f"{trip.mean or 0:.0f} us"
    )


if __name__ == "__main__":
    main()
