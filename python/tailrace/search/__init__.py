"""Searches a scenario's values for the smallest or largest ones that keep a goal."""
