"""Large sweeps: the figures of each trial in a line, summarised without keeping them."""
