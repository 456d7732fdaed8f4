"""What the importers of storage tests (vdbench, fio) have in common: sources, loads and the
scenario they become."""
