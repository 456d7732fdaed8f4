"""Large sweeps: more points than can be kept whole."""
