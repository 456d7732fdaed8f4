"""What this machine has and lacks, how fast it is, and what its hosts cost."""
