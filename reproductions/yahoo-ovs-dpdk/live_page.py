"""live.md, from what was measured: runs of live.yaml over each fabric (live.json) and guests
(live-guests.json).

Usage: .venv/bin/python reproductions/yahoo-ovs-dpdk/live_page.py [--note TEXT] [RUN ...]
With run directories it first reads them into live.json; without, it writes the page again.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from tailrace.outcome.types import Outcome, Workload
from tailrace.results.directory.run_directory import Run
from tailrace.results.metrics.costs import summarise_costs
from tailrace.statistics import mean

HERE = Path(__file__).resolve().parent
LIVE, GUESTS, PAGE = HERE / "live.json", HERE / "live-guests.json", HERE / "live.md"
SERVICES = {
    "http": "HTTP (nginx, wrk)",
    "redis": "Redis (redis-benchmark)",
    "mysql": "MariaDB (sysbench), five round trips in each transaction",
}
ARMS = {"": "alone", "-pinned": "pinned", "-noise": "noise", "-noise-pinned": "noise, pinned"}
FABRICS = ("bridge", "ovs", "ovs-dpdk")
PS_PER_MS = 10**9


def read(path: Path) -> dict[str, Any]:
    """The figures of every arm of a run: means over its valid trials."""
    run = Run.read(path)
    arms = {}
    for arm in run.arms:
        trials = run.valid(arm)
        costs = summarise_costs(trials)
        if not trials or costs is None:
            continue
        done = [(trial.outcome.workloads[0], trial.outcome) for trial in trials]
        arms[arm] = {
            "trials": len(trials),
            "rate_per_s": mean([one.transactions / _span_s(one, whole) for one, whole in done]),
            "rates_per_s": [one.transactions / _span_s(one, whole) for one, whole in done],
            "p50_ms": mean([one.latency.p50_ps / PS_PER_MS for one, _ in done if one.latency]),
            "p99_ms": mean([one.latency.p99_ps / PS_PER_MS for one, _ in done if one.latency]),
            "costs": to_builtins(costs),
        }
    manifest = run.manifest
    every = [trial for trials in run.trials.values() for trial in trials]
    failed = [
        f"{trial.arm}/{trial.number}: {trial.reason.split(' (hint')[0]}"
        for trial in every
        if trial.status != "ok"
    ]
    return {
        "versions": manifest.versions,
        "machine": manifest.machine,
        "arms": arms,
        "failed": failed,
    }


def _span_s(workload: Workload, whole: Outcome) -> float:
    """Time in which its requests were done."""
    if workload.completion_ps:
        return workload.completion_ps / 1e12
    assert whole.live is not None, "the trial is live"
    return whole.live.span_s


def ordered(live: dict[str, Any]) -> dict[str, Any]:
    """The fabrics in the order of the page."""
    return {fabric: live[fabric] for fabric in FABRICS if fabric in live}


def page(live: dict[str, Any], guests: dict[str, Any] | None) -> str:
    """The whole page."""
    notes = dict.fromkeys(run["note"] for run in live.values() if run.get("note"))
    parts = [
        HEAD,
        *(f"{note}\n" for note in notes),
        *(_service(name, words, live) for name, words in SERVICES.items()),
        _ratios(live),
    ]
    parts += [_absent(live)]
    parts += [_guests(guests)] if guests else []
    return "\n".join([*parts, LIMITS])


def _service(name: str, words: str, live: dict[str, Any]) -> str:
    rows = [f"## {words}\n", HEADS]
    for suffix, arm in ARMS.items():
        for fabric, run in live.items():
            if own := run["arms"].get(name + suffix):
                rows.append(_row(arm, fabric, name, own))
    return "\n".join(rows) + "\n"


HEADS = (
    "| | fabric | requests/s (trials) | p50, ms | p99, ms | switches/request, client | server "
    "| switch | machine, "
    "switches/s | switches/request | soft interrupts, cores | switch, cores | lost or overrun |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def _row(arm: str, fabric: str, name: str, own: dict[str, Any]) -> str:
    costs = own["costs"]
    client, server = (costs["programs"][f"{name}/{host}"] for host in ("client", "server"))
    switch, machine = costs["switch"], costs["machine"]
    lost = sum(sum(each.values()) for each in costs["losses"].values()) + machine["backlog_dropped"]
    cells = [
        arm,
        fabric,
        _rates(own["rates_per_s"]),
        f"{own['p50_ms']:.3f}",
        f"{own['p99_ms']:.2f}",
        _text(client["switches_per_request"]),
        _text(server["switches_per_request"]),
        _text(switch["switches_per_request"]) if switch else "–",
        f"{machine['switches_per_s']:,.0f}",
        _text(machine["switches_per_request"]),
        f"{machine['softirq_cores']:.2f}",
        f"{switch['user_cores'] + switch['system_cores']:.2f}" if switch else "–",
        f"{lost:,.0f}",
    ]
    return "| " + " | ".join(cells) + " |"


def _rates(rates: list[float]) -> str:
    """The mean, and the trials where there are several."""
    trials = f" ({', '.join(f'{rate:,.0f}' for rate in rates)})" if len(rates) > 1 else ""
    return f"{mean(rates):,.0f}{trials}"


def _text(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _ratios(live: dict[str, Any]) -> str:
    """ovs-dpdk against the bridge, beside what was published."""
    if not {"bridge", "ovs-dpdk"} <= live.keys():
        return ""
    bridge, dpdk = live["bridge"]["arms"], live["ovs-dpdk"]["arms"]
    rows = ["## Open vSwitch with DPDK against the bridge\n", RATIO_HEADS]
    for name in SERVICES:
        for suffix, arm in ARMS.items():
            a, b = bridge.get(name + suffix), dpdk.get(name + suffix)
            if a and b:
                rows.append(_ratio(f"{name}, {arm}", a, b))
    rows += ["", *_taxes(bridge, dpdk)]
    return "\n".join(rows) + "\n"


def _absent(live: dict[str, Any]) -> str:
    """What was not measured, and the reasons of failed trials."""
    arms = {name + suffix for name in SERVICES for suffix in ARMS}
    lines = []
    for fabric in FABRICS:
        if lacks := sorted(arms - set(live.get(fabric, {"arms": {}})["arms"])):
            lines.append(
                f"- {fabric}: "
                f"{', '.join(lacks) if len(lacks) < len(arms) else 'nothing was measured'}"
            )
        lines += [
            f"  - failed: {reason[:160]}" for reason in live.get(fabric, {}).get("failed", [])
        ]
    return "\n".join(["## Not measured\n", *lines, ""]) if lines else ""


RATIO_HEADS = (
    "| | requests/s | p50 | p99 | context switches of the machine per second | per request "
    "|\n|---|---|---|---|---|---|"
)


def _ratio(name: str, a: dict[str, Any], b: dict[str, Any]) -> str:
    x, y = a["costs"]["machine"], b["costs"]["machine"]
    ratios = [b[key] / a[key] for key in ("rate_per_s", "p50_ms", "p99_ms")]
    ratios += [y[key] / x[key] for key in ("switches_per_s", "switches_per_request")]
    return f"| {name} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |"


def _taxes(bridge: dict[str, Any], dpdk: dict[str, Any]) -> list[str]:
    """Throughput that noise takes."""
    rows = ["| requests/s lost to noise | bridge | ovs-dpdk |", "|---|---|---|"]
    for name in SERVICES:
        for words, quiet, noisy in (
            ("", name, f"{name}-noise"),
            (", pinned", f"{name}-pinned", f"{name}-noise-pinned"),
        ):
            cells = [_lost(arms, quiet, noisy) for arms in (bridge, dpdk)]
            rows.append(f"| {name}{words} | " + " | ".join(cells) + " |")
    return rows


def _lost(arms: dict[str, Any], quiet: str, noisy: str) -> str:
    if quiet not in arms or noisy not in arms:
        return "–"
    return f"{(1 - arms[noisy]['rate_per_s'] / arms[quiet]['rate_per_s']) * 100:.0f} %"


def _guests(guests: dict[str, Any]) -> str:
    rows = [GUESTS_HEAD]
    for kind, trials in guests["trials"].items():
        rates = [trial["rate_per_s"] for trial in trials]
        cells = [kind, _rates(rates)]
        cells += [
            f"{mean([trial[key] for trial in trials]):.2f}"
            for key in ("p50_ms", "p99_ms", "round_trip_ms")
        ]
        cells.append(
            f"{mean([trial['client_switches'] / trial['requests'] for trial in trials]):.2f}"
        )
        for who in ("client", "server", "switch"):
            cells.append(_of_guest(trials, who))
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _of_guest(trials: list[dict[str, Any]], who: str) -> str:
    """Context switches on the machine for each request, and cores."""
    found = [(trial["spent"].get(who), trial) for trial in trials]
    if any(own is None for own, _ in found):
        return "–"
    switches = [
        (own["voluntary_switches"] + own["involuntary_switches"]) / trial["requests"]
        for own, trial in found
    ]
    cores = [(own["user_ps"] + own["system_ps"]) / 1e12 / trial["span_s"] for own, trial in found]
    return f"{mean(switches):.1f} ({mean(cores):.2f} cores)"


HEAD = """# The same requests on a real machine

