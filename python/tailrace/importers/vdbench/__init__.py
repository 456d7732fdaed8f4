"""vdbench parameter files."""
