"""Lowers the processor of a host."""

from typing import Any

from tailrace.scenario.network.cpu import COSTS_OF_BYTES, COSTS_OF_PROCESSOR, Cpu

PERIOD_PS = 100 * 10**9
"""Linux: 100 ms for a quota without a period of its own."""


def lower_cpu(cpu: Cpu) -> dict[str, Any]:
    """The `cpu` of a host in a plan; the processor stands there only where it has cores."""
    named = cpu.program_cores
    # Engines without a model of the processor share this many cores in one queue.
    shared = len(cpu.program_cores_list) if cpu.cores else named
    return {
        "per_packet_ps": cpu.cost("per_packet"),
        "per_byte_fs": cpu.cost("per_byte"),
        "program_cores": shared,
        "time_slice_ps": cpu.time_slice,
        **({"processor": _processor(cpu)} if cpu.cores else {}),
    }


def _processor(cpu: Cpu) -> dict[str, Any]:
    on = cpu.irq_cores or list(range(cpu.cores))
    return {
        "cores": cpu.cores,
        "slice_ps": cpu.effective_slice,
        **{
            f"{name}_fs" if name in COSTS_OF_BYTES else f"{name}_ps": cpu.cost(name)
            for name in COSTS_OF_PROCESSOR
        },
        "irq_cores": [on[queue % len(on)] for queue in range(cpu.rx_queues)],
        "program_cores": cpu.program_cores_list,
        "budget_frames": cpu.netdev_budget,
        "budget_ps": cpu.netdev_budget_time,
        **({"steal": _steal(cpu)} if cpu.steal else {}),
        **({"groups": [_group(cpu, name) for name in cpu.groups]} if cpu.groups else {}),
    }


def _steal(cpu: Cpu) -> dict[str, Any]:
    assert cpu.steal is not None
    return {"slice_ps": cpu.steal.slice, "every_ps": cpu.steal.slice * 10**9 // cpu.steal.share}


def _group(cpu: Cpu, name: str) -> dict[str, Any]:
    group = cpu.groups[name]
    period = PERIOD_PS if group.period is None else group.period
    quota = {} if group.quota is None else {"quota_ps": group.quota, "period_ps": period}
    cores = group.cores or cpu.program_cores_list
    return {"name": name, "workloads": group.workloads, "cores": cores, "nice": group.nice, **quota}
