"""The profile of a capture as one offline page."""

from pathlib import Path
from typing import Any

from tailrace.files import write_text
from tailrace.profile.findings import findings
from tailrace.profile.panels import class_panels, flow_panels, frame_panels, tcp_panels
from tailrace.profile.text import PROTOCOLS
from tailrace.profile.words import ns_text
from tailrace.report.page import asset, environment
from tailrace.results.format.numbers import bytes_text, rate_text

LARGEST_MAX = 10
SERVICES_MAX = 10


def write_page(data: dict[str, Any], path: Path) -> None:
    """Writes it, whole or not at all."""
    write_text(path, render(data))


def render(data: dict[str, Any]) -> str:
    """The page as text."""
    found = findings(data)
    sections = [
        ("frames", "Frames and rates", frame_panels(data) if data["rates"]["all"] else []),
        ("flow-sizes", "Flows", flow_panels(data)),
        ("tcp", "Round trips and requests", tcp_panels(data)),
        ("classes", "Protocols and classes", class_panels(data)),
    ]
    context = {
        "data": data,
        "capture": data["capture"],
        "observed": data.get("observed"),
        "findings": found,
        "sections": [(key, title, panels) for key, title, panels in sections if panels],
        "largest": data["flow_summary"]["largest"][:LARGEST_MAX],
        "services": [one for one in data["exchanges"]["services"] if one["exchanges"]][
            :SERVICES_MAX
        ],
        "protocols": PROTOCOLS,
        "span": ns_text,
        "size": bytes_text,
        "rate": rate_text,
        "theme": asset("theme.css"),
    }
    return environment().get_template("profile.html.j2").render(context)
