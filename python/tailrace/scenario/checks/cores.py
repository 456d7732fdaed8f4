"""Words about the number of a core."""


def absent_core(core: int, cores: int, owner: str) -> tuple[str, str]:
    """What is wrong with the number of a core that does not exist, and what to write instead."""
    if cores == 1:
        return f"there is no core {core}: {owner} has 1 core", "write 0"
    return f"there is no core {core}: {owner} has {cores} cores", f"write a number from 0 to {cores - 1}"
