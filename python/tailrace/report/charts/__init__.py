"""One module per chart: each renders parts of a summary as markup."""
