"""Named random streams: every resampling draws from a separate stream."""

import hashlib
import random


def named_stream(seed: int, address: str) -> random.Random:
    """A random stream that depends on nothing but `seed` and `address` (such as `fifo/XS/completion_s`).

    Adding one statistic to a report therefore leaves the intervals of all others as they were.
    """
    digest = hashlib.sha256(f"{seed}/{address}".encode()).digest()
    return random.Random(int.from_bytes(digest[:16], "little"))
