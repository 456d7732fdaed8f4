"""Settings of hosts as shell lines. Previous values are kept in files and restored from them."""

from collections.abc import Mapping, Sequence

from tailrace.advice.candidate import Settings

ROUTES = "tailrace-routes.before"
READABLE = "sed 's/rto_min lock/rto_min/; s/ linkdown//'"
"""`ip route` prints words that it does not accept as input: `lock` after `rto_min`, and the link
state."""


def sysctl_settings(where: str, values: Mapping[str, str]) -> Settings:
    """Kernel settings. The first application saves the present value; later ones do not."""
    apply: list[str] = []
    undo: list[str] = []
    for key, wanted in values.items():
        before = f"tailrace-{key}.before"
        apply += [f"[ -e {before} ] || sysctl {key} > {before}", f"sysctl -w {key}={wanted}"]
        undo.append(f"sysctl -p {before} && rm {before}")
    return Settings(where, tuple(apply), tuple(undo))


def route_settings(where: str, wanted: str) -> Settings:
    """An attribute of every route of a host."""
    return Settings(
        where,
        (
            f"[ -e {ROUTES} ] || ip route show | {READABLE} > {ROUTES}",
            f"ip route show | {READABLE} | while read -r ROUTE; do ip route change $ROUTE "
            f"{wanted}; done",
        ),
        (f"while read -r ROUTE; do ip route change $ROUTE; done < {ROUTES} && rm {ROUTES}",),
    )


def mtu_settings(where: str, mtu: int) -> Settings:
    """The MTU of an interface, and a probe of the path to a peer that has it too."""
    before = "tailrace-$INTERFACE-mtu.before"
    return Settings(
        f"{where}, with the INTERFACE; when all have it, the probe to each PEER",
        (
            f"[ -e {before} ] || cat /sys/class/net/$INTERFACE/mtu > {before}",
            f"ip link set dev $INTERFACE mtu {mtu}",
            "tailrace measure path $PEER",
        ),
        (f"ip link set dev $INTERFACE mtu $(cat {before}) && rm {before}",),
    )


def poll_mode_settings(hypervisors: Sequence[str]) -> tuple[Settings, ...]:
    """Open vSwitch with DPDK, on one core."""
    table = "Open_vSwitch . other_config"
    return tuple(
        Settings(
            f"hypervisor {name}, with the name of its BRIDGE; ports of virtual machines become "
            "vhost-user ports",
            (
                f"ovs-vsctl set {table}:dpdk-init=true other_config:pmd-cpu-mask=0x1",
                "ovs-vsctl set bridge $BRIDGE datapath_type=netdev",
            ),
            (
                "ovs-vsctl set bridge $BRIDGE datapath_type=system",
                f"ovs-vsctl remove {table} pmd-cpu-mask",
                f"ovs-vsctl remove {table} dpdk-init",
            ),
        )
        for name in hypervisors
    )
