"""What this machine has and lacks for live runs: kernel, privileges, cores, programs."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.experiment.machine import describe_machine
from tailrace.live.lab import fabric
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.kinds import KINDS, Kind
from tailrace.live.machine import limits
from tailrace.live.programs import hammerdb, postgres
from tailrace.results.compare.fidelity import TAP

VERSION_LIMIT_S = 10.0
CORES_MIN = 2
"""One for the switch program, one for everything else."""


@dataclass(frozen=True)
class Needed:
    """A program that live runs use."""

    program: str
    package: str
    """Debian's package."""
    version_option: str
    is_for: str


NEEDED = (
    Needed("postgres", "postgresql", "--version", "workloads of kind oltp"),
    Needed("pgbench", "postgresql", "--version", "workloads of kind oltp"),
    Needed("iperf3", "iperf3", "--version", "workloads of kind stream and datagrams"),
    Needed("ping", "iputils-ping", "-V", "the base round trip"),
    Needed("ss", "iproute2", "-V", "samples of connections"),
    Needed("ip", "iproute2", "-V", "routes and TCP metrics of a host"),
    Needed("ethtool", "ethtool", "--version", "offloads of a host"),
    Needed("cp", "coreutils", "--version", "restoring databases"),
)
OPEN_VSWITCH = Needed("ovs-vsctl", "openvswitch-switch", "--version", "fabrics ovs and ovs-dpdk")
"""Only the runs that ask for it need it."""
FAST_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter"})
"""Clocks that are read without a system call."""
LATE = "the switch is late when other programs compute"
FOR_DATABASES = frozenset({"postgres", "pgbench"})


@dataclass(frozen=True)
class Fact:
    """One line of the doctor's."""

    what: str
    value: str
    is_good: bool | None
    """None where it is neither good nor bad."""
    advice: str = ""


def path_of(program: str) -> str | None:
    """Where a program is; PostgreSQL's are not on the PATH."""
    if program in FOR_DATABASES:
        try:
            found = postgres.installation().program(program)
        except FabricError:
            return None
        return str(found) if found.exists() else None
    return shutil.which(program)


@cache
def version_of(needed: Needed) -> str | None:
    """Version of an installed program; empty where it does not tell, None where it is missing."""
    path = path_of(needed.program)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [path, needed.version_option],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=VERSION_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    first = (done.stdout or done.stderr).strip().splitlines()[:1]
    found = re.search(r"\d+(?:[.-]\w+)+|\b\d{6,}\b", first[0]) if first else None
    return found[0] if found else ""


def versions(kind: Kind = KINDS[TAP]) -> dict[str, str]:
    """Versions of the fabric and of every program that is there, for the manifest."""
    needed = [*NEEDED, OPEN_VSWITCH] if kind.is_open_vswitch else NEEDED
    found = {each.program: version_of(each) for each in needed}
    installed = hammerdb.installation()
    found[hammerdb.PROGRAM] = hammerdb.version(installed) if installed else None
    return {"fabric_build": fabric.build()} | {name: text for name, text in found.items() if text}


def missing(*, needs_database: bool = True) -> list[Needed]:
    """Required programs that are not there."""
    return [
        each
        for each in NEEDED
        if (needs_database or each.program not in FOR_DATABASES) and path_of(each.program) is None
    ]


def require(*, needs_database: bool) -> dict[str, Any]:
    """Raises `RunRefusedError` where a live run cannot start on this machine, with what to install or to be.

    Returns what the fabric's doctor found, which takes a lab of its own to find out.
    """
    lacking = missing(needs_database=needs_database)
    if lacking:
        names = ", ".join(each.program for each in lacking)
        packages = " ".join(dict.fromkeys(each.package for each in lacking))
        hint = f"`make live-deps`, or apt-get install {packages}; `tailrace doctor` lists everything"
        raise RunRefusedError(f"a live run needs {names} (hint: {hint})")
    found = fabric.ask("doctor")
    lacks = [fact for fact in fabric_facts(found) if fact.is_good is False]
    if lacks:
        why = "; ".join(f"{fact.what}: {fact.value} ({fact.advice})" for fact in lacks)
        raise RunRefusedError(
            f"a live run cannot start here: {why} (hint: run it as root; `tailrace doctor` says more)"
        )
    return found


def examine() -> list[Fact]:
    """Everything that the doctor looks at."""
    machine = describe_machine()
    cores = int(machine["cores"])
    advice = "" if cores >= CORES_MIN else "the switch program and the databases then share one core"
    facts = [
        Fact("kernel", str(machine["kernel"]), None),
        Fact("processor", str(machine["cpu"]), None),
        Fact("cores", str(cores), cores >= CORES_MIN, advice),
        Fact("memory", f"{machine['memory_bytes'] / 1e9:.0f} GB", None),
    ]
    return [*facts, *_fabric_facts(), *(_program_fact(each) for each in NEEDED), _hammerdb_fact()]


