"""Drives of this machine: what they are, how requests are split, and whether they are as fast as
their sheet says."""
