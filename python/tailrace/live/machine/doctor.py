"""Checks the requirements of live runs, and of exact ones, on this machine: kernel, privileges,
cores, programs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tailrace.errors import RunRefusedError
from tailrace.exact import program as exact
from tailrace.experiment.machine import describe_machine
from tailrace.live import neighbours, registry
from tailrace.live.lab import fabric
from tailrace.live.lab.fabric import FabricError
from tailrace.live.lab.kinds import KINDS, Kind
from tailrace.live.machine import limits
from tailrace.programs.needed import Needed, packages, path_of, version_of
from tailrace.results.compare.fidelity import TAP

CORES_MIN = 2
"""One core for the switch program, one for all other programs."""


LAB = (
    Needed("ping", "iputils-ping", "-V", "the base round trip"),
    Needed("ss", "iproute2", "-V", "samples of connections"),
    Needed("ip", "iproute2", "-V", "routes and TCP metrics of a host"),
    Needed("ethtool", "ethtool", "--version", "offloads of a host"),
)
"""Programs that every live run needs; the registry has those of workloads."""
OPEN_VSWITCH = Needed("ovs-vsctl", "openvswitch-switch", "--version", "fabrics ovs and ovs-dpdk")
"""Programs that only some runs need."""
FAST_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter"})
"""Clocks that are read without a system call."""
LATE = "the switch is late when other programs use the CPU"


@dataclass(frozen=True)
class Fact:
    """One line of the doctor."""

    what: str
    value: str
    is_good: bool | None
    """None for a line that is only informative."""
    advice: str = ""


def needed() -> list[Needed]:
    """Every program that any live run needs, those of workloads first."""
    return [*registry.all_needs(), neighbours.NEEDED, *LAB]


def versions(kind: Kind = KINDS[TAP]) -> dict[str, str]:
    """Versions of the fabric and of every installed program, for the manifest."""
    wanted = [*needed(), OPEN_VSWITCH] if kind.is_open_vswitch else needed()
    found = {each.program: version_of(each) for each in wanted}
    return {"fabric_build": fabric.build()} | {name: text for name, text in found.items() if text}


def missing(wanted: Iterable[Needed] | None = None) -> list[Needed]:
    """Missing programs of packages: among these and those of the lab, or among all."""
    chosen = needed() if wanted is None else [*wanted, *LAB]
    return [each for each in chosen if each.package and path_of(each) is None]


def require(wanted: Iterable[Needed] = ()) -> dict[str, Any]:
    """Raises `RunRefusedError`, with the remedy, if a live run that needs these programs cannot
    start on this machine.

    Returns the output of the fabric's doctor, which starts a lab of its own.
    """
    lacking = missing(wanted)
    if lacking:
        names = ", ".join(each.program for each in lacking)
        hint = (
            f"`make live-deps`, or apt-get install {' '.join(packages(lacking))}; `tailrace lab "
            "doctor` lists all requirements"
        )
        raise RunRefusedError(f"a live run needs {names} (hint: {hint})")
    found = fabric.ask("doctor")
    lacks = [fact for fact in fabric_facts(found) if fact.is_good is False]
    if lacks:
        why = "; ".join(f"{fact.what}: {fact.value} ({fact.advice})" for fact in lacks)
        raise RunRefusedError(
            f"a live run cannot start on this machine: {why} (hint: run it as root; `tailrace lab "
            "doctor` lists what is missing)"
        )
    return found


def examine() -> list[Fact]:
    """All lines of the doctor."""
    machine = describe_machine()
    cores = int(machine["cores"])
    advice = "" if cores >= CORES_MIN else "the switch and the databases share one core"
    facts = [
        Fact("kernel", str(machine["kernel"]), None),
        Fact("processor", str(machine["cpu"]), None),
        Fact("cores", str(cores), cores >= CORES_MIN, advice),
        Fact("memory", f"{machine['memory_bytes'] / 1e9:.0f} GB", None),
    ]
    return [*facts, *_fabric_facts(), *(_program_fact(each) for each in needed()), exact_fact()]


def exact_fact() -> Fact:
    """A line about the kernel of exact runs, which live runs do not need: two guests are started
    and ended."""
    what = "kernel of exact runs"
    try:
        found = exact.kernel()
    except exact.ExactError as error:
        return Fact(what, "unknown", None, str(error))
    if found is None:
        if path := exact.named():
            return Fact(what, "missing", None, f"{exact.VARIABLE}: {path} is no file")
        return Fact(what, "not built", None, f"optional; {exact.KERNEL_HINT}")
    try:
        seen = exact.boot()
    except exact.ExactError as error:
        hint = "" if "(hint: " in str(error) else f" (hint: {exact.KERNEL_HINT})"
        return Fact(what, "does not start", None, f"{found}: {error}{hint}")
    registers = f"{seen.registers_bytes} of {seen.registers_room_bytes} bytes of extended registers"
    return Fact(
        what,
        f"{seen.release}, two guests started and ended in {seen.wall_s:.1f} s, {registers}",
        None,
    )


def _fabric_facts() -> list[Fact]:
    try:
        found = fabric.ask("doctor")
    except FabricError as error:
        return [Fact("fabric", "not usable", is_good=False, advice=str(error))]
    return [Fact("fabric", fabric.build(), is_good=True), *fabric_facts(found), *_limits_facts()]


def fabric_facts(found: Mapping[str, Any]) -> list[Fact]:
    """Lines from the output of the fabric's doctor."""
    refused = found.get("lab_error")
    is_realtime = bool(found.get("realtime"))
    clock = str(found.get("clock_source"))
    controls = ", ".join(found.get("congestion_controls") or []) or "unknown"
    return [
        _privileges(found),
        _tun(found),
        Fact("a lab", *(("refused", False, str(refused)) if refused else ("comes up", True, ""))),
        _control_groups(found),
        Fact(
            "real-time priority", "yes" if is_realtime else "no", None, "" if is_realtime else LATE
        ),
        Fact("clock", clock, None, "" if clock in FAST_CLOCKS else "reading this clock is slow"),
        Fact("congestion controls", controls, None),
        *(
            _kind_fact(name, lacks)
            for name, lacks in (found.get("fabrics") or {}).items()
            if name != TAP
        ),
    ]


