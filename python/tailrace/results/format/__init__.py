"""How numbers and columns are written, wherever they stand."""
