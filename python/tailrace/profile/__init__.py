"""The profile of a capture: properties of its traffic as data, as tables and as text."""
