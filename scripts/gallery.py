"""`make gallery`: a what-if page of each scenario in docs/gallery, beside it."""

import sys
from pathlib import Path

from tailrace.cli.whatif import write_whatif

GALLERY = Path(__file__).resolve().parent.parent / "docs" / "gallery"


def main() -> int:
    """Write all."""
    for scenario in sorted(GALLERY.glob("*.yaml")):
        write_whatif(
            [scenario], arms=[], assignments=None, scale=None, out=scenario.with_suffix(".html")
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
