"""The real programs: how each is started, how one tells that it is ready, and what it says."""
