"""The real programs, one module each: a module in this package is registered. No other code names a
program."""
