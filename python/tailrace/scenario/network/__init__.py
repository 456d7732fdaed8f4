"""Nodes, links and host settings."""
