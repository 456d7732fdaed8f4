"""Keys that have an effect with one kind of a thing only, devices, and rules, which a base may have
for its arms."""

from collections.abc import Iterator

from tailrace.errors import KeyPath
from tailrace.scenario.checks import classify
from tailrace.scenario.network.hypervisor import KERNEL_KEYS, POLLING_KEYS, Hypervisor
from tailrace.scenario.scenario import Scenario

OF_KERNELS = "`{}` has an effect only with the kernel's switches: bridge and ovs"
OF_POLLING = "`{}` has an effect only with ovs-dpdk, whose cores poll"
Found = Iterator[tuple[KeyPath, str, str, bool]]
"""Path, the user of the key, hint, and whether this scenario has that user."""


def keys_of_kinds(scenario: Scenario) -> Found:
    """Every such key that is set, and every device. Those that no arm uses are warnings."""
    used = {
        device for workload in scenario.running.values() for _, device in workload.used_devices()
    }
    for name in scenario.devices:
        what = f"no workload has the device '{name}'"
        yield (
            ("devices", name),
            what,
            f"omit it, or write device: {name} in a workload of storage",
            name in used,
        )
    for name, own in scenario.hypervisors.items():
        at: KeyPath = ("hypervisors", name)
        for path, is_of_polling in _set_keys(own):
            what, hint = (
                (OF_POLLING, "write switch: ovs-dpdk")
                if is_of_polling
                else (OF_KERNELS, "write switch: ovs")
            )
            yield (
                (*at, *path),
                what.format(path[-1]),
                f"omit it, or {hint}",
                own.polls == is_of_polling,
            )
    yield from classify.rules(scenario)


def _set_keys(own: Hypervisor) -> Iterator[tuple[KeyPath, bool]]:
    for keys, is_of_polling in ((POLLING_KEYS, True), (KERNEL_KEYS, False)):
        yield from (((key,), is_of_polling) for key in keys if key in own.model_fields_set)
    for name, pins in own.pins.items():
        if pins.vhost is not None:
            yield ("pins", name, "vhost"), False
