"""What people write: scenario files, their checks, and the way down to plans."""
