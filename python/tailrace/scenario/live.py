"""What a live trial must keep to; beyond it the trial is listed as invalid and not averaged."""

from pydantic import Field

from tailrace.scenario.quantities import Part, Share, Time


class Live(Part):
    """Bounds of a live trial. A simulated one has no such errors, and does not look at them."""

    max_lateness: Time = 10**9
    """99.9th percentile of how late the switch acts; 1ms [K]: a quarter of usual queueing delays."""
    max_pacing_error: Share = 5 * 10**6
    """How far a busy port may be from its rate in the long run; 0.5% is what two busy neighbours are allowed to do."""
    max_steal: Share = 2 * 10**7
    """Time that the machine's hypervisor took away from all cores together."""
    min_idle: Share = 2 * 10**7
    """Least idle time of all cores together: programs on a machine without any wait for a core, not for the network."""
    max_generator_lag: Time = 2 * 10**9
    """How late the load generator begins a transaction on average; 2ms [K]: a scheduler's slice beside a busy core."""
    attempts: int = Field(default=3, ge=1, le=10)
    """How often a trial is run until the machine keeps to these bounds; all attempts are listed, one is averaged."""
