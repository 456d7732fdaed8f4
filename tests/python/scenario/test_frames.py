"""Frames of a blaster, and other traffic in one direction: what is refused."""

from typing import Any

import pytest

from lab import load, problems, sound

FRAMES: dict[str, Any] = {
    "kind": "frames",
    "source": "client",
    "destination": "db",
    "frame": "1000B",
}
DATAGRAMS: dict[str, Any] = {
    "kind": "datagrams",
    "source": "client",
    "destination": "db",
    "sizes": "1000B",
    "interarrival": "1ms",
}
FLOWS: dict[str, Any] = {
    "kind": "flows",
    "sources": ["client"],
    "destinations": ["db"],
    "sizes": "1MB",
    "interarrival": "1ms",
}


def test_a_frame_is_no_longer_than_the_mtu_of_its_source_and_its_ethernet_header() -> None:
    def found(frame: str, mtu: str) -> list[str]:
        return problems(
            sound(workloads__own={**FRAMES, "frame": frame}, hosts__client={"mtu": mtu})
        )

    assert found("1514B", "1500B") == []
    assert found("9014B", "9000B") == []
    [said] = found("1515B", "1500B")
    assert said.startswith(
        "workloads.own.frame: a frame of 1515 bytes is longer than the MTU of 'client'"
    )
    assert "write at most 1514B, or raise hosts.client.mtu" in said


@pytest.mark.parametrize("workload", [FRAMES, DATAGRAMS, FLOWS], ids=lambda own: own["kind"])
def test_a_workload_that_starts_when_the_trial_is_over_is_refused(workload: dict[str, Any]) -> None:
    duration_ps = load().scenario.experiment.duration
    assert problems(sound(workloads__own={**workload, "start": f"{duration_ps - 1}ps"})) == []
    [said] = problems(sound(workloads__own={**workload, "start": f"{duration_ps}ps"}))
    assert said.startswith("workloads.own.start: the workload starts after the end of the trial")
