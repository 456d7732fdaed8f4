"""The README's picture of a what-if page: that of docs/gallery/buffers.yaml with a value moved, in
Chromium.

`whatif_picture.py` writes docs/figures/what-if.png and needs Chromium.
"""

import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from browser import Browser  # noqa: E402  the tests' own
from tailrace.cli.whatif import write_whatif  # noqa: E402  as above

PICTURE = ROOT / "docs" / "figures" / "what-if.png"
MOVED = "whatif.move('policies.deep.queues.all.limit', 1)"
LIMIT_S = 300
CLIP = {"x": 0, "y": 0, "width": 1280, "height": 900, "scale": 1}


def main() -> int:
    """Take it when every interval is small."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        write_whatif(
            [ROOT / "docs" / "gallery" / "buffers.yaml"],
            arms=[],
            assignments=None,
            scale=None,
            out=page,
        )
        with Browser(page, Path(folder)) as browser:
            done = "globalThis.whatif && whatif.isIdle() && whatif.say().startsWith('Done')"
            browser.wait(done, LIMIT_S)
            browser.eval(MOVED)
            browser.wait(
                f"document.getElementById('table').textContent.includes('before') && {done}",
                LIMIT_S,
            )
            taken = browser.call("Page.captureScreenshot", format="png", clip=CLIP)
    PICTURE.write_bytes(base64.b64decode(taken["data"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
