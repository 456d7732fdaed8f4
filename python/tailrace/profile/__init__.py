"""The profile of a capture: what its traffic is like, as data, as tables and as text."""
