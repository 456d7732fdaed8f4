"""Kinds of workloads that are fitted, one module for each; `deciding` chooses among them."""
