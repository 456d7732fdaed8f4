"""Arms x trials: calibration, order, parallel execution, and the run directory."""
