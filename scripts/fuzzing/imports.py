"""`tailrace import`: it writes a scenario that `check` accepts, or the section of one, or
nothing."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from fuzzing.program import FindingError, answered
from tailrace.errors import ScenarioError
from tailrace.scenario.loading import load_scenario

SECTIONS = ("nxos", "sonic", "eos")
"""Sources that become the section of a switch."""
WHOLE = ("vdbench", "fio", "postgres", "flows")
"""Those that become a scenario."""
HOSTS = ("sender", "receiver")

Yaml = dict[str, Any]


def imported(file: Path, source: str) -> tuple[str, Yaml | None]:
    """What the program said, and the scenario that it wrote, around a section; None where it wrote
    none."""
    out = file.with_name("imported.yaml")
    out.unlink(missing_ok=True)
    said = answered(file, "import", source, str(file), "--out", str(out))
    if said.startswith("0") != out.exists():
        raise FindingError(
            f"import: exit code {said[0]}, and a file is {'' if out.exists() else 'not '}written"
        )
    if not out.exists():
        return said, None
    data: Yaml = YAML(typ="safe").load(out.read_text(encoding="utf-8"))
    scenario = around(data) if source in SECTIONS else data
    try:
        load_scenario(scenario)
    except ScenarioError as error:
        raise FindingError(f"import wrote what check rejects: {error.problems[0].what}") from None
    return said, scenario


def around(section: Yaml) -> Yaml:
    """A star around the switch of a section, with the neighbours that it names, and a stream
    through it."""
    ((switch, own),) = section["switches"].items()
    named = dict.fromkeys([*own.get("ports", {}), *own.get("port_mtu", {}), *HOSTS])
    return {
        "tailrace": 1,
        "name": "section",
        "network": {"topology": {"kind": "star", "switch": switch, "hosts": [*named]}},
        "workloads": {"bulk": {"kind": "stream", "source": HOSTS[0], "destination": HOSTS[1]}},
        "experiment": {"duration": "1s"},
        **section,
    }
