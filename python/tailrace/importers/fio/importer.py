"""Converts a fio job file to a scenario with workloads of the kind `storage`."""

import re
import shlex
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from tailrace.importers.fio.jobs import Group, Job, read_groups
from tailrace.importers.fio.lines import Lines
from tailrace.importers.fio.options import NETWORKED, SPDK, TRANSPORTS
from tailrace.importers.fio.pace import Amount, depth_keys, pace_keys, read_amount, read_engine
from tailrace.importers.fio.pattern import Pattern, read_pattern
from tailrace.importers.remarks import Remarks
from tailrace.importers.section import size
from tailrace.importers.storage.scenario import (
    DEPTH_MAX,
    LOCAL,
    RESERVED,
    TARGET,
    Setting,
    StorageScenario,
    differing,
    protocols,
)
from tailrace.importers.storage.source import Findings
from tailrace.importers.storage.values import SECOND_PS, block_of, name_of, plain, span
from tailrace.importers.whole import Yaml

HOST = "host"
DISK = "disk"
"""The device of all files outside of /dev."""
DURATION_USUAL_S = Fraction(3600)
"""End of a trial whose jobs end after their bytes."""
ENDLESS_S = Fraction(60)
"""End of a trial of jobs without any end: fio would cover the whole device."""
ADDED = ("jobs", "size", "arrivals")
"""Keys that add up when equal jobs become one workload."""
MEANINGS = {
    "rw": "read, access",
    "ioengine": "depth",
    "iodepth": "depth",
    "size": "size, bytes",
    "filesize": "size",
    "io_size": "bytes",
    "bs": "block",
    "bsrange": "block",
    "bssplit": "block",
    "number_ios": "requests",
    "loops": "bytes",
    "numjobs": "jobs",
    "startdelay": "start",
    "runtime": "experiment.duration",
    "time_based": "no bytes: until the end of the trial",
    "ramp_time": "experiment.warm_up",
    "thinktime": "think",
    "thinktime_blocks": "think",
    "rate": "arrivals",
    "rate_iops": "arrivals",
    "rate_process": "arrivals",
    "fsync": "flush_every",
    "fdatasync": "flush_every",
    "sync": "flush_every",
    "rwmixread": "read",
    "rwmixwrite": "read",
    "percentage_random": "access",
    "percentage_sequential": "access",
    "random_distribution": "access",
    "stonewall": "an arm of its own",
    "filename": "device",
    "kb_base": "sizes of the file",
    "name": "name of the workload",
}
SILENT = {
    "direct": "requests reach the device directly",
    "offset": "the position of the area on the device",
    "nrfiles": "files of a job are one area",
    "directory": "the position of the files",
}
"""Options that are read, and have no effect."""


@dataclass
class _Part:
    """Workloads of one group."""

    workloads: dict[str, Yaml] = field(default_factory=dict)
    amounts: list[Amount] = field(default_factory=list)

    @property
    def duration_s(self) -> Fraction:
        """The longest of its jobs; a usual one if they end by themselves."""
        ends = [one.start_s + one.ramp_s + one.runtime_s for one in self.amounts if one.runtime_s]
        if len(ends) == len(self.amounts):
            return max(ends)
        usual = (
            DURATION_USUAL_S
            if all({"bytes", "requests"} & set(one.keys) or one.runtime_s for one in self.amounts)
            else ENDLESS_S
        )
        return max([usual + max(one.start_s + one.ramp_s for one in self.amounts), *ends])

    @property
    def warm_up_s(self) -> Fraction:
        """The longest ramp."""
        return max(one.ramp_s for one in self.amounts)


def import_fio(text: str, file: Path, setting: Setting) -> tuple[StorageScenario | None, Remarks]:
    """The scenario, and a remark about every line; None if no job has requests to a device.

    Raises `ScenarioError` with all problems for which fio or tailrace could not run the file.
    """
    findings = Findings(source=f"fio {shlex.quote(str(file))}")
    groups = read_groups(Lines(findings, setting.variables).read(text, file), findings)
    scenario = StorageScenario(name_of(file.stem, "fio", ()), setting=setting)
    scenario.hosts = [name_of(one, HOST, RESERVED) for one in setting.clients or [HOST]]
    parts = [(group, _part(group, scenario, findings)) for group in groups]
    _remark_options(groups, findings)
    findings.stop_if_faulty()
    parts = [(group, part) for group, part in parts if part.workloads]
    if not parts:
        return None, findings.remarks
    _write(scenario, [part for _, part in parts], findings)
    scenario.check(str(file))
    return scenario, findings.remarks


