"""Curves over the points of a sweep, as data, files and text."""
