"""Bounds for live trials; a trial outside them is listed as invalid and excluded from averages."""

from pydantic import Field

from tailrace.scenario.text.quantities import Part, Share, Time


class Live(Part):
    """Bounds for live trials. The simulator has no such errors and ignores them."""

    max_delay_error: Share = 5 * 10**7
    """Mean delay that the lateness of the switch adds at a port, compared with the same frames on
    time: a share of the time in which the port's longest queue drains. 5% of a queue of 4 ms is 0.2
    ms.
    """
    max_delay_error_p99: Share = 25 * 10**7
    """As `mean_delay_error`, for the 99th percentile of the delay."""
    max_drop_error: Share = 10**6
    """Drops more or fewer than with the same frames on time: a share of the frames of the port."""
    max_core_wait: Share = 10**8
    """Share of their time that the users of a workload lose because its programs, and those of its
    server, are ready and wait for a core, or are stopped by a hypervisor. Completion times grow by
    about this share."""
    max_lateness: Time | None = None
    """99.9th percentile of the lateness of the switch. Default: lateness is reported, and judged by
    its effect."""
    max_pacing_error: Share = 5 * 10**6
    """Deviation of a busy port from its long-run rate; 0.5% allows for two busy neighbours."""
    max_steal: Share = 10**8
    """Steal time of any core; the part that delayed programs also counts in `max_core_wait`."""
    min_idle: Share = 0
    """Least idle time of all cores together; with 0%, only `max_core_wait` decides whether programs
    got enough cores.
    """
    max_generator_lag: Time = 2 * 10**9
    """Mean lateness of the load generator's transactions; 2ms [K]: a scheduler's time slice on a
    busy core."""
    max_start_skew: Time = 5 * 10**10
    """Time between the first requests of the first and of the last initiator of a workload of
    storage; 50ms [A]: two begin 5 to 38 ms apart [M].
    """
    attempts: int = Field(default=3, ge=1, le=10)
    """Attempts of a trial until it is within these bounds; all are listed, and one is averaged."""
