"""From a scenario to its plan."""
