"""What switches, ports and interfaces do with frames, in words."""
