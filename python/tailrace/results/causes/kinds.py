"""Which workloads of a plan are explained."""

from collections.abc import Mapping
from typing import Any

OVER_UDP = "its packets are datagrams, whose frames are not followed"
"""Why kinds over UDP are not explained."""


def unexplained(plan: Mapping[str, Any]) -> dict[str, str]:
    """The workloads of a plan whose latencies are not explained, each with the reason."""
    why = {str(workload["header"]["name"]): _why(workload["body"]) for workload in plan["workloads"]}
    return {name: reason for name, reason in why.items() if reason}


def _why(body: Mapping[str, Any]) -> str:
    ((kind, settings),) = body.items()
    match kind:
        case "stream" if not settings["bytes"]:
            return "a stream without an end is never complete"
        case "datagrams" | "frames" | "blocks":
            return OVER_UDP
        case "requests" if settings["is_udp"]:
            return OVER_UDP
        case _:
            return ""
