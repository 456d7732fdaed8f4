"""Lowers a scenario to its plan."""
