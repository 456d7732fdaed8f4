"""Descriptions of frame handling by switches, ports and interfaces."""