def _part(group: Group, scenario: StorageScenario, findings: Findings) -> _Part:
    part = _Part()
    for job in group.jobs:
        keys, amount = _workload(job, scenario)
        if keys is None or amount is None:
            findings.say(
                job.location,
                f"[{job.name}]",
                "not-modelled",
                "the job is left out; see its remarks",
            )
            for option in job.options.values():
                if (
                    option.location.line > job.location.line
                    and (option.location, option.text) not in job.remarked
                ):
                    job.remarked.add((option.location, option.text))
                    findings.say(
                        option.location,
                        option.text,
                        "not-modelled",
                        "an option of a job that is left out",
                    )
            continue
        part.amounts.append(amount)
        name = _join(part.workloads, keys)
        words = f"workloads.{name}, with one more of its jobs"
        if name is None:
            name = name_of(job.name, "job", [*scenario.workloads, *part.workloads])
            part.workloads[name] = keys
            words = f"workloads.{name}"
        findings.say(job.location, f"[{job.name}]", "understood", words)
    _finish(part)
    scenario.workloads |= part.workloads
    _remark_runtimes(part, group)
    return part


def _join(workloads: dict[str, Yaml], keys: Yaml) -> str | None:
    """Adds a job to an equal one of the same group, whose name this returns; jobs of a workload
    share its device."""
    name = next((name for name, own in workloads.items() if _is_alike(own, keys)), None)
    if name is None:
        return None
    own = workloads[name]
    own["jobs"] += keys["jobs"]
    if "size" in own:
        own["size"] += keys["size"]
    if "arrivals" in own:
        own["arrivals"] = own["arrivals"].with_more(keys["arrivals"].rate_per_s)
    return name


def _is_alike(own: Yaml, keys: Yaml) -> bool:
    """Whether two jobs differ only in values that add up."""
    same = all(own.get(key) == keys.get(key) for key in {*own, *keys} - set(ADDED))
    both = all((key in own) == (key in keys) for key in ADDED)
    is_poisson = [one["arrivals"].is_poisson for one in (own, keys) if "arrivals" in one]
    return same and both and len(set(is_poisson)) < 2 and own["jobs"] + keys["jobs"] <= DEPTH_MAX


def _finish(part: _Part) -> None:
    """Writes sizes and arrivals in the notation of a scenario."""
    for keys in part.workloads.values():
        if "size" in keys:
            keys["size"] = size(keys["size"])
        if "arrivals" in keys:
            keys["arrivals"] = keys["arrivals"].text


def _remark_runtimes(part: _Part, group: Group) -> None:
    """Time-based jobs that end before others of their group go on to the end."""
    for job in group.jobs:
        own = job.seconds("runtime")
        if (
            own
            and part.amounts
            and job.is_on("time_based")
            and own < max(one.runtime_s for one in part.amounts)
        ):
            job.say(
                "runtime",
                "not-modelled",
                "a workload has no duration of its own: it goes on to the end of the trial",
            )


def _workload(job: Job, scenario: StorageScenario) -> tuple[Yaml | None, Amount | None]:
    engine, pattern = read_engine(job), read_pattern(job)
    if engine is None or pattern is None:
        return None, None
    protocol = scenario.setting.protocol
    if engine in NETWORKED and protocol == LOCAL:
        protocol = NETWORKED[engine] if NETWORKED[engine] in protocols() else LOCAL
        if protocol == LOCAL:
            job.say(
                "ioengine",
                "not-modelled",
                f"protocol {NETWORKED[engine]}: the device is in the initiator instead",
            )
    if (
        engine in SPDK
        and protocol == LOCAL
        and (transport := _of_transport(job.text("filename") or "", "trtype"))
    ):
        protocol = TRANSPORTS.get(transport.upper(), LOCAL)
        if protocol == LOCAL and transport.upper() != "PCIE":
            job.say(
                "filename",
                "not-modelled",
                f"transport {transport}: the device is in the initiator instead",
            )
    keys: Yaml = {"kind": "storage", "initiators": list(scenario.hosts)}
    if protocol != LOCAL:
        keys["target"] = TARGET
    keys |= {"device": _device(job, engine, scenario), "protocol": protocol}
    keys |= {
        "read": plain(pattern.read_percent),
        "access": pattern.access,
        "block": block_of(pattern.block),
    }
    depth = depth_keys(job, engine)
    amount = read_amount(job, depth["jobs"])
    _remark_cache(job)
    keys |= depth | pace_keys(job, pattern, depth["jobs"]) | amount.keys
    _fit_area(job, keys, pattern)
    return keys, amount


def _disabled(keys: Yaml) -> Yaml:
    """A workload of a later group, whose arm says when it starts."""
    return {key: value for key, value in keys.items() if key != "start"} | {"enabled": False}


