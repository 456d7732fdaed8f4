"""One live trial: from a plan to an outcome, and whether it counts."""
