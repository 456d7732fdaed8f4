"""Drives of this machine: what they are, and into which requests the block layer splits others. Nothing is written."""
