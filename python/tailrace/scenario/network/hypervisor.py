"""Hypervisors: real cores behind a virtual switch, and the virtual machines and neighbours on
them."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.network.cpu import CORES_MAX, NICE_MAX, NICE_MIN, Cores, slice_of
from tailrace.scenario.text.quantities import (
    Count,
    FineTime,
    Frequency,
    Name,
    Part,
    SmallFrames,
    Time,
)

NEIGHBOUR_TASKS_MAX = 4096
"""Most tasks of the neighbours of one hypervisor."""
MACHINE_LINK_BPS = 800 * 10**9
"""A frame between a virtual machine and its switch is not sent over a wire: the fastest rate that
there is."""
FACTOR_WHOLE = 1_000
"""A factor of 1, in thousandths."""

Kind = Literal["bridge", "ovs", "ovs-dpdk"]


@dataclass(frozen=True)
class Profile:
    """Costs of a hypervisor at a known clock: picoseconds, per byte femtoseconds."""

    clock_hz: int
    switch_frame: int = 0
    merge_frame: int = 0
    copy_byte: int = 0
    vhost_frame: int = 0
    interrupt: int = 0
    exit: int = 0
    entry: int = 0
    wake_up: int = 0
    context_switch: int = 0
    signal: int = 0
    poll: int = 0


SWITCH_CYCLES: dict[Kind, int] = {"bridge": 2_970, "ovs": 1_755, "ovs-dpdk": 290}
"""Cycles of one core for each frame from one physical port to another: 1.11, 1.88 and 11.31 million
frames a second at 3.3 GHz (Emmerich and others, CloudNet 2014 and JNSM 2018).
"""
PROFILE_HZ = 3_300_000_000


def _profile(kind: Kind) -> Profile:
    def cycles(number: int) -> int:
        return number * 10**12 // PROFILE_HZ

    return Profile(
        clock_hz=PROFILE_HZ,
        switch_frame=cycles(SWITCH_CYCLES[kind]),
        merge_frame=cycles(1_000),
        copy_byte=75_000,
        vhost_frame=cycles(3_000),
        interrupt=cycles(3_400),
        exit=cycles(2_000),
        entry=cycles(1_000),
        wake_up=cycles(1_020),
        context_switch=cycles(1_360),
        signal=cycles(1_500),
        poll=cycles(300),
    )


NOTHING = Profile(clock_hz=1)
COSTS = tuple(field.name for field in fields(Profile) if field.name != "clock_hz")
"""Costs that a profile gives and a key of the same name overrides."""
PAGED = ("switch_frame", "copy_byte")
"""Costs that small pages raise."""
POLLING_KEYS = ("polling_cores", "isolate", "page_factor", "poll")
"""Keys that have an effect only where cores poll."""
KERNEL_KEYS = ("irq_cores", "backlog", "coalesce", "merge_frame", "vhost_frame")
"""Keys that have an effect only where the kernel switches: interrupts, soft interrupts, vhost
threads."""


class Pins(Part):
    """Cores of the hypervisor for one virtual machine."""

    cores: Cores | None = None
    """One for each virtual core, used in turn. Default: each may run on any core that does not
    poll."""
    vhost: Cores | None = None
    """Cores of its vhost thread. Default: any core that does not poll."""


class Neighbour(Part):
    """Tasks beside the virtual machines. For neighbours that send, add a virtual machine with a
    workload."""

    tasks: Annotated[Count, Field(ge=1, le=NEIGHBOUR_TASKS_MAX)] = 1
    """Number of tasks."""
    kind: Literal["compute", "disk"] = "compute"
    """compute: work without end. disk: `work`, then `wait` for a disk, in turn."""
    work: Time = 50_000_000
    """Work of a disk task between two requests [K]."""
    wait: Time = 100_000_000
    """Time of one request to the disk [K]: an SSD."""
    cores: Cores | None = None
    """Cores where they may run. Default: all cores that do not poll; all if `isolate` is false."""
    nice: Annotated[int, Field(strict=True, ge=NICE_MIN, le=NICE_MAX)] = 0
    """Nice value of each task."""


class Hypervisor(Part):
    """A hypervisor around the switch of the same name; the hosts that are linked to it are its
    virtual machines."""

    cores: Annotated[Count, Field(ge=1, le=CORES_MAX)]
    """Real cores."""
    switch: Kind = "bridge"
    """bridge, ovs: the kernel switches in soft interrupts, a vhost thread serves each machine.
    ovs-dpdk: cores poll."""
    profile: Literal["none", "kvm"] = "kvm"
    """Costs by name, of which each can be overridden; `docs/models/virtual-switch.md` gives their
    sources."""
    clock: Frequency = PROFILE_HZ
    """Clock rate: the costs of the profile are cycles."""
    offloads: bool = True
    """Super-frames of up to 64 KB cross the switch whole. false: machines send and receive single
    frames."""
    polling_cores: Cores = [0]
    """Cores of ovs-dpdk's polling threads; nothing else runs there if `isolate` is true."""
    isolate: bool = True
    """Virtual machines and neighbours without pins keep off the polling cores."""
    page_factor: Annotated[float, Field(ge=1, le=100)] = 1.0
    """Costs of switching and copying with ovs-dpdk are multiplied by it: 1 for huge pages, more for
    small ones. It is a factor that the scenario states, not a model of memory.
    """
    pins: dict[str, Pins] = {}
    """Cores of virtual machines, by name. Default: none is pinned."""
    irq_cores: Cores | None = None
    """Cores of the interrupts of each uplink, one for each receive queue. Default: core 0."""
    neighbours: dict[Name, Neighbour] = {}
    """Others on the cores, by name."""
    ring: SmallFrames = 256
    """Ring in which a virtual machine sends or receives. QEMU: 256, at most 1024."""
    queue: SmallFrames = 1000
    """Frames that wait before a ring: for the vhost thread (`txqueuelen` of the TAP), and in the
    virtual machine."""
    backlog: SmallFrames = 1000
    """Frames that wait for the soft interrupt of a core. Linux: net.core.netdev_max_backlog."""
    uplink_ring: SmallFrames = 512
    """Receive ring of each queue of an uplink. ixgbe: 512."""
    coalesce: Time = 8_000_000
    """From the first frame after a quiet time to the interrupt of an uplink [K]; ovs-dpdk has no
    interrupts."""
    halt_poll: Time = 0
    """How long a virtual core that has nothing to do is watched before its thread sleeps. Linux
    since 4.4: by need, at most 200us (`halt_poll_ns`).
    """
    tick: Time = 4_000_000_000
    """Clock tick of the kernel. Linux with HZ = 250: 4ms."""
    slice: Time | None = None
    """Slice of a task. Default: 0.75ms times 1 + log2 of the cores, at most 3ms (Linux)."""
    switch_frame: Time = 0
    """Cost of each frame or super-frame that is switched."""
    merge_frame: Time = 0
    """Cost of each further frame of a super-frame that comes from an uplink (GRO)."""
    copy_byte: FineTime = 0
    """Cost of each byte that is copied between a virtual machine and its host."""
    vhost_frame: Time = 0
    """Cost of each frame or super-frame that a vhost thread passes on."""
    interrupt: Time = 0
    """Cost of each interrupt of an uplink or a disk."""
    exit: Time = 0
    """Cost of each exit of a virtual core: a notification, a halt, an interrupt."""
    entry: Time = 0
    """Cost of each entry into a virtual core that did not run."""
    wake_up: Time = 0
    """Cost of each task that is woken."""
    context_switch: Time = 0
    """Cost of each switch to another task."""
    signal: Time = 0
    """Cost of each interrupt that is sent to a virtual machine."""
    poll: Time = 0
    """Time of a round of a polling thread that finds nothing."""

    @property
    def polls(self) -> bool:
        """Whether cores poll."""
        return self.switch == "ovs-dpdk"

    @property
    def free_cores(self) -> list[int]:
        """Cores for threads that are not pinned."""
        taken = set(self.polling_cores) if self.polls and self.isolate else set()
        return [core for core in range(self.cores) if core not in taken]

    @property
    def effective_slice(self) -> int:
        """The slice in picoseconds."""
        return slice_of(self.cores) if self.slice is None else self.slice

    def cost(self, name: str) -> int:
        """A cost: that of its key, or of the profile at this clock."""
        own: int = getattr(self, name)
        if name not in self.model_fields_set:
            profile = NOTHING if self.profile == "none" else _profile(self.switch)
            own = getattr(profile, name) * profile.clock_hz // (self.clock or profile.clock_hz)
        if self.polls and name in PAGED:
            own = own * round(self.page_factor * FACTOR_WHOLE) // FACTOR_WHOLE
        return own