def _tun(found: Mapping[str, Any]) -> Fact:
    """The device behind the network interfaces of emulated hosts."""
    if found.get("tun"):
        return Fact("/dev/net/tun", "usable", is_good=True)
    if found.get("tun_is_missing"):
        return Fact(
            "/dev/net/tun",
            "missing",
            is_good=False,
            advice="load the kernel module: `modprobe tun`",
        )
    advice = "read and write permission is required: run as root, or `chmod 666 /dev/net/tun`"
    return Fact("/dev/net/tun", "no permission", is_good=False, advice=advice)


def _kind_fact(name: str, lacks: str | None) -> Fact:
    """A line about a fabric for comparison, which other runs do not need."""
    advice = f'{lacks}; `make live-deps WITH="{name}"`' if lacks else ""
    return Fact(f"fabric {name}", "missing" if lacks else "usable", None, advice)


def _privileges(found: Mapping[str, Any]) -> Fact:
    """A line about privileges: root, or an ordinary user with user namespaces."""
    if (found.get("capabilities") or {}).get("lab"):
        return Fact("privileges", "root", is_good=True)
    if found.get("user_namespaces"):
        advice = "no control groups and no real-time priority without root"
        return Fact(
            "privileges", "ordinary user: labs are in a user namespace", is_good=True, advice=advice
        )
    return Fact(
        "privileges",
        "too few",
        is_good=False,
        advice="run as root: user namespaces are not available",
    )


def _control_groups(found: Mapping[str, Any]) -> Fact:
    kind = str(found.get("cgroup"))
    if found.get("cgroup_usable") is False:
        return Fact(
            "control groups", f"{kind}, not usable", None, "no cpu.program_cores, priority and dscp"
        )
    lacks = []
    if found.get("cpu_limits") is False:
        lacks.append(("CPU limits", "no cpu.program_cores"))
    if found.get("io_limits") is False:
        lacks.append(("limits on disks", "no storage but of memory"))
    if found.get("priorities") is False:
        lacks.append(("priorities of programs", "no priority and dscp"))
    value = " and ".join(what for what, _ in lacks)
    return Fact(
        "control groups",
        f"{kind}, without {value}" if lacks else kind,
        None,
        "; ".join(hint for _, hint in lacks),
    )


def _limits_facts() -> list[Fact]:
    figures = limits.measured()
    if figures is None:
        return [Fact("frames a second", "not measured", None, "`tailrace lab doctor --measure`")]
    frames = f"{figures['frames']['frames_per_second_max']:,.0f}".replace(",", " ")
    return [
        Fact("frames a second", frames, None),
        Fact("lateness of the switch", limits.lateness_text(figures), None),
    ]


def _program_fact(one: Needed) -> Fact:
    version = version_of(one)
    if version is not None:
        return Fact(one.program, version or "there", is_good=True)
    if one.package is None:
        return Fact(one.program, "not installed", None, f"optional; from {one.source}")
    return Fact(
        one.program,
        "missing",
        is_good=False,
        advice=f"for {one.is_for}: Debian package {one.package}",
    )


def is_healthy(facts: Sequence[Fact]) -> bool:
    """Whether live runs can start on this machine."""
    return all(fact.is_good is not False for fact in facts)


def as_data(facts: Sequence[Fact]) -> dict[str, Any]:
    """The lines as JSON values."""
    return {"can_run_live": is_healthy(facts), "facts": [asdict(fact) for fact in facts]}


def as_text(facts: Sequence[Fact]) -> str:
    """Text with one line for each fact, and advice."""
    marks = {True: "ok", False: "NO", None: "--"}
    width = max(len(fact.what) for fact in facts)
    lines = [
        f"{marks[fact.is_good]}  {fact.what.ljust(width)}  {fact.value}"
        + (f"  ({fact.advice})" if fact.advice else "")
        for fact in facts
    ]
    verdict = (
        "live runs can start on this machine"
        if is_healthy(facts)
        else "live runs cannot start on this machine: see the lines with NO"
    )
    return "\n".join([*lines, verdict])
