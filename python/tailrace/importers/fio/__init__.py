"""fio job files."""
