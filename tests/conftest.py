"""Which tests are collected: those with real programs only where `scripts/live_checks.py` runs them."""

import os

collect_ignore = [] if os.environ.get("TAILRACE_LIVE_TESTS") == "1" else ["live"]