`live_page.py` writes this page. Two hosts (network namespaces) and a switch share **two virtual cores**; the programs are real. Eight
users, responses of 250 bytes; links of 150 Mbit/s carry 55 000 of them a second, so that processors decide, except for Redis where it
reaches nearly that; `noise`: two tasks of stress-ng that compute
in a control group of their own, as another virtual machine does; `pinned`: programs and noise on core 0, so that core 1 is left to the
switch. Context switches are those of programs (voluntary and not), and of everything on the machine. Medians and percentiles are means
over trials.

```sh
make live-deps WITH="ovs ovs-dpdk"; apt-get install stress-ng user-mode-linux
for f in bridge ovs ovs-dpdk; do
  tailrace run --live reproductions/yahoo-ovs-dpdk/live.yaml --fabric $f --out runs/live-$f
done
.venv/bin/python reproductions/yahoo-ovs-dpdk/live_guests.py
.venv/bin/python reproductions/yahoo-ovs-dpdk/live_page.py runs/live-bridge runs/live-ovs runs/live-ovs-dpdk
```
"""  # noqa: E501  lines of a page

GUESTS_HEAD = """## Two virtual machines

Guests of User-Mode Linux with kernels of their own (`live_guests.py`): HTTP between them, eight users, 4 s. Over the bridge and Open
vSwitch each has a TAP interface, with DPDK a vhost-user port: guest and switch share memory. A system call of such a guest costs several
switches between processes of the machine (ptrace), which virtual machines with hardware support do not have: the columns of the machine
show it.

