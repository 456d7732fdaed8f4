"""Print where the time of a database's answers goes in a live run, from the logs of what entered
its switches.

`answer_times.py LOG..` with logs of `tailrace run --live --log-ingress`:
RUN/live/ingress/TRIAL/ingress.log. Medians by size of the answer: from the request to the first
frame, from there to the last one, and from the last one to the next request of the connection,
which contains the user's pause.
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from tailrace.errors import TailraceError
from tailrace.live.measure.ingress import Answer, answers
from tailrace.scenario.workloads.ports import POSTGRESQL

DIGITS = 2
"""Sizes are told apart by this many digits: what was sent again makes an answer a little larger."""
RATE_BYTES_MIN = 1_000_000
"""Of smaller answers the first frame, at which sending begins to count, is too large a part."""
HEAD = (
    f"{'size, B':>12} {'answers':>8} {'before, ms':>12} {'sending, ms':>12} {'after, ms':>12} "
    f"{'Mbit/s':>9}"
)


def main(arguments: list[str]) -> int:
    """Prints a table for each log."""
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write(str(__doc__))
        return 2
    for log in map(Path, arguments):
        print(f"{log}\n{HEAD}")
        by_size: dict[int, list[Answer]] = defaultdict(list)
        for answer in answers(log, POSTGRESQL):
            by_size[round(answer.size_bytes, DIGITS - len(str(answer.size_bytes)))].append(answer)
        for size, found in sorted(by_size.items()):
            print(row(size, found))
    return 0


def row(size: int, found: list[Answer]) -> str:
    """One line of the table, with a rate for large answers."""
    sending_ms = median(answer.sending_ms for answer in found)
    after = [answer.after_ms for answer in found if answer.after_ms is not None]
    figures = [
        median(answer.before_ms for answer in found),
        sending_ms,
        median(after) if after else float("nan"),
    ]
    rate = (
        f"{median(answer.size_bytes for answer in found) * 8e-3 / sending_ms:9.1f}"
        if size >= RATE_BYTES_MIN
        else ""
    )
    return (
        f"{size:>12} {len(found):>8} "
        + " ".join(f"{figure:12.3f}" for figure in figures)
        + f" {rate}"
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, TailraceError) as error:
        sys.exit(f"{error}")
