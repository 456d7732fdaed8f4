"""The common part of real programs in live and exact runs: commands, settings, templates, draws,
and log formats."""
