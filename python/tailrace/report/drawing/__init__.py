"""What every drawing is made of: marks, scales, colours, series, and the data that it carries."""
