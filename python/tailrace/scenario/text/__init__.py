"""From characters to values: documents, units, distributions."""
