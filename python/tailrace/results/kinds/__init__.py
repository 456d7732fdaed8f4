"""Additional results of single kinds of workloads: a module for each kind, and their registry."""
