"""How much one page shows: it stays readable, and below a megabyte. What is left out stands in the tables."""

# Beyond, the arms of a sweep would hide each other in one drawing.
ARMS_DRAWN_MAX = 8
# A panel for each workload.
PANELS_MAX = 12
# Queues of one arm in the first table, hosts of one arm in theirs.
QUEUES_MAX = 8
HOSTS_MAX = 12
