"""A scenario from a capture: hosts, links and workloads of fitted kinds, each with how well it
fits."""
