"""Tools beside scenarios: a switch, a path or a drive is measured, and frames of a file are sent.

They use labs and the simulator as other packages offer them, and nothing but the command line uses
these tools.
"""
