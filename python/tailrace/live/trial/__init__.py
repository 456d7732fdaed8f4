"""One live trial: from a plan to an outcome, and its validity."""
