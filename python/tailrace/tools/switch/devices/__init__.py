"""What can be measured: simulated switches, and switches between network namespaces."""
