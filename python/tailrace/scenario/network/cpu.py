"""The processor of a host: cores, costs of the kernel, scheduler, control groups."""

from dataclasses import dataclass, fields
from typing import Annotated, Literal

from pydantic import Field

from tailrace.scenario.text.quantities import (
    Count,
    FineTime,
    Frequency,
    Memory,
    Name,
    Part,
    Share,
    SmallFrames,
    Time,
    refuse_unless,
)

CORES_MAX = 256
"""Most cores of a modelled processor."""
WHOLE = 10**9
"""A share of 100 % in parts per billion."""
NICE_MIN, NICE_MAX = -20, 19
SLICE_PS = 750 * 10**6
"""Linux `base_slice_ns` of one core: 0.75 ms, times 1 + log2 of the cores, of which at most eight
count."""
SLICE_CORES_MAX = 8

Core = Annotated[int, Field(strict=True, ge=0, lt=CORES_MAX)]
Cores = Annotated[list[Core], Field(min_length=1)]


@dataclass(frozen=True)
class Profile:
    """Costs of a kernel on a processor of a known clock: picoseconds, per byte femtoseconds."""

    clock_hz: int
    per_packet: int = 0
    per_byte: int = 0
    per_frame: int = 0
    per_poll: int = 0
    per_interrupt: int = 0
    per_send: int = 0
    system_call: int = 0
    read_byte: int = 0
    write_byte: int = 0
    wake_up: int = 0
    idle_exit: int = 0
    context_switch: int = 0


PROFILES = {
    "none": Profile(clock_hz=1),
    # Cai, Chaudhary, Vuppalapati, Hwang, Agarwal: Understanding Host Network Stack Overheads,
    # SIGCOMM 2021. Linux 5.4 at 3.4 GHz, frames of 9000 bytes, all offloads: a receiving core is
    # the bottleneck at about 42 Gbit/s, half of its cycles in the copy to the program. That is 190
    # ps/B, of which 95 ps/B are the copy. How the other half is divided between frames, aggregates
    # of 64 KB and their acknowledgements is assumed. A sending core reaches about twice as much, 90
    # ps/B; how that is divided between the copy and bursts is assumed too. A wake-up, a switch and
    # two system calls together take 1.1 us: a pipe between two threads, Linux 6.6.
    "linux-kernel": Profile(
        clock_hz=3_400_000_000,
        per_packet=600_000,
        per_frame=630_000,
        per_poll=200_000,
        per_interrupt=1_000_000,
        per_send=1_000_000,
        system_call=200_000,
        read_byte=95_000,
        write_byte=75_000,
        wake_up=300_000,
        context_switch=400_000,
    ),
    # Emmerich and others: Performance Characteristics of Virtual Switching, CloudNet 2014. One core
    # at 3.3 GHz forwards 1.58 million frames a second in the kernel (633 ns), half of which is
    # taken as receiving and half as sending (assumed). Copies take 0.25 cycles a byte (0.2 to 0.3).
    # Calls are those before Spectre and Meltdown, and wake-ups and switches those of linux-kernel
    # at this clock (assumed).
    "cloudnet-2014": Profile(
        clock_hz=3_300_000_000,
        per_packet=600_000,
        per_frame=316_000,
        per_poll=200_000,
        per_interrupt=1_000_000,
        per_send=317_000,
        system_call=70_000,
        read_byte=76_000,
        write_byte=76_000,
        wake_up=309_000,
        context_switch=412_000,
    ),
    # Measured by `tailrace lab calibrate --processor` in a virtual machine with Linux 6.18 at 2.3
    # GHz: medians of five, of `idle_exit` of three. Waking a thread on an idle core goes through
    # the hypervisor. Interrupts of an interface were not measured.
    "linux-guest": Profile(
        clock_hz=2_300_000_000,
        per_packet=218_000,
        per_frame=229_000,
        per_poll=73_000,
        per_send=364_000,
        system_call=467_000,
        read_byte=22_000,
        write_byte=39_000,
        wake_up=443_000,
        idle_exit=24_000_000,
        context_switch=591_000,
    ),
}
"""Costs by name."""
COSTS = tuple(field.name for field in fields(Profile) if field.name != "clock_hz")
"""Costs that a profile gives and a key of the same name overrides."""
COSTS_OF_PROCESSOR = tuple(name for name in COSTS if name not in ("per_packet", "per_byte"))
"""Those of them that need a processor with cores."""
COSTS_OF_BYTES = ("per_byte", "read_byte", "write_byte")
"""Costs that the memory bandwidth determines."""

STEAL_MIN = 1000
"""In parts per billion. With the longest slice, a core is gone once in 12 days: the times of a plan
can hold that."""
STEAL_MAX = 95 * WHOLE // 100
"""A host that has less of its cores than that is taken for a typing error (assumed)."""
STEAL_PS_MIN, STEAL_PS_MAX = 10**7, 10**12
"""Every slice of every core is an event; slices of hypervisors have milliseconds."""


def slice_of(cores: int) -> int:
    """Slice of a task on a machine with this many cores, in picoseconds (Linux `base_slice_ns`)."""
    return SLICE_PS * min(cores, SLICE_CORES_MAX).bit_length()


class Steal(Part):
    """A hypervisor that takes every core away at regular intervals."""

    share: Annotated[
        Share,
        refuse_unless(
            lambda share: STEAL_MIN <= share <= STEAL_MAX,
            "must be from 0.0001% to 95%",
            "write 10%",
        ),
    ]
    """Share of the time of every core."""
    slice: Annotated[
        Time,
        refuse_unless(
            lambda time: STEAL_PS_MIN <= time <= STEAL_PS_MAX,
            "must be from 10us to 1s",
            "10ms is usual",
        ),
    ] = 10**10
    """How long a core is gone at a time [K]: a few milliseconds, a slice of the hypervisor's
    scheduler."""


