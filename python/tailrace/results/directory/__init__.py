"""The files of a run directory as objects: trials, tables, published figures."""
