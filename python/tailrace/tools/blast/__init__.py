"""Frames from a text file, sent by an interface: syntaxes, sizes, the order to the fabric program,
its answer."""
