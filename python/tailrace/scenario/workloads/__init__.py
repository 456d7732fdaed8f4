"""Workloads: the traffic of a scenario."""
