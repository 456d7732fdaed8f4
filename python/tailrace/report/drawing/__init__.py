"""Common parts of all drawings: marks, scales, colours, series, and their data."""
