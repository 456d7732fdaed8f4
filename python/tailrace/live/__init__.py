"""The live engine: the same plans with real programs, on hosts that the fabric makes and joins."""
