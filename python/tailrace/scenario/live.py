"""What a live trial must keep to; beyond it the trial is listed as invalid and not averaged."""

from pydantic import Field

from tailrace.scenario.text.quantities import Part, Share, Time


class Live(Part):
    """Bounds of a live trial. A simulated one has no such errors, and does not look at them."""

    max_delay_error: Share = 5 * 10**7
    """Mean delay that the lateness of the switch adds at a port, against the same frames in time: a share of the time
    in which the port's longest queue drains. 5% of a queue of 4 ms are 0.2 ms."""
    max_delay_error_p99: Share = 25 * 10**7
    """The same for the 99th percentile of the delay."""
    max_drop_error: Share = 10**6
    """Drops more or fewer than with the same frames in time: a share of the frames of the port."""
    max_core_wait: Share = 10**8
    """Share of their time that the users of a workload lose because its programs, and those of its server, are ready
    and wait for a core, or are stopped by a hypervisor. Completion times were seen to grow by about this share."""
    max_lateness: Time | None = None
    """99.9th percentile of how late the switch acts. Left out: lateness is reported, and judged by what it did."""
    max_pacing_error: Share = 5 * 10**6
    """How far a busy port may be from its rate in the long run; 0.5% is what two busy neighbours are allowed to do."""
    max_steal: Share = 10**8
    """Time that the machine's hypervisor took from any core; what programs lost by it counts in `max_core_wait`."""
    min_idle: Share = 0
    """Least idle time of all cores together; 0%: `max_core_wait` says whether programs got a core."""
    max_generator_lag: Time = 2 * 10**9
    """How late the load generator begins a transaction on average; 2ms [K]: a scheduler's slice beside a busy core."""
    attempts: int = Field(default=3, ge=1, le=10)
    """How often a trial is run until the machine keeps to these bounds; all attempts are listed, one is averaged."""
