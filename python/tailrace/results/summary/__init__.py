"""The summary of a run as types: the content of `result.json`, and the source of every text, table,
page and program."""
