"""A simulated switch: one simulation for each trial, between two ideal hosts."""

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from tailrace.errors import RunRefusedError, closest, known_arm
from tailrace.experiment.native import make_trial, run_trial
from tailrace.outcome import types
from tailrace.scenario.loading import Loaded, load_scenario
from tailrace.scenario.lowering.plan import lower
from tailrace.tools.switch.frames import CHECK_BYTES, PS_PER_S
from tailrace.tools.switch.trial import Latency, Trial, TrialRequest

RATE = "10Gbit/s"
SENDER, RECEIVER = "sender", "receiver"
RESIDUE_PS = 2 * PS_PER_S
"""RFC 2544 section 23: two seconds for frames that are still under way."""
HEADERS_BYTES = 28
"""IPv4 and UDP."""
PS_PER_NS = 1_000
IDEAL_NIC: Mapping[str, Any] = {
    "tso_bytes": 0,
    "gro_bytes": 0,
    "rx_coalesce_ps": 0,
    "rx_jitter": {"constant": 0},
    "queue_bytes": 2**40,
}
"""A rig sends and stamps frames at their moment; where it must wait for its line, it does not lose
them."""


def default_scenario(rate: str = RATE) -> Loaded:
    """Two hosts at one switch with the defaults of a scenario, and jumbo frames."""
    return load_scenario(
        {
            "tailrace": 1,
            "name": "switch",
            "network": {
                "topology": {"kind": "star", "hosts": [SENDER, RECEIVER]},
                "link": {"rate": rate},
            },
            "hosts": {"defaults": {"mtu": "9000B"}},
            "workloads": {
                "frames": {
                    "kind": "datagrams",
                    "source": SENDER,
                    "destination": RECEIVER,
                    "sizes": "18B",
                    "interarrival": "1ms",
                    "count": 1,
                }
            },
            "experiment": {"duration": "1s"},
        }
    )


FRAMES: Mapping[str, Any] = lower(default_scenario().scenario, "base", trial=1)["workloads"][0]
"""What a plan has of the frames of a trial."""


