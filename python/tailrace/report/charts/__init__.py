"""One file per drawing: each takes parts of a summary and gives markup."""
