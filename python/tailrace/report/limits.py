"""Limits of one page, which keep it readable and below a megabyte. The tables contain what is
omitted."""

# Beyond, the arms of a sweep would hide each other in one drawing.
ARMS_DRAWN_MAX = 8
# A panel for each workload.
PANELS_MAX = 12
# Panels of one section that stand open; the others are folded.
PANELS_OPEN_MAX = 1
# Small charts of a sweep that stand open.
CURVES_OPEN_MAX = 4
# Bars of completion times that stand open.
BARS_OPEN_MAX = 24
# Arms in tables, and pairs of arm and workload there.
ARMS_MAX = 48
PAIRS_MAX = 240
# Expectations in their table, those that failed first.
EXPECTATIONS_MAX = 200
# Comparisons up to which all metrics are tabulated; beyond, what workloads are judged by.
EFFECTS_MAX = 600
# Switches of one arm that dropped frames before any queue.
SWITCHES_MAX = 24
# Trials in the table of digests.
TRIALS_MAX = 500
# Queues of one arm in the first table, hosts of one arm in theirs.
QUEUES_MAX = 8
# A network with no more ports that carried anything has them in the tables of queues.
PORTS_FEW_MAX = 48
# Ports in the list that is searched, of all arms together: about 30 bytes each.
PORTS_LISTED_MAX = 20_000
# Ports of each arm that stand there without scripts.
PORTS_TOP = 10
# Arms at points of a sweep whose ports are listed, and ports of each that stand there without
# scripts.
PORT_LISTS_MAX = 40
PORTS_TOP_OF_POINT = 3
HOSTS_MAX = 12
# Sentences of one kind about why something is slow.
WHY_MAX = 16
# Trials whose tables are linked.
LINKED_MAX = 100
