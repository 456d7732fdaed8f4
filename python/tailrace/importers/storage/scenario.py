"""The scenario that a storage test becomes: devices, hosts at one switch, workloads of the kind
`storage`, arms."""

from dataclasses import dataclass, field
from typing import Any

from tailrace.importers.section import time
from tailrace.importers.whole import SWITCH, WholeScenario, Yaml
from tailrace.scenario.workloads.storage_protocols import PROTOCOLS

TARGET = "storage"
"""Host that has the devices, unless the protocol is `local`."""
RESERVED = (SWITCH, TARGET, "defaults")
"""Names that hosts of a file may not have."""
DEPTH_MAX = 1024
"""Largest depth of a job, and most jobs of an initiator."""
HOSTS_MIN = 2
LOCAL = "local"
PRESETS = ("sata-ssd", "nvme", "disk-7200", "memory")
PRESET_USUAL = "sata-ssd"


@dataclass
class Setting:
    """The user's settings of the environment, which the files do not name."""

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
class StorageScenario(WholeScenario):
    """A scenario with devices."""

    setting: Setting = field(default_factory=Setting)
    devices: dict[str, Yaml] = field(default_factory=dict)
    arms: dict[str, Yaml] = field(default_factory=dict)
    axes: dict[str, list[Any]] = field(default_factory=dict)
    """Axes of a sweep, whose values belong together."""
    warm_up_ps: int = 0
    paths: dict[str, str] = field(default_factory=dict)
    """Names of devices by their paths."""

    @property
    def lacks(self) -> str:
        return "no network and no drives: adapt `network` and `devices`"

    def data(self) -> Yaml:
        has_target = any("target" in keys for keys in self.workloads.values())
        hosts = [*self.hosts, TARGET] if has_target or len(self.hosts) < HOSTS_MIN else self.hosts
        found = super().data()
        experiment = found.pop("experiment")
        if self.warm_up_ps:
            experiment["warm_up"] = time(self.warm_up_ps)
        workloads = found.pop("workloads")
        found["network"]["topology"]["hosts"] = hosts
        found |= {"devices": self.devices, "workloads": workloads}
        if self.arms:
            found["arms"] = self.arms
        if self.axes:
            found["sweep"] = {"axes": self.axes, "combine": "paired"}
        return found | {"experiment": experiment}

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
        if name.startswith(("ram", "null", "pmem", "zram", "malloc"))
        or path.startswith("/dev/shm/")
        else PRESET_USUAL
    )


def differing(base: dict[str, Yaml], other: dict[str, Yaml]) -> Yaml:
    """Dotted paths and values that make the workloads `base` into `other`; the other ones are
    disabled."""
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
