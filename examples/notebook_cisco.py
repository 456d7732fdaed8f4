# %% [markdown]
# # Five databases behind one port
# Cisco's white paper C11-738425 compares a plain queue with Dynamic Packet Prioritization (DPP) for
# five databases that answer one client. This notebook runs a small part of it and looks at the
# result in Python. Open it in any editor that knows `# %%` cells, or run it as a program: `python
# examples/notebook_cisco.py`.

# %%
import os
import tempfile
from pathlib import Path
from statistics import median

import tailrace

ROOT = Path(__file__).resolve().parent.parent
# The same rates as in the paper, with this share of its transactions: raise it for tighter
# intervals.
SCALE = float(os.environ.get("NOTEBOOK_SCALE", "0.01"))
RUN_DIR = Path(os.environ.get("NOTEBOOK_RUN_DIR") or Path(tempfile.mkdtemp()) / "cisco-dpp")

# %% [markdown] A run keeps its trials in a directory. The same call again takes them from there, so
# a notebook can be run as often as one likes.

# %%
result = tailrace.run(
    ROOT / "reproductions" / "cisco-dpp" / "scenario.yaml", scale=SCALE, out=RUN_DIR
)
result  # noqa: B018  the last expression of a cell is what a notebook shows

# %% [markdown] As text, the same table that `tailrace run` prints. It says how sure one can be, and
# where trials are too few.

# %%
print(result)

# %% [markdown]
# ## Numbers
# Latencies in seconds, with an interval over the trials where there are enough of them.

# %%
for arm in result.summary.arms:
    latency = result.latency(arm, "XS")
    print(
        f"{arm}: XS p50 {latency.p50_s * 1e3:.2f} ms, p99 {latency.p99_s * 1e3:.2f} ms of "
        f"{latency.count} transactions"
    )

# %% [markdown]
# What differs from the baseline is a table; `summary` is what `result.json` holds.

# %%
for effect in result.compare().where(is_main=True).rows():
    print(effect["words"])

# %% [markdown]
# ## Tables
# Arms, workloads and ports have their names, and times are in seconds. `.to_pandas()` and
# `.to_polars()` make data frames where these libraries are installed; pyarrow and DuckDB take a
# table as it is (Arrow PyCapsule interface). Here plain Python is enough: how long did the queue
# towards the client get, and how long did the recorded transactions of XS take?

# %%
queue = result.table("port_series")
print(queue)
for arm in result.summary.arms:
    deepest = max(queue.where(arm=arm).column("queue_max_bytes"))
    print(f"{arm}: at most {deepest / 1e6:.2f} MB waited")

# %%
transactions = result.table("transactions")
for arm in result.summary.arms:
    latencies_s = transactions.where(arm=arm, workload="XS").column("latency_s")
    print(
        f"{arm}: median of {len(latencies_s)} recorded transactions "
        f"{median(latencies_s) * 1e3:.2f} ms"
    )

# %% [markdown]
# ## Files
# The report is one HTML file that can be sent to anybody; tables can be written as CSV or Parquet.

# %%
print(result.report_path)
print(queue.to_csv(RUN_DIR / "queue.csv"))
