"""The plan of a lab in which nothing is sent."""

from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower


def plan_of_one_host() -> str:
    """A lab needs a plan: two hosts and a switch, on which nothing is sent."""
    data = {
        "tailrace": 1,
        "name": "template",
        "network": {
            "topology": {"kind": "star", "hosts": ["db", "other"]},
            "link": {"rate": "100Mbit/s"},
        },
        "workloads": {
            "none": {"kind": "stream", "source": "db", "destination": "other", "size": "1kB"}
        },
        "experiment": {"duration": "1s"},
    }
    scenario = load_scenario(data).scenario
    return canonical_json(lower(scenario, "base", 1))
