"""Colour and dash of an arm: 24 arms are distinguishable. Also the classes by which a page hides an
arm or a workload."""

COLOURS = 6
DASHES = 4
WORKLOAD_COLOURS = 8


def arm_class(index: int) -> str:
    """The classes of the arm at this position: six colours, four dashes for each, and its own."""
    return f"arm-{index % COLOURS} dash-{dash_of(index)} of-arm-{index}"


def dash_of(index: int) -> int:
    """Number of the dash of the arm at this position; 0 is solid."""
    return index // COLOURS % DASHES


def workload_class(index: int) -> str:
    """The classes of the workload at this position: its colour and its own."""
    return f"workload-{index % WORKLOAD_COLOURS} of-workload-{index}"
