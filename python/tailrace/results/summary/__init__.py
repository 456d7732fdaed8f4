"""The summary of a run as types: what `result.json` holds, and what every text, table, page and
program reads."""
