"""What uses the network."""
