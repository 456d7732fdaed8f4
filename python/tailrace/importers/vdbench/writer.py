"""Workloads of one run: one for each workload definition and each group of devices that it uses."""

from collections.abc import Collection
from dataclasses import dataclass, field
from fractions import Fraction

from tailrace.errors import few
from tailrace.importers.section import size
from tailrace.importers.storage.scenario import (
    DEPTH_MAX,
    RESERVED,
    TARGET,
    StorageScenario,
    preset_of,
)
from tailrace.importers.storage.source import Findings, Location
from tailrace.importers.storage.values import (
    SECTOR_BYTES,
    access_of,
    block_of,
    exponential_gap,
    gap,
    name_of,
    plain,
)
from tailrace.importers.vdbench.devices import Device
from tailrace.importers.vdbench.runs import Combination, Run
from tailrace.importers.vdbench.workloads import AT_END, Load
from tailrace.importers.whole import Yaml

NAMED_MAX = 3
"""Workloads that a remark names."""


@dataclass
class Group:
    """Devices with the same settings, each in hosts of its own, which one workload uses."""

    device: Device
    hosts: list[str]
    members: list[str]
    hosts_each: int
    """Hosts of each device, which share its threads."""


@dataclass
class Writer:
    """Writes workloads: one for each workload definition and each group of devices."""

    scenario: StorageScenario
    loads: dict[str, Load]
    devices: dict[str, Device]
    findings: Findings
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names of workloads by workload definition and device."""
    host_names: dict[str, str] = field(default_factory=dict)
    device_names: dict[str, str] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)
    """The use of each device in the scenario."""

    def name_hosts(self, hosts: list[str]) -> None:
        """Valid names of the hosts."""
        for host in hosts:
            self.host_names[host] = name_of(host, "host", [*RESERVED, *self.host_names.values()])
        self.scenario.hosts = list(self.host_names.values())

    def workloads(self, run: Run, combination: Combination) -> dict[str, Yaml]:
        """All workloads of one run with one value of each loop."""
        loads = [self.loads[name] for name in run.loads]
        shares = self._shares(loads, run)
        users = self._users(loads, run)
        found: dict[str, Yaml] = {}
        for load, share in zip(loads, shares, strict=True):
            for group in self._groups(load, run, combination):
                keys = self._workload(run, combination, load, share, group, users)
                found[self._name(load, group)] = keys
        return found

    def _devices_of(self, load: Load, run: Run) -> list[Device]:
        names = load.devices or tuple(run.devices or self.devices)
        if run.devices is not None and load.devices:
            names = tuple(run.devices)
        return [self.devices[name] for name in names]

    def _active_hosts(self, load: Load, device: Device, combination: Combination) -> list[str]:
        """Hosts that run the workload on a device. Only one does if it is sequential
        (RD_entry.java, line 1813)."""
        hosts = self._hosts_of(load, device)
        if len(hosts) > 1 and load.streams == 1 and _seek_percent(load, combination) <= 0:
            self.findings.assume(
                "a sequential workload of a device runs on one of its hosts, as in vdbench"
            )
            return hosts[:1]
        return hosts

    def _hosts_of(self, load: Load, device: Device) -> list[str]:
        return [host for host in device.hosts if load.hosts is None or host in load.hosts]

    def _groups(self, load: Load, run: Run, combination: Combination) -> list[Group]:
        """Devices of the workload; those of different hosts with equal settings are one, if each
        host has its own."""
        groups: list[Group] = []
        for device in self._devices_of(load, run):
            hosts = self._active_hosts(load, device, combination)
            if not hosts:
                continue
            alike = (one for one in groups if self._is_alike(one, device, hosts))
            group = next(alike, None) if self.scenario.setting.is_local else None
            if group is None:
                groups.append(Group(device, hosts, [device.name], len(hosts)))
            else:
                group.hosts += hosts
                group.members.append(device.name)
        for group in groups:
            self._remark_device(group)
        if not groups:
            words = "no host of this workload definition has one of its devices"
            self.findings.say(load.location, f"wd={load.name}", "contradiction", words)
        return groups

    def _is_alike(self, group: Group, device: Device, hosts: list[str]) -> bool:
        own = group.device
        same = (
            own.threads,
            own.size_bytes,
            own.range_percent,
            preset_of(own.lun),
            group.hosts_each,
        )
        return set(hosts).isdisjoint(group.hosts) and same == (
            device.threads,
            device.size_bytes,
            device.range_percent,
            preset_of(device.lun),
            len(hosts),
        )

    def _remark_device(self, group: Group) -> None:
        name = self.device_names.get(group.device.name)
        if name is None:
            name = name_of(group.device.name, "device", self.scenario.devices)
            self.device_names[group.device.name] = self.scenario.add_device(name, group.device.lun)
        for member in group.members:
            self.uses[member] = f"devices.{name}" + (
                ", one in each host" if len(group.members) > 1 else ""
            )

    def _name(self, load: Load, group: Group) -> str:
        key = (load.name, group.device.name)
        if key not in self.names:
            is_single = (
                len(self.devices) == 1
                or len(load.devices) == 1
                or len(group.members) == len(self.devices)
            )
            text = load.name if is_single else f"{load.name}-{group.device.name}"
            self.names[key] = name_of(text, "workload", self.names.values())
        return self.names[key]

    def _shares(self, loads: list[Load], run: Run) -> list[Fraction]:
        """Share of the rate of each workload without a rate of its own: its skew, or an equal part
        of the rest; a skew of zero is none (HandleSkew.java)."""
        sharing = [one for one in loads if one.rate_per_s is None]
        stated = sum((one.skew_percent or Fraction(0) for one in sharing), Fraction(0))
        silent = [one for one in sharing if not one.skew_percent]
        if stated > 100 or (sharing and not silent and stated != 100):
            what = f"the skew of its workloads adds up to {float(stated):g}, not 100"
            self.findings.fault(
                run.location,
                f"rd={run.name}",
                what,
                "leave skew out of one workload, which gets the rest",
            )
            return [Fraction(0)] * len(loads)
        rest = (100 - stated) / len(silent) if silent else Fraction(0)
        return [
            (one.skew_percent or rest) / 100 if one.rate_per_s is None else Fraction(0)
            for one in loads
        ]

    def _users(self, loads: list[Load], run: Run) -> dict[str, int]:
        """Number of workloads that share the threads of each device."""
        found: dict[str, int] = {}
        for load in loads:
            for device in self._devices_of(load, run):
                found[device.name] = found.get(device.name, 0) + 1
        return found

    def _workload(
        self,
        run: Run,
        combination: Combination,
        load: Load,
        share: Fraction,
        group: Group,
        users: dict[str, int],
    ) -> Yaml:
        setting, device = self.scenario.setting, group.device
        keys: Yaml = {
            "kind": "storage",
            "initiators": [self.host_names[host] for host in group.hosts],
        }
        if not setting.is_local:
            keys["target"] = TARGET
        keys |= {"device": self.device_names[device.name], "protocol": setting.protocol}
        read = load.read_percent if combination.read_percent is None else combination.read_percent
        seek = _seek_percent(load, combination)
        block = (
            load.block
            if combination.block_bytes is None
            else ((combination.block_bytes, Fraction(1)),)
        )
        keys |= {"read": plain(read), "access": access_of(seek), "block": block_of(block)}
        keys |= self._depth(combination, load, group, users.get(device.name, 1))
        least = max(size_bytes for size_bytes, _ in block) * keys.get("jobs", 1)
        keys |= self._area(load, device, least, at_end=seek == AT_END)
        return keys | self._arrivals(run, combination, load, share)

    def _depth(self, combination: Combination, load: Load, group: Group, users: int) -> Yaml:
        """The threads of a device are those of all its hosts and workloads together.

        RD_entry.java, `spreadSdThreadsAcrossSlaves`: they go round the hosts.
        """
        device = group.device
        threads, parts = combination.threads or device.threads, users * group.hosts_each
        if users > 1:
            words = (
                f"{users} workloads share the threads of a device: each has an equal part of "
                "them, at least one"
            )
            self.findings.assume(words)
        if group.hosts_each > 1:
            words = (
                f"{group.hosts_each} hosts share the threads of a device: each has an equal "
                "part of them, at least one"
            )
            self.findings.assume(words)
        depth = max(1, threads // parts)
        if depth > DEPTH_MAX:
            self.findings.say(
                device.location,
                f"sd={device.name}",
                "not-modelled",
                f"a depth of at most {DEPTH_MAX}",
            )
            depth = DEPTH_MAX
        if load.streams == 1:
            return {"depth": depth}
        return {"depth": max(1, depth // load.streams), "jobs": load.streams}

    def _area(self, load: Load, device: Device, least: int, *, at_end: bool) -> Yaml:
        if device.size_bytes is None:
            if load.range_percent or device.range_percent:
                self.findings.assume(
                    "a range of a device of unknown size is taken as the whole of it"
                )
            return {}
        low, high = load.range_percent or device.range_percent or (Fraction(0), Fraction(100))
        sectors = max(1, int(device.size_bytes * (high - low) / 100) // SECTOR_BYTES)
        if sectors * SECTOR_BYTES < least:
            words = f"the area has a block of each stream: {least} bytes"
            self.findings.say(device.location, f"sd={device.name}", "assumed", words)
        area = size(max(sectors * SECTOR_BYTES, least))
        first = int(device.size_bytes * low / 100) // SECTOR_BYTES * SECTOR_BYTES
        offset = {"offset": size(first)} if first else {}
        return offset | {"size": area} | ({"bytes": area} if at_end else {})

    def _arrivals(self, run: Run, combination: Combination, load: Load, share: Fraction) -> Yaml:
        """Arrivals of one initiator: its part of the rate of the workload, which all devices and
        hosts share."""
        devices = self._devices_of(load, run)
        parts = sum(len(self._active_hosts(load, device, combination)) for device in devices)
        own, whole = load.rate_per_s, combination.rate_per_s
        if own is None and whole is None:
            if load.skew_percent and len(run.loads) > 1:
                words = (
                    "with iorate=max, workloads are not held to their skew: each is as fast as "
                    "its depth allows"
                )
                self.findings.say(run.location, f"rd={run.name}", "not-modelled", words)
            return {}
        others = sum(
            (self.loads[name].rate_per_s or Fraction(0) for name in run.loads), Fraction(0)
        )
        rate = own if own is not None else max(Fraction(0), (whole or Fraction(0)) - others) * share
        if not rate:
            words = "nothing of the rate of the run is left for this workload"
            self.findings.say(load.location, f"wd={load.name}", "contradiction", words)
            return {"enabled": False}
        each = rate / parts
        if run.arrivals == "deterministic":
            return {"arrivals": gap(each)}
        if run.arrivals == "uniform":
            return {"arrivals": f"uniform(0s, {gap(each / 2)})"}
        return {"arrivals": exponential_gap(each)}

    def remark_uses(self, runs: Collection[str]) -> None:
        """Adds a remark about the use of every workload and device, or that no run uses it. `runs`
        are workloads that runs have without a definition."""
        for name, load in self.loads.items():
            own = [f"workloads.{became}" for (of, _), became in self.names.items() if of == name]
            self._remark(load.location, name if name in runs else f"wd={name}", few(own, NAMED_MAX))
        for name, device in self.devices.items():
            self._remark(device.location, f"sd={name}", self.uses.get(name, ""))

    def _remark(self, location: Location, text: str, words: str) -> None:
        if words:
            self.findings.say(location, text, "understood", words)
        else:
            self.findings.say(location, text, "no-effect", "no run uses it")


def _seek_percent(load: Load, combination: Combination) -> Fraction:
    return load.seek_percent if combination.seek_percent is None else combination.seek_percent
