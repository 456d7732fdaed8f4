"""Data for the scripts of a page."""

import json

from markupsafe import Markup


def script_json(value: object) -> Markup:
    """A value as JSON for the inside of a `<script>` element.

    Without `<`, no text of a user ends the element, or begins a comment in which its end is not
    seen: after `<!--<script>` it is not (script data double escaped state, HTML Living Standard
    13.2.5.27).
    """
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))
