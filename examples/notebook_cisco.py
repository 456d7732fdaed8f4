# %% [markdown]
# # Five databases behind one port
# Cisco's white paper C11-738425 compares a plain queue with Dynamic Packet Prioritization (DPP) for five databases that
# answer one client. This notebook runs a small part of it and looks at the result in Python. Open it in any editor that
# knows `# %%` cells, or run it as a program: `python examples/notebook_cisco.py`.

# %%
import os
import tempfile
from pathlib import Path
from statistics import median

import tailrace

ROOT = Path(__file__).resolve().parent.parent
# The same rates as in the paper, with this share of its transactions: raise it for tighter intervals.
SCALE = float(os.environ.get("NOTEBOOK_SCALE", "0.01"))
RUN_DIR = Path(os.environ.get("NOTEBOOK_RUN_DIR") or Path(tempfile.mkdtemp()) / "cisco-dpp")

# %% [markdown]
# A run keeps its trials in a directory. The same call again takes them from there, so a notebook can be run as often as
# one likes.

# %%
result = tailrace.run(ROOT / "reproductions" / "cisco-dpp" / "scenario.yaml", scale=SCALE, out=RUN_DIR)
result  # noqa: B018  the last expression of a cell is what a notebook shows

# %% [markdown]
# As text, the same table that `tailrace run` prints. It says how sure one can be, and where trials are too few.

# %%
print(result)

# %% [markdown]
# ## Numbers
# `summary` is what `result.json` holds: plain dictionaries, units in the names.

# %%
for arm, outcome in result.summary["arms"].items():
    latency = outcome["workloads"]["XS"]["latency_ms"]
    print(f"{arm}: XS p50 {latency['p50']:.2f} ms, p99 {latency['p99']:.2f} ms of {latency['count']} transactions")

# %%
for effect in result.summary["comparisons"]:
    if effect["is_main"]:
        print(effect["words"])

# %% [markdown]
# ## Tables
# Tables speak Arrow's PyCapsule interface, so `polars.DataFrame(table)`, `pandas.DataFrame.from_arrow(table)`,
# `pyarrow.table(table)` and DuckDB take them as they are. Here plain Python is enough: how long did the queue towards
# the client get, and how long did the first and the last transactions of XS take?

# %%
queue = result.table("port_series")
print(queue)
for arm in result.summary["arms"]:
    rows = zip(queue.column("arm"), queue.column("queue_max_bytes"), strict=True)
    deepest = max(depth for name, depth in rows if name == arm)
    print(f"{arm}: at most {deepest / 1e6:.2f} MB waited")

# %%
transactions = result.table("transactions")
small = result.summary["workloads"].index("XS")
for arm in result.summary["arms"]:
    latencies_ms = [
        row["latency_ps"] / 1e9 for row in transactions.rows() if row["arm"] == arm and row["workload"] == small
    ]
    print(f"{arm}: median of {len(latencies_ms)} recorded transactions {median(latencies_ms):.2f} ms")

# %% [markdown]
# ## Files
# The report is one HTML file that can be sent to anybody; tables can be written as CSV or Parquet.

# %%
print(result.report_path)
print(queue.to_csv(RUN_DIR / "queue.csv"))
