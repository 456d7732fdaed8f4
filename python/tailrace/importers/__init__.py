"""Vendor configurations and storage tests: reads them into a scenario, and writes configurations
from one."""
