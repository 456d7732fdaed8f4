"""Frames and interfaces of hosts: MTU, interrupt moderation."""

from collections.abc import Iterator

from tailrace.advice.candidate import QUEUES, REPEATS, WINDOW, WORK, Candidate, Settings
from tailrace.advice.settings import mtu_settings
from tailrace.advice.situation import Situation

JUMBO = 9000
PS_PER_US = 10**6


def candidates(situation: Situation) -> Iterator[Candidate]:
    """Jumbo frames, and polls without delay."""
    hosts = [situation.scenario.host(name) for name in situation.hosts]
    smallest = min(host.mtu for host in hosts)
    switches = [situation.scenario.switch(name) for name in situation.switches]
    is_open = all(switch.mtu is None or switch.mtu >= JUMBO for switch in switches)
    if smallest < JUMBO:
        yield Candidate(
            name=f"mtu-{JUMBO}",
            group="mtu",
            title="Jumbo frames: hosts have an MTU of 9000 bytes",
            changes={
                **situation.of_hosts("mtu", f"{JUMBO}B"),
                **({} if is_open else situation.of_switches("mtu", "9216B")),
            },
            acts_on=frozenset(),
            costs="Every host, switch and virtual switch of the network must have it, or long "
            "frames vanish silently.",
            settings=(mtu_settings(situation.hosts_text(situation.hosts), JUMBO),),
            evidence="examples/jumbo.yaml, docs/validation.md",
        )
    coalesce = max(host.nic.rx_coalesce for host in hosts)
    if coalesce:
        yield Candidate(
            name="no-moderation",
            group="no-moderation",
            title="Interfaces interrupt at once",
            changes=situation.of_hosts("nic.rx_coalesce", "0s"),
            acts_on=WORK | QUEUES | REPEATS | {WINDOW},
            costs="More interrupts: processor time that programs lack.",
            settings=(
                Settings(
                    f"{situation.hosts_text(situation.hosts)}, with the INTERFACE; `ethtool -c` "
                    "tells what to take back to",
                    ("ethtool -C $INTERFACE adaptive-rx off rx-usecs 0",),
                    (f"ethtool -C $INTERFACE adaptive-rx off rx-usecs {coalesce // PS_PER_US}",),
                ),
            ),
            evidence="docs/models/host.md",
        )
