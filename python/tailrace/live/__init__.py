"""The live engine: runs the same plans with real programs, on hosts that the fabric creates and
joins."""
