"""Vendor configurations: reads them into the switch section of a scenario, and writes them from one."""
