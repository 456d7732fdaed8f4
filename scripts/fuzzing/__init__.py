"""Fuzzing of every format that is read: what is tried (`formats`), how inputs are made
(`mutations`), and by whom."""
