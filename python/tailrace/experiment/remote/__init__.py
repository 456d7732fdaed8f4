"""Trials on other machines: a worker gets a plan and gives an outcome."""
