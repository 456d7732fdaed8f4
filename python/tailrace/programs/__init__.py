"""What live and exact runs share of real programs: commands, settings, templates, draws, and what
their logs say."""