def _fabric_facts() -> list[Fact]:
    try:
        found = fabric.ask("doctor")
    except FabricError as error:
        return [Fact("fabric", "not to be used", is_good=False, advice=str(error))]
    return [Fact("fabric", fabric.build(), is_good=True), *fabric_facts(found), *_limits_facts()]


def fabric_facts(found: Mapping[str, Any]) -> list[Fact]:
    """What the fabric says of the machine, judged."""
    refused = found.get("lab_error")
    is_realtime = bool(found.get("realtime"))
    clock = str(found.get("clock_source"))
    controls = ", ".join(found.get("congestion_controls") or []) or "unknown"
    return [
        _privileges(found),
        Fact("/dev/net/tun", *((("usable", True, "")) if found.get("tun") else ("not usable", False, "modprobe tun"))),
        Fact("a lab", *(("refused", False, str(refused)) if refused else ("comes up", True, ""))),
        _control_groups(found),
        Fact("real-time priority", "yes" if is_realtime else "no", None, "" if is_realtime else LATE),
        Fact("clock", clock, None, "" if clock in FAST_CLOCKS else "reading this clock is slow"),
        Fact("congestion controls", controls, None),
        *(_kind_fact(name, lacks) for name, lacks in (found.get("fabrics") or {}).items() if name != TAP),
    ]


def _kind_fact(name: str, lacks: str | None) -> Fact:
    """A fabric for comparison: nothing else needs it."""
    advice = f'{lacks}; `make live-deps WITH="{name}"`' if lacks else ""
    return Fact(f"fabric {name}", "missing" if lacks else "usable", None, advice)


def _privileges(found: Mapping[str, Any]) -> Fact:
    """Root's, or an ordinary user's, whose labs are in a user namespace."""
    if (found.get("capabilities") or {}).get("lab"):
        return Fact("privileges", "those of root", is_good=True)
    if found.get("user_namespaces"):
        advice = "no control groups and no real-time priority, unless it is run as root"
        return Fact("privileges", "an ordinary user's: labs are in a user namespace", is_good=True, advice=advice)
    return Fact("privileges", "too few", is_good=False, advice="run it as root: there are no user namespaces here")


def _control_groups(found: Mapping[str, Any]) -> Fact:
    kind = str(found.get("cgroup"))
    if found.get("cgroup_usable") is False:
        return Fact("control groups", f"{kind}, not to be used", None, "no cpu.program_cores, priority and dscp")
    lacks = []
    if found.get("cpu_limits") is False:
        lacks.append(("limits of processors", "no cpu.program_cores"))
    if found.get("priorities") is False:
        lacks.append(("priorities of programs", "no priority and dscp"))
    value = " and ".join(what for what, _ in lacks)
    return Fact(
        "control groups", f"{kind}, without {value}" if lacks else kind, None, "; ".join(hint for _, hint in lacks)
    )


def _limits_facts() -> list[Fact]:
    figures = limits.measured()
    if figures is None:
        return [Fact("frames a second", "not measured", None, "`tailrace doctor --measure`")]
    frames = f"{figures['frames']['frames_per_second_max']:,.0f}".replace(",", " ")
    return [Fact("frames a second", frames, None), Fact("lateness of the switch", limits.lateness_text(figures), None)]


def _program_fact(needed: Needed) -> Fact:
    version = version_of(needed)
    if version is not None:
        return Fact(needed.program, version or "there", is_good=True)
    advice = f"for {needed.is_for}: Debian package {needed.package}"
    return Fact(needed.program, "missing", is_good=False, advice=advice)


def _hammerdb_fact() -> Fact:
    installed = hammerdb.installation()
    if installed is None:
        return Fact(hammerdb.PROGRAM, "not installed", None, "optional; from hammerdb.com")
    return Fact(hammerdb.PROGRAM, hammerdb.version(installed) or "there", is_good=True)


def is_healthy(facts: Sequence[Fact]) -> bool:
    """Whether live runs can start."""
    return all(fact.is_good is not False for fact in facts)


def as_data(facts: Sequence[Fact]) -> dict[str, Any]:
    """For programs."""
    return {"can_run_live": is_healthy(facts), "facts": [asdict(fact) for fact in facts]}


def as_text(facts: Sequence[Fact]) -> str:
    """For people: one line for each fact, with what to do about it."""
    marks = {True: "ok", False: "NO", None: "--"}
    width = max(len(fact.what) for fact in facts)
    lines = [
        f"{marks[fact.is_good]}  {fact.what.ljust(width)}  {fact.value}" + (f"  ({fact.advice})" if fact.advice else "")
        for fact in facts
    ]
    verdict = "live runs can start here" if is_healthy(facts) else "live runs cannot start here: see the lines with NO"
    return "\n".join([*lines, verdict])
