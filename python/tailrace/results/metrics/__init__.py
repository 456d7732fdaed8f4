"""Metrics of trials and arms."""
