"""The exact engine: every host a real Linux kernel in virtual time, joined by the simulator's
network."""
