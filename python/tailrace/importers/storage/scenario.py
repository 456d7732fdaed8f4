"""The scenario that a storage test becomes: devices, hosts at one switch, workloads of the kind `storage`, arms."""

import io
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML

from tailrace.errors import Problem, ScenarioError
from tailrace.importers.section import time
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.workloads.storage_protocols import PROTOCOLS

SWITCH = "switch"
TARGET = "storage"
"""Host that has the devices, unless the protocol is `local`."""
RESERVED = (SWITCH, TARGET, "defaults")
"""Names that hosts of a file may not have."""
DEPTH_MAX = 1024
"""Largest depth of a job, and most jobs of an initiator."""
LINK = {"rate": "10Gbit/s", "delay": "1us"}
"""Network of a file that names none."""
HOSTS_MIN = 2
LOCAL = "local"
PRESETS = ("sata-ssd", "nvme", "disk-7200", "memory")
PRESET_USUAL = "sata-ssd"

Yaml = dict[str, Any]


@dataclass
class Setting:
    """What a user says about the surroundings, which the files do not name."""

    protocol: str = LOCAL
    preset: str | None = None
    """Preset of every device; None: by the name of its file."""
    clients: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Whether every initiator has the device itself."""
        return self.protocol == LOCAL


@dataclass
class StorageScenario:
    """A whole scenario in the form of its file."""

    name: str
    setting: Setting
    hosts: list[str] = field(default_factory=list)
    devices: dict[str, Yaml] = field(default_factory=dict)
    workloads: dict[str, Yaml] = field(default_factory=dict)
    arms: dict[str, Yaml] = field(default_factory=dict)
    axes: dict[str, list[Any]] = field(default_factory=dict)
    """Axes of a sweep, whose values belong together."""
    duration_ps: int = 0
    warm_up_ps: int = 0
    paths: dict[str, str] = field(default_factory=dict)
    """Names of devices by their paths."""

    def data(self) -> Yaml:
        """The scenario as a mapping."""
        has_target = any("target" in keys for keys in self.workloads.values())
        hosts = [*self.hosts, TARGET] if has_target or len(self.hosts) < HOSTS_MIN else self.hosts
        experiment = {"duration": time(self.duration_ps)}
        if self.warm_up_ps:
            experiment["warm_up"] = time(self.warm_up_ps)
        found: Yaml = {
            "tailrace": 1,
            "name": self.name,
            "network": {"topology": {"kind": "star", "switch": SWITCH, "hosts": hosts}, "link": dict(LINK)},
            "devices": self.devices,
            "workloads": self.workloads,
        }
        if self.arms:
            found["arms"] = self.arms
        if self.axes:
            found["sweep"] = {"axes": self.axes, "combine": "paired"}
        return found | {"experiment": experiment}

    def text(self, source: str) -> str:
        """The scenario as YAML, with a comment that names its source."""
        buffer = io.StringIO()
        yaml = YAML()
        yaml.width = 120
        yaml.default_flow_style = False
        yaml.dump(self.data(), buffer)
        head = f"# Scenario from {source}. The file names no network and no drives: adapt `network` and `devices`."
        return f"{head}\n{buffer.getvalue()}"

    def check(self, file: str) -> None:
        """Raises `ScenarioError` if `check` would reject the scenario: an import writes none of those."""
        try:
            load_scenario(self.data())
        except ScenarioError as error:
            raise ScenarioError(
                [
                    Problem(file, 0, one.path, f"a scenario cannot contain this: {one.what}", one.hint)
                    for one in error.problems
                ]
            ) from None

    def add_device(self, name: str, path: str) -> str:
        """Name of the device for a file or drive; a preset by its name unless one is given."""
        self.devices.setdefault(name, {"preset": self.setting.preset or preset_of(path)})
        return name


def protocols() -> tuple[str, ...]:
    """Protocols of the kind `storage`."""
    return ("local", *PROTOCOLS)


def preset_of(path: str) -> str:
    """The preset that the name of a drive suggests."""
    name = path.rpartition("/")[2]
    if name.startswith("nvme"):
        return "nvme"
    return (
        "memory"
        if name.startswith(("ram", "null", "pmem", "zram", "malloc")) or path.startswith("/dev/shm/")
        else PRESET_USUAL
    )


def differing(base: dict[str, Yaml], other: dict[str, Yaml]) -> Yaml:
    """Dotted paths and values that make the workloads `base` into `other`; the other ones are disabled."""
    found: Yaml = {}
    for name, keys in base.items():
        own = other.get(name)
        if own is None:
            if keys.get("enabled", True):
                found[f"workloads.{name}.enabled"] = False
            if "start" in keys:  # a later start than the end of this arm would be refused
                found[f"workloads.{name}.start"] = "0s"
            continue
        if not keys.get("enabled", True):
            found[f"workloads.{name}.enabled"] = True
        for key in [*keys, *(key for key in own if key not in keys)]:
            if key != "enabled" and keys.get(key) != own.get(key):
                found[f"workloads.{name}.{key}"] = own.get(key)
    return found
