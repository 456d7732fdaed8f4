"""Named random streams: each resampling has its own."""

import hashlib
import random


def named_stream(seed: int, address: str) -> random.Random:
    """A random stream that depends only on `seed` and `address` (such as `fifo/XS/completion_s`).

    Adding a statistic to a report therefore does not change the intervals of the others.
    """
    digest = hashlib.sha256(f"{seed}/{address}".encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "little"))
