"""The sections of the page: each takes a summary and gives values and drawings for the template."""
