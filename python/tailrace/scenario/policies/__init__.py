"""Switches and the queueing policies of their ports."""
