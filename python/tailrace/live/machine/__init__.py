"""Requirements, limits and host parameters of this machine."""
