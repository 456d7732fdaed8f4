"""Where the time of transactions went: parts by percentile band, the slowest ones, and whose frames
stood in queues."""
