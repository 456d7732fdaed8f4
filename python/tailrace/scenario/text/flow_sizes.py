"""Published flow-size distributions by name: `(size in bytes, cumulative share in percent)`.

The points are the published ones, as collected in the public simulator named with each. The
distribution is linear between two points, and starts at `0 bytes, 0 %` where its source does.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class FlowSizes:
    """A named distribution and its source."""

    points: tuple[tuple[int, float], ...]
    source: str


NAMED: dict[str, FlowSizes] = {
    "web-search": FlowSizes(
        points=(
            (0, 0),
            (10_000, 15),
            (20_000, 20),
            (30_000, 30),
            (50_000, 40),
            (80_000, 53),
            (200_000, 60),
            (1_000_000, 70),
            (2_000_000, 80),
            (5_000_000, 90),
            (10_000_000, 97),
            (30_000_000, 100),
        ),
        source="Alizadeh et al., DCTCP, SIGCOMM 2010 (web search cluster); "
        "points as in the HPCC simulator",
    ),
    "facebook-hadoop": FlowSizes(
        points=(
            (0, 0),
            (100, 1),
            (200, 2),
            (300, 5),
            (350, 15),
            (400, 20),
            (500, 30),
            (600, 40),
            (700, 50),
            (1_000, 60),
            (2_000, 67),
            (7_000, 70),
            (30_000, 72),
            (50_000, 82),
            (80_000, 87),
            (120_000, 90),
            (300_000, 95),
            (1_000_000, 97.5),
            (2_000_000, 99),
            (10_000_000, 100),
        ),
        source="Roy et al., SIGCOMM 2015 (Facebook Hadoop); points as in the HPCC simulator",
    ),
    "alibaba-storage": FlowSizes(
        points=(
            (0, 0),
            (4_000, 22.93),
            (8_000, 69.21),
            (16_000, 80.61),
            (32_000, 90.47),
            (64_000, 93.53),
            (128_000, 96.77),
            (256_000, 97.53),
            (2_000_000, 100),
        ),
        source="AliStorage2019, HPCC simulator (Li et al., HPCC, SIGCOMM 2019)",
    ),
    "vl2-data-mining": FlowSizes(
        points=(
            (0, 0),
            (180, 10),
            (216, 20),
            (560, 30),
            (900, 40),
            (1_100, 50),
            (1_870, 60),
            (3_160, 70),
            (10_000, 80),
            (400_000, 90),
            (3_160_000, 95),
            (100_000_000, 98),
            (1_000_000_000, 100),
        ),
        source="Greenberg et al., VL2, SIGCOMM 2009 (data mining cluster)",
    ),
    "facebook-key-value": FlowSizes(
        points=(
            (3, 28),
            (10, 32),
            (12, 44),
            (75, 50),
            (250, 75),
            (350, 90),
            (1_000, 96.5),
            (2_515, 98),
            (6_326, 99),
            (10_032, 99.5),
            (15_910, 99.7),
            (23_009, 99.92),
            (100_000, 99.999),
            (1_000_000, 100),
        ),
        source="Atikoglu et al., SIGMETRICS 2012 (Facebook key-value store); points as in "
        "TrafficGenerator",
    ),
}
