"""A scenario from a capture: hosts, links and workloads, each with how well it fits."""