def _fit_area(job: Job, keys: Yaml, pattern: Pattern) -> None:
    """An area has at least a block of each job; fio refuses one that is smaller than its smallest
    block."""
    if "size" not in keys:
        return
    sizes = [size_bytes for size_bytes, weight in pattern.block if weight]
    name = next((one for one in ("size", "filesize") if one in job.options), "size")
    if keys["size"] < min(sizes):
        what = (
            f"{keys['size']} bytes are less than the smallest block of {min(sizes)} bytes, "
            "which fio refuses"
        )
        job.fault(name, what, f"write {name}={max(sizes) * keys['jobs']}")
    least = max(sizes) * keys["jobs"]
    if keys["size"] < least:
        job.say(name, "assumed", f"the area has a block of each job: {least} bytes")
        keys["size"] = least


def _remark_cache(job: Job) -> None:
    """fio uses the page cache unless an option disables it."""
    is_direct = job.is_on("direct") or ("buffered" in job.options and not job.is_on("buffered"))
    words = "the page cache is not modelled: every request reaches the device, as with direct=1"
    for name in ("direct", "buffered"):
        if name in job.options:
            job.say(
                name,
                "no-effect" if is_direct else "not-modelled",
                SILENT["direct"] if is_direct else words,
            )
    if not is_direct and not {"direct", "buffered"} & set(job.options):
        job.findings.assume(words, f"[{job.name}]")


def _device(job: Job, engine: str, scenario: StorageScenario) -> str:
    if engine in ("null", "cpp_null"):
        return scenario.add_device("null", "/dev/null")
    text = job.text("filename") or ""
    if engine in SPDK:
        return _spdk_device(job, text, scenario)
    paths = [path.replace("\0", ":") for path in text.replace("\\:", "\0").split(":") if path]
    if len(paths) > 1:
        words = "a job has one device: it uses the first of these files, not all in turn"
        job.say("filename", "not-modelled", words)
    path = paths[0] if paths else ""
    if not path.startswith("/dev/"):
        job.findings.assume("files outside of /dev are on one drive, 'disk'", f"devices.{DISK}")
        return scenario.add_device(DISK, path)
    known = scenario.paths.get(path)
    if known is None:
        known = scenario.paths[path] = name_of(
            path.rpartition("/")[2], "drive", [*scenario.devices, DISK]
        )
    return scenario.add_device(known, path)


def _spdk_device(job: Job, text: str, scenario: StorageScenario) -> str:
    """SPDK names a device by its transport (`trtype=PCIe traddr=0000.04.00.0 ns=1`), or a block
    device of its own."""
    first = text.split(":")[0].strip()
    if not first:
        job.findings.assume("SPDK's block device has no name in the file", f"[{job.name}]")
    address = _of_transport(text, "traddr")
    name = first if address is None else f"nvme-{address}"
    name = name or "nvme"
    is_named = name.lower().startswith(("malloc", "null", "aio", "ftl"))
    known = scenario.paths.get(name)
    if known is None:
        known = scenario.paths[name] = name_of(name, "drive", [*scenario.devices, DISK])
    return scenario.add_device(known, name.lower() if is_named else "nvme")


def _of_transport(text: str, key: str) -> str | None:
    """A value of SPDK's address of a controller."""
    found = re.search(rf"\b{key}[=:]([\w.:-]+)", text, re.IGNORECASE)
    return None if found is None else found[1]


def _remark_options(groups: list[Group], findings: Findings) -> None:
    """Adds a remark about the meaning of each option that is read, unless one exists."""
    for group in groups:
        for job in group.jobs:
            for name, option in job.options.items():
                if (option.location, option.text) in job.remarked:
                    continue
                if name in SILENT or name == "buffered":
                    findings.say(
                        option.location,
                        option.text,
                        "no-effect",
                        SILENT.get(name, SILENT["direct"]),
                    )
                else:
                    findings.say(option.location, option.text, "understood", MEANINGS[name])


def _write(scenario: StorageScenario, parts: list[_Part], findings: Findings) -> None:
    """The groups as arms: each has the workloads of its own."""
    if not all(one.runtime_s for part in parts for one in part.amounts):
        findings.assume(
            "jobs without a runtime end after their bytes; experiment.duration bounds them"
        )
    every = {name: keys for part in parts for name, keys in part.workloads.items()}
    first = parts[0]
    scenario.workloads = {
        name: keys if name in first.workloads else _disabled(keys) for name, keys in every.items()
    }
    scenario.duration_ps = round(first.duration_s * SECOND_PS)
    scenario.warm_up_ps = round(first.warm_up_s * SECOND_PS)
    if len(parts) == 1:
        return
    for part in parts:
        arm = differing(scenario.workloads, part.workloads)
        if part.duration_s != first.duration_s:
            arm["experiment.duration"] = span(part.duration_s)
        if part.warm_up_s != first.warm_up_s:
            arm["experiment.warm_up"] = span(part.warm_up_s)
        scenario.arms[name_of(next(iter(part.workloads)), "group", scenario.arms)] = arm
