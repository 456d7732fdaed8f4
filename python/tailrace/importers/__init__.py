"""Vendors' configurations: read into the switch section of a scenario, and written from one."""
