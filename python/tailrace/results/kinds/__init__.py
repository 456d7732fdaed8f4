"""What workloads of single kinds add to results: a module for each of these kinds, and the registry
of them."""
