"""Measurements of hosts, connections and cores, and their tables."""
