"""`make bench-guard`: refuses more instructions or cache misses per packet-hop in fat trees of 128
and 1024 hosts.

guard.py            count, and compare with guard.json
guard.py --write    count, and write guard.json: after a change that is worth its cost

Both counts are those of callgrind in the loop of events, with the caches of `sizes.py`: they do not
depend on the processor or on its load.
"""

import json
import sys
import tempfile
from pathlib import Path

import instructions
import sizes

STORED = Path(__file__).resolve().with_name("guard.json")
#: By size of the fat tree: what was counted.
Counts = dict[str, dict[str, float]]
#: A compiler moves instructions by a per cent or two; where things lie in memory moves misses more.
MARGINS = {"instructions_per_hop": 0.03, "misses_per_hop": 0.10}


def main(arguments: list[str]) -> int:
    """Counts. Exit code 1 for a change that costs too much."""
    if not instructions.is_possible():
        print("guard.py counts with callgrind: install valgrind", file=sys.stderr)
        return 2
    instructions.build()
    with tempfile.TemporaryDirectory() as folder:
        counted = {str(size.hosts): sizes.counted(size, Path(folder)) for size in sizes.SIZES[:2]}
    print(json.dumps(counted, indent=2))
    if "--write" in arguments:
        STORED.write_text(json.dumps(counted, indent=2) + "\n")
        return 0
    excesses = beyond(counted, json.loads(STORED.read_text()))
    print("\n".join(excesses), file=sys.stderr)
    return 1 if excesses else 0


def beyond(counted: Counts, stored: Counts) -> list[str]:
    """What is more than stored by more than its margin."""
    return [
        f"{hosts} hosts: {key} is {counted[hosts][key]}, more than {before} by more than "
        f"{100 * MARGINS[key]:.0f} %"
        for hosts, row in stored.items()
        for key, before in row.items()
        if counted[hosts][key] > before * (1 + MARGINS[key])
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
