"""Flow lists of ns-3's HPCC family, and connection matrices of htsim."""
