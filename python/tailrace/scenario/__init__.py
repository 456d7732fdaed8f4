"""Scenario files, their checks, and their lowering to plans."""
