"""What the doctor says of the fabric's facts: as whom one is here, and what of control groups there
is."""

from pathlib import Path
from typing import Any

import pytest

import fake_engine
from tailrace.live.machine.doctor import Fact, exact_fact, fabric_facts

ROOT: dict[str, Any] = {
    "capabilities": {"lab": True},
    "user_namespaces": True,
    "cgroup": "v2",
    "tun": True,
}


def facts(**changes: Any) -> dict[str, Fact]:
    """By what they are about."""
    return {fact.what: fact for fact in fabric_facts(ROOT | changes)}


@pytest.mark.parametrize(
    ("changes", "value", "is_good"),
    [
        ({}, "root", True),
        ({"capabilities": {"lab": False}}, "ordinary user: labs are in a user namespace", True),
        ({"capabilities": {"lab": False}, "user_namespaces": False}, "too few", False),
    ],
)
def test_the_doctor_says_as_whom_labs_are_made(
    changes: dict[str, Any], value: str, is_good: bool
) -> None:
    found = facts(**changes)["privileges"]
    assert (found.value, found.is_good) == (value, is_good)


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"cgroup_usable": True, "cpu_limits": True}, "v2"),
        ({"cgroup_usable": True, "cpu_limits": False}, "v2, without CPU limits"),
        (
            {"cgroup_usable": True, "cpu_limits": True, "priorities": False},
            "v2, without priorities of programs",
        ),
        (
            {"cgroup_usable": True, "cpu_limits": False, "priorities": False},
            "v2, without CPU limits and priorities of programs",
        ),
        ({"cgroup_usable": False, "cpu_limits": False}, "v2, not usable"),
    ],
)
def test_the_doctor_says_what_control_groups_can_do(changes: dict[str, Any], value: str) -> None:
    found = facts(**changes)["control groups"]
    assert (found.value, found.is_good) == (value, None)


def test_the_doctor_tells_a_missing_device_from_one_without_permission() -> None:
    assert facts()["/dev/net/tun"].is_good
    missing = facts(tun=False, tun_is_missing=True)["/dev/net/tun"]
    closed = facts(tun=False, tun_is_missing=False)["/dev/net/tun"]
    assert [(each.value, each.is_good) for each in (missing, closed)] == [
        ("missing", False),
        ("no permission", False),
    ]
    assert "modprobe" in missing.advice
    assert "permission" in closed.advice
    assert "modprobe" not in closed.advice


@pytest.mark.parametrize(
    ("kernel", "value", "advice"),
    [
        ("/no/such/kernel", "missing", "TAILRACE_EXACT_KERNEL: /no/such/kernel is no file"),
        (
            "/bin/false",
            "does not start",
            "/bin/false: its kernel does not start (exit status: 1) (hint: `make exact-deps`",
        ),
        (
            "/bin/true",
            "does not start",
            "/bin/true: its kernel does not start (exit status: 0) (hint: `make exact-deps`",
        ),
    ],
)
def test_the_doctor_says_of_a_kernel_that_is_none(
    kernel: str, value: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAILRACE_EXACT_KERNEL", kernel)
    found = exact_fact()
    assert found.value == value
    assert found.advice.startswith(advice)
    assert "\n" not in found.advice


def test_the_doctor_says_what_guests_have_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = {"release": "6.1.192", "wall_s": 0.44, "registers": {"bytes": 2696, "room_bytes": 11008}}
    fake_engine.answer(
        monkeypatch, tmp_path, kernel={"kernel": "/a/kernel", "problem": None}, boot=seen
    )
    registers = "2696 of 11008 bytes of extended registers"
    assert exact_fact() == Fact(
        "kernel of exact runs", f"6.1.192, two guests started and ended in 0.4 s, {registers}", None
    )


def test_the_doctor_says_in_one_line_why_guests_do_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reason = "making a process namespace (hint: as root, or allow user namespaces)"
    fake_engine.answer(
        monkeypatch,
        tmp_path,
        kernel={"kernel": "/a/kernel"},
        boot=f"tailrace-exact: {reason}\n    and its console\n",
    )
    assert exact_fact() == Fact(
        "kernel of exact runs", "does not start", None, f"/a/kernel: {reason}"
    )
