"""Benchmarks of a switch by the procedures of the IETF: RFC 2544, RFC 9004, MLRsearch."""
