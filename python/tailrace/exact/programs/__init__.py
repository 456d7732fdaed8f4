"""Real programs of exact runs: a module each."""
