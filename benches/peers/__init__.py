"""Peers that the user has built, driven by drivers of our own, beside this simulator."""
