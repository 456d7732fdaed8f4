"""One offline page on which a scenario is simulated again as its values are moved."""
