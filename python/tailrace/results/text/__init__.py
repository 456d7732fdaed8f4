"""Results as text: numbers, tables, the summary of a run."""
