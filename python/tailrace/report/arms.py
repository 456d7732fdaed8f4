"""Colour and dash of an arm: 24 arms can be told apart."""

COLOURS = 6
DASHES = 4


def arm_class(index: int) -> str:
    """The classes of the arm at this position: six colours, and four dashes for each."""
    return f"arm-{index % COLOURS} dash-{index // COLOURS % DASHES}"
