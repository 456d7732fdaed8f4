"""Logs of PostgreSQL with the duration of every statement, and pg_stat_statements."""
