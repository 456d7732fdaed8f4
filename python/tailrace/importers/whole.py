"""A whole scenario in the form of its file: hosts at one switch, workloads, duration."""

import io
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML

from tailrace.errors import Problem, ScenarioError
from tailrace.importers.section import time
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.text.yaml import yaml_comment

SWITCH = "switch"
LINK = {"rate": "10Gbit/s", "delay": "1us"}
"""Network of a file that names none."""

Yaml = dict[str, Any]


@dataclass
class WholeScenario:
    """The output of importers of anything but switches."""

    name: str
    hosts: list[str] = field(default_factory=list)
    workloads: dict[str, Yaml] = field(default_factory=dict)
    duration_ps: int = 0
    link: Yaml = field(default_factory=lambda: dict(LINK))

    @property
    def lacks(self) -> str:
        """Properties that the source does not state."""
        return "no network: adapt `network`"

    def data(self) -> Yaml:
        """The scenario as a mapping."""
        return {
            "tailrace": 1,
            "name": self.name,
            "network": {
                "topology": {"kind": "star", "switch": SWITCH, "hosts": self.hosts},
                "link": self.link,
            },
            "workloads": self.workloads,
            "experiment": {"duration": time(self.duration_ps)},
        }

    def text(self, source: str) -> str:
        """The scenario as YAML, with a comment that names its source."""
        buffer = io.StringIO()
        yaml = YAML()
        yaml.width = 120
        yaml.default_flow_style = False
        yaml.dump(self.data(), buffer)
        return f"{yaml_comment(f'Scenario from {source}. The file names {self.lacks}.')}\n{buffer.getvalue()}"  # noqa: E501

    def check(self, file: str) -> None:
        """Raises `ScenarioError` if `check` would reject the scenario: an import writes none of
        those."""
        try:
            load_scenario(self.data())
        except ScenarioError as error:
            raise ScenarioError(
                [
                    Problem(
                        file, 0, one.path, f"a scenario cannot contain this: {one.what}", one.hint
                    )
                    for one in error.problems
                ]
            ) from None
