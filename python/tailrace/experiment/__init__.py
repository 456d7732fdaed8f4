"""Arms x trials: calibration, order, running in parallel, and the run directory that they leave."""
