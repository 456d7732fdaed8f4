"""Nodes, links and what a host is."""
