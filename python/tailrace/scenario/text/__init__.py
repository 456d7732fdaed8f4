"""Parsing of documents, units and distributions."""
