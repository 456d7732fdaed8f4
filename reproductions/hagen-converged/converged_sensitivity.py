"""What each assumed value does to what the thesis says, one at a time: writes sensitivity.md.

.venv/bin/python reproductions/hagen-converged/converged_sensitivity.py
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from converged_matrix import SHARED, WRITE_MAX, mixes_of
from converged_measure import ONE_WAY, Mixes, measured, share

HERE = Path(__file__).resolve().parent
LIO = {"initiator": "open-iscsi", "target": "lio"}
WHOLE = {
    "initial_r2t": False,
    "immediate_data": True,
    "first_burst": "256KiB",
    "target_max_recv_data_segment": "256KiB",
}
SLACK = 1.0
"""Points by which a two-way class may keep less than a one-way one: noise of a trial."""


def storage(**keys: Any) -> dict[str, Any]:
    """Keys of both workloads of iSCSI."""
    return {
        f"workloads.{name}.{key}": value
        for name in ("read", "write")
        for key, value in keys.items()
    }


def connections(number: int) -> dict[str, Any]:
    """Connections of TCP, and as many turns of the interface."""
    shares = {"tcp": number, "udp": 1, "read": 1, "write": 1}
    unit = round(100 / sum(shares.values()), 1)
    own = {name: f"{count * unit:.1f}%" for name, count in shares.items() if name != "tcp"}
    own["tcp"] = f"{100 - 3 * unit:.1f}%"
    return {"workloads.tcp.connections": number} | {
        f"hosts.source.nic.ets.{name}.share": text for name, text in own.items()
    }


VARIATIONS: dict[str, Mapping[str, Any]] = {
    "as it is": {},
    "1 TCP connection": connections(1),
    "2 TCP connections": connections(2),
    "8 TCP connections": connections(8),
    "iSCSI: 1 under way": storage(depth=1),
    "iSCSI: 8 under way": storage(depth=8),
    "iSCSI: 32 under way": storage(depth=32),
    "iSCSI: requests of 64 KiB": storage(block="64KiB"),
    "iSCSI: requests of 1 MiB": storage(block="1MiB"),
    "iSCSI: libiscsi and tgt (units of 8 KiB)": storage(
        iscsi={"initiator": "libiscsi", "target": "tgt"}
    ),
    "iSCSI: no immediate data": storage(iscsi=LIO | {"immediate_data": False}),
    "iSCSI: MaxBurst 64 KiB": storage(iscsi=LIO | {"max_burst": "64KiB"}),
    "iSCSI: no R2T (FirstBurst 256 KiB)": storage(iscsi=LIO | WHOLE),
    "UDP: half of the rate": {"workloads.udp.interarrival": "uniform(2052ns, 3076ns)"},
    "UDP: a fifth of the rate": {"workloads.udp.interarrival": "uniform(5130ns, 7690ns)"},
    "UDP: send buffer of 70 kB": {"workloads.udp.send_buffer": "70kB"},
    "UDP: send buffer of 600 kB": {"workloads.udp.send_buffer": "600kB"},
    "UDP: send buffer of 1.2 MB": {"workloads.udp.send_buffer": "1200kB"},
    "interface: 1 MB": {"hosts.defaults.nic.queue": "1MB"},
    "TCP: no small queues": {"hosts.defaults.tcp": {"small_queue": "0s"}},
    "TCP: no small queues, interface 1.5 MB": {
        "hosts.defaults.tcp": {"small_queue": "0s"},
        "hosts.defaults.nic.queue": "1500kB",
    },
    "switch: 12 MB": {"switches.leaf.buffer": "12MB", "policies.one-queue.queues.all.limit": "6MB"},
    "line: 10 us": {"network.link.delay": "10us"},
}


def judged(found: Mixes, prefix: str) -> list[str]:
    """Shares of the writes in mixes of three, and the mixes in which reads keep less than another
    class."""
    mixes = mixes_of(found)
    shares = {
        mix: share(found[prefix + mix], "write")
        for mix in mixes
        if mix.count("-") == 2 and "write" in mix
    }
    worse = [
        mix for mix in mixes if "read" in mix.split("-") and not read_keeps_most(found, mix, prefix)
    ]
    told = " / ".join(f"{value:.0f}" for value in shares.values())
    return [
        told,
        "yes" if max(shares.values()) < WRITE_MAX else "**no**",
        "yes" if not worse else f"**not in {len(worse)} of 6**",
    ]


def read_keeps_most(found: Mixes, mix: str, prefix: str) -> bool:
    """Whether no class of a mix keeps more of its rate than the reads."""
    keeps = {name: 100 * rate / found[name][name] for name, rate in found[prefix + mix].items()}
    return all(keeps["read"] >= keeps[name] - SLACK for name in ONE_WAY if name in keeps)


HEAD = """# What the assumed values do

One trial of each arm, seed 1, one value changed at a time; `converged_sensitivity.py` writes this page. The three numbers are the share of the iSCSI writes in all
goodput, in percent, in the mixes with TCP and UDP, with TCP and reads, and with UDP and reads. The thesis says that each is below 25, and that
two-way classes (reads) were less impacted: that no class of a mix keeps more of its rate alone than the reads.

"""  # noqa: E501  lines of a page


def main() -> None:
    """Writes the page."""
    head = ["variation"]
    for what in ("own queues", "one queue"):
        head += [f"{what}: write's share", "below 25 %", "reads lose least"]
    rows = [head, ["---"] * len(head)]
    for name, changes in VARIATIONS.items():
        found = measured("scenario.yaml", changes)
        rows.append([name, *judged(found, ""), *judged(found, SHARED)])
    page = HEAD + "\n".join("| " + " | ".join(cells) + " |" for cells in rows) + "\n"
    (HERE / "sensitivity.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