| switch | requests/s (trials) | p50, ms | p99, ms | ping, ms | switches/request in the client's kernel | on the machine: client | server | switch |
|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  lines of a page

LIMITS = """## What two cores cannot show

- **DPDK's polling thread uses one of the two cores whole**, whether frames come or not. The published hosts have 28 cores, of which a few
  poll. Here the programs have half of the machine left, and a comparison at equal processors is not possible: what the switch saves in
  soft interrupts, it first takes.
- **The hosts are namespaces with the kernel's TCP**; DPDK reaches them through `net_af_packet`, so that each frame still passes a socket
  and a soft interrupt. The published factor of 10 in short frames is that of user-space endpoints (vhost-user); with kernel endpoints
  DPDK passes 213 000 frames/s and the bridge 186 000 ([other switches](../../docs/models/other-switches.md)).
- **No exits**: without hardware support there are no virtual cores, no vhost threads and no interrupts for them, which is where the
  bridge spends its context switches. In the guests above they are replaced by the much larger costs of ptrace.
- **`ovs` is the datapath in user space**: this kernel has no module of Open vSwitch.
- **No pages of 1 GB**: DPDK runs without huge pages here. Their gain is a stated factor of the simulated half.
- Overruns (RX-OVR) need a network interface whose ring overflows, or a receive queue of a core above 1000 frames
  (`netdev_max_backlog`); eight users who wait for each response never have so many frames under way. The last column counts them.
- Pinning leaves one core to programs and noise together, so that `noise, pinned` takes a large part of the programs' time by arithmetic:
  two groups share one core.
"""  # noqa: E501  lines of a page


def main() -> None:
    """Reads runs, if there are any, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--note", default="", help="what else ran on the machine")
    parser.add_argument("runs", nargs="*", type=Path)
    chosen = parser.parse_args()
    if chosen.runs:
        runs = {
            str(Run.read(path).manifest.fabric): read(path) | {"note": chosen.note}
            for path in chosen.runs
        }
        LIVE.write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    live = json.loads(LIVE.read_text(encoding="utf-8"))
    guests = json.loads(GUESTS.read_text(encoding="utf-8")) if GUESTS.exists() else None
    PAGE.write_text(page(ordered(live), guests), encoding="utf-8")


if __name__ == "__main__":
    main()