class ControlGroup(Part):
    """Programs of some workloads on this host (a control group of Linux)."""

    workloads: Annotated[list[str], Field(min_length=1)]
    """Workloads whose programs on this host belong to the group."""
    cores: Cores | None = None
    """Cores that they may use (cpuset.cpus). Default: `program_cores`."""
    nice: Annotated[int, Field(strict=True, ge=NICE_MIN, le=NICE_MAX)] = 0
    """Nice value of their threads: each step is a factor of 1.25 in their share of a busy core."""
    quota: Time | None = None
    """Time of all cores together in each period (cpu.max). Default: no limit."""
    period: Time | None = None
    """Period of the quota, with which it is written. Linux: 100ms."""
    memory: Memory | None = None
    """Memory that its programs need; all groups of a host must fit its `memory`. Default: not
    counted."""


class Cpu(Part):
    """Costs of the kernel and cores. Without `cores`, one core serves received frames and others
    run the programs."""

    per_packet: Time = 0
    """Cost of each received aggregate (after GRO)."""
    per_byte: FineTime = 0
    """Cost of each received payload byte before its program reads it, such as 190ps (a copy at 42
    Gbit/s)."""
    program_cores: Annotated[Count, Field(le=4096)] | Cores = 0
    """Cores that the programs of the host share; 0 for as many as they need. With `cores`: a list
    of core numbers."""
    time_slice: Time = 3 * 10**9
    """Time slice after which a program yields its core; 0s: after each unit of work. Linux with 8
    cores: 3ms."""
    scheduler: Literal["auto", "fcfs", "eevdf"] = "auto"
    """fcfs: one queue for all cores. eevdf: a run queue for each core, as in Linux 6.6. auto: eevdf
    with `cores`."""
    cores: Annotated[Count, Field(le=CORES_MAX)] = 0
    """Cores of the processor, for interrupts and programs; 0: no processor is modelled."""
    profile: Literal["none", "linux-kernel", "cloudnet-2014", "linux-guest"] = "none"
    """Costs by name, of which each can be overridden; `docs/models/cpu.md` gives their sources."""
    clock: Frequency | None = None
    """Clock rate: the costs of the profile are those of its own clock, scaled. Default: that of the
    profile."""
    memory_share: Annotated[
        Share,
        refuse_unless(
            lambda share: 0 < share <= WHOLE,
            "must be above 0% and at most 100%",
            "omit it for 100%",
        ),
    ] = WHOLE
    """Share of the memory bandwidth that the host has: costs per byte are divided by it."""
    per_frame: Time = 0
    """Cost of each received frame (driver and GRO)."""
    per_poll: Time = 0
    """Cost of each NAPI poll, of up to 64 frames."""
    per_interrupt: Time = 0
    """Cost of each receive interrupt."""
    per_send: Time = 0
    """Cost of each burst (TSO) or acknowledgement that is handed to the interface."""
    system_call: Time = 0
    """Cost of each system call."""
    read_byte: FineTime = 0
    """Cost of each byte that a program reads (the copy out of the kernel)."""
    write_byte: FineTime = 0
    """Cost of each byte that a program writes (the copy into the kernel)."""
    wake_up: Time = 0
    """Cost of waking a thread, charged to the thread or soft interrupt that wakes it."""
    idle_exit: Time = 0
    """Cost of waking a thread on a core that has nothing to run, beside `wake_up`: an interrupt
    between cores, and in a virtual machine the way through its hypervisor.
    """
    context_switch: Time = 0
    """Cost of each switch to another thread."""
    slice: Time | None = None
    """Slice of a thread with eevdf. Default: 0.75ms times 1 + log2 of the cores, at most 3ms
    (Linux)."""
    rx_queues: Annotated[Count, Field(ge=1, le=CORES_MAX)] = 1
    """Receive queues of the interface; flows are spread over them by hash (RSS)."""
    irq_cores: Cores | None = None
    """Core of each receive queue's interrupt, used in turn. Default: all cores."""
    netdev_budget: SmallFrames = 300
    """Frames of one receive soft interrupt. Linux: net.core.netdev_budget."""
    netdev_budget_time: Time = 8 * 10**9
    """Longest receive soft interrupt. Linux: net.core.netdev_budget_usecs, 8ms with HZ = 250."""
    steal: Steal | None = None
    """A hypervisor that takes cores away. Default: none."""
    groups: dict[Name, ControlGroup] = {}
    """Control groups by name."""

    @property
    def effective_scheduler(self) -> str:
        """The scheduler with `auto` resolved."""
        if self.scheduler != "auto":
            return self.scheduler
        return "eevdf" if self.cores else "fcfs"

    @property
    def program_cores_list(self) -> list[int]:
        """The cores for programs of a modelled processor."""
        named = self.program_cores
        return named if isinstance(named, list) else list(range(self.cores))

    @property
    def effective_slice(self) -> int:
        """The slice in picoseconds."""
        if self.slice is not None:
            return self.slice
        return slice_of(self.cores)

    def cost(self, name: str) -> int:
        """A cost: that of its key, or of the profile at this clock. Costs per byte grow with less
        memory bandwidth."""
        own: int = getattr(self, name)
        profile = PROFILES[self.profile]
        if name not in self.model_fields_set:
            own = getattr(profile, name) * profile.clock_hz // (self.clock or profile.clock_hz)
        return own * WHOLE // self.memory_share if name in COSTS_OF_BYTES else own
