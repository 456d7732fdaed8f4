"""Probes of paths: the largest packet that a path carries, and where a larger one ends."""
