"""Advice: candidates that can matter for a goal, each simulated, ranked, with the configuration to
apply."""