class SimulatedSwitch:
    """The network of a scenario between two of its hosts."""

    is_simulated = True

    def __init__(
        self, loaded: Loaded, arm: str | None, source: str | None, destination: str | None
    ) -> None:
        chosen = known_arm(arm or loaded.scenario.baseline, list(loaded.arms))
        plan = lower(loaded.arms[chosen], chosen, trial=1)
        hosts = {host["name"]: host for host in plan["hosts"]}
        names = [source or next(iter(hosts)), destination or ""]
        names[1] = destination or next((name for name in hosts if name != names[0]), names[0])
        for name in names:
            if name not in hosts:
                raise RunRefusedError(
                    f"there is no host '{name}' (hint: {closest(name, list(hosts), 'hosts')})"
                )
        if names[0] == names[1]:
            raise RunRefusedError("frames need two hosts (hint: --source HOST --destination HOST)")
        _refuse_virtual_machines(plan, *names)
        self.source, self.destination = names
        self.arm, self.name = chosen, loaded.scenario.name
        self._plan = _plan_of(plan, self.source, self.destination)
        self.mtu = min(
            *(hosts[name]["mtu_bytes"] for name in names),
            *_port_mtus(plan, self.source, self.destination),
        )
        self.rate_bps = _rate(plan, self.source)
        self._to_rate_bps = _rate(plan, self.destination)

    @property
    def title(self) -> str:
        """The scenario with its arm."""
        return (
            f"the simulated network of {self.name}, {self.source} to "
            f"{self.destination}, arm {self.arm}"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What the result file keeps."""
        return {
            "scenario": self.name,
            "arm": self.arm,
            "source": self.source,
            "destination": self.destination,
        }

    def run(self, request: TrialRequest) -> Trial:
        """One simulation."""
        plan = dict(self._plan)
        payload = (
            request.frame_bytes - CHECK_BYTES - plan["framing"]["header_bytes"] - HEADERS_BYTES
        )
        sent = {
            "source": self.source,
            "destination": self.destination,
            "sizes": {"constant": payload},
            "interarrival": {"constant": request.interval_ps},
            "count": request.frames,
        }
        plan["workloads"] = [
            {**FRAMES, "body": {kind: body | sent for kind, body in FRAMES["body"].items()}}
        ]
        plan["stop_at_ps"] = (request.frames + 1) * request.interval_ps + RESIDUE_PS
        outcome = run_trial(make_trial(json.dumps(plan))).outcome
        assert outcome.conservation is not None, "the simulator counts all frames"
        [workload] = outcome.workloads
        sending_s = request.frames * request.interval_ps / PS_PER_S
        latency = _latency(workload.latency)
        return Trial(
            request, outcome.conservation.sent, workload.transactions, sending_s, latency=latency
        )

    def sender_fps(self, frame_bytes: int) -> float | None:
        """Nothing but the line limits it."""
        return None

    def latency_ns(self, frame_bytes: int) -> float | None:
        """Both lines: the time to send the frame, and the delay. None where more than one switch is
        between."""
        links = [
            link
            for link in self._plan["links"]
            if {self.source, self.destination} & {link["a"], link["b"]}
        ]
        if len(links) != 2 or len({name for link in links for name in (link["a"], link["b"])}) != 3:
            return None
        framing = self._plan["framing"]
        wire_bytes = frame_bytes - CHECK_BYTES + framing["overhead_bytes"]
        ps = sum(wire_bytes * 8 * PS_PER_S / link["rate_bps"] + link["delay_ps"] for link in links)
        return float(ps / PS_PER_NS)


def _plan_of(plan: dict[str, Any], *ends: str) -> dict[str, Any]:
    """The plan without its workloads, with ideal ends and exact clocks."""
    changed = deepcopy(plan)
    changed["clock_offset_ppb"] = 0
    for host in changed["hosts"]:
        host.pop("neighbours", None)
        if host["name"] in ends:
            host["nic"] = {**host["nic"], **IDEAL_NIC}
            host["cpu"] = {
                key: 0 for key in host["cpu"] if key != "processor"
            }  # nothing takes time
    changed["observe"] = {
        "ports": [],
        "series_bins": 0,
        "series_bin_ps": PS_PER_S,
        "transactions_max": 0,
        "digest": False,
    }
    return changed


def _port_mtus(plan: dict[str, Any], *ends: str) -> list[int]:
    """MTUs of the ports of the switches beside both ends. Behind these, a frame that does not fit
    is lost."""
    joined = {
        pair for link in plan["links"] for pair in ((link["a"], link["b"]), (link["b"], link["a"]))
    }
    found: list[int] = []
    for switch in plan["switches"]:
        own = {port["towards"]: port["mtu_bytes"] for port in switch.get("port_mtus", [])}
        mtus = [
            own.get(end, switch.get("mtu_bytes")) for end in ends if (switch["name"], end) in joined
        ]
        found += [mtu for mtu in mtus if mtu is not None]
    return found


def _rate(plan: dict[str, Any], host: str) -> int:
    return int(next(link["rate_bps"] for link in plan["links"] if host in (link["a"], link["b"])))


def _refuse_virtual_machines(plan: dict[str, Any], *ends: str) -> None:
    """Ideal ends have no cores, which the hypervisor of a virtual machine shares out."""
    for hypervisor in plan.get("hypervisors", []):
        inside = [machine["host"] for machine in hypervisor["machines"] if machine["host"] in ends]
        if inside:
            raise RunRefusedError(
                f"host '{inside[0]}' is a virtual machine of '{hypervisor['switch']}', and "
                "frames are sent and "
                "received by ideal hosts (hint: --source and --destination outside of hypervisors)"
            )


def _latency(found: types.Latency | None) -> Latency | None:
    if found is None or not found.count:
        return None
    return Latency(
        **{key: getattr(found, f"{key}_ps") / PS_PER_NS for key in Latency.__dataclass_fields__}
    )
