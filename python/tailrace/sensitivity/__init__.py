"""Sensitivity of figures to assumptions: every assumption over its range, by screening and by
shares of variance."""
