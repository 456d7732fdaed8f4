"""The common part of importers of storage tests (vdbench, fio): sources, loads and the resulting
scenario."""
