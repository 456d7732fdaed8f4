"""Timelines of single transactions (`docs/models/trace.md`): chosen, simulated once more, and
written as a Perfetto trace and as a capture.
"""
