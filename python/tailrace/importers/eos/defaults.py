"""What EOS does where a configuration says nothing, with the evidence for each.

Printed by switches (`show running-config all` of a DCS-7260CX-64 with EOS 4.19.1F, a DCS-7260CX3-64
with 4.21.7M and a DCS-7260CX3-64E with 4.22.3M; batfish/batfish, `arista_interface_show_run_all*`):
a port has eight transmit queues, each with strict priority, without bandwidth, shaper, guarantee,
`random-detect ecn` and `random-detect drop`; no priority pauses, the watchdog is on without times
of its own, `qos cos` is 0.

Quoted from the EOS user manual, "Quality of Service", in public guides (SongKou/songkou.github.io,
"Arista EOS RoCEv2 lossless configuration", for Arad, Jericho, Trident, Trident II and Tomahawk):
the maps below, the trust of routed and switched ports, round-robin shares as weights of what strict
queues leave.

No public source was found for the rest: `UNVERIFIED`. An import that uses one says so.
"""

from tailrace.importers.remarks import Remarks

COS_MAP = dict(enumerate((1, 0, 2, 3, 4, 5, 6, 7)))
"""Traffic class of each 802.1Q priority: 0 and 1 are exchanged (quoted)."""
DSCP_MAP = {dscp: COS_MAP[dscp // 8] for dscp in range(64)}
"""Traffic class of each code point (quoted)."""
QUEUE_MAP = {tc: tc for tc in range(8)}
"""Transmit queue of each traffic class (quoted for classes 0, 3 and 7)."""
COS = 0
"""Priority of frames of a port that trusts nothing (printed)."""
MARK_PERCENT, WEIGHT = 100, 0
"""Of a `random-detect` that states none (unverified)."""
MTU = 1500
"""Bytes, of a routed port without `mtu` (printed for loopback and management ports alone;
unverified)."""

UNVERIFIED = {
    "order": "strict queues are served by number, the highest first",
    "below": "`no priority` makes a queue and all below it round robin",
    "equal": "round-robin queues without bandwidth percent share the rest in equal parts",
    "scaled": "bandwidth percent above 100 together are scaled",
    "red": "`random-detect` without probability and weight has "
    f"{MARK_PERCENT} % and weight {WEIGHT}",
    "decimal": "kbytes and mbytes are decimal",
    "segment": "a segment is a cell of the ASIC's buffer",
    "watchdog": "without `pause watchdog default timeout` no watchdog acts",
    "recovery": "without recovery-time the watchdog recovers after its timeout",
    "guaranteed": "the watchdog acts on lossless queues without bandwidth guaranteed as well",
    "mtu": f"routed ports without mtu have {MTU} bytes",
}
"""Defaults without a public source."""


def note(remarks: Remarks, *used: str) -> None:
    """Remarks about unverified defaults that an import uses."""
    for name in used:
        remarks.add(0, "", "assumed", f"default of EOS without a public source: {UNVERIFIED[name]}")
