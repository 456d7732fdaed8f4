"""Protocols of storage: what ends agree on, what is refused, what stands in the plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.workloads.storage_protocols import Iscsi

DISK: dict[str, Any] = {
    "kind": "storage",
    "initiators": ["client"],
    "target": "db",
    "device": "sata-ssd",
}
KIB = 1024


def protocol(**changes: Any) -> Any:
    raw = lower(load(workloads__disk=DISK | changes).scenario, "t", 1)
    return next(own for own in raw["workloads"] if own["header"]["name"] == "disk")["body"][
        "storage"
    ]["protocol"]


def test_libiscsi_and_tgt_agree_on_what_was_captured() -> None:
    agreed = protocol(protocol="iscsi")["iscsi"]
    assert agreed["initial_r2t"]
    assert agreed["immediate_data"]
    assert not agreed["cuts_sequences"]
    assert (agreed["first_burst_bytes"], agreed["max_burst_bytes"]) == (64 * KIB, 256 * KIB)
    assert (agreed["initiator_max_recv_bytes"], agreed["target_max_recv_bytes"]) == (
        256 * KIB,
        8 * KIB,
    )
    assert (agreed["max_outstanding_r2t"], agreed["commands"], agreed["counts_unanswered"]) == (
        1,
        129,
        False,
    )
    assert agreed["set_up_bytes"][0] == [452, 348]
    assert len(agreed["set_up_bytes"]) == 12


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (
            {"initiator": "open-iscsi", "target": "lio"},
            (True, True, 64 * KIB, 256 * KIB, 256 * KIB, 1),
        ),
        ({"initiator": "rfc", "target": "rfc"}, (True, True, 64 * KIB, 256 * KIB, 8 * KIB, 1)),
        (
            {"initiator": "open-iscsi", "initial_r2t": False},
            (False, True, 64 * KIB, 256 * KIB, 256 * KIB, 1),
        ),
        (
            {"immediate_data": False, "max_burst": "1MiB"},
            (True, False, 64 * KIB, 1024 * KIB, 256 * KIB, 1),
        ),
    ],
)
def test_ends_agree_as_the_rfc_says(ends: dict[str, Any], expected: tuple[Any, ...]) -> None:
    agreed = Iscsi.model_validate(ends).agreed()
    found = (
        agreed.initial_r2t,
        agreed.immediate_data,
        agreed.first_burst,
        agreed.max_burst,
        agreed.max_recv,
    )
    assert (*found, agreed.max_outstanding_r2t) == expected


def test_queues_and_connections_stand_in_the_plan() -> None:
    queues = protocol(protocol="nvme-tcp", nvme_tcp={"queues": 4, "success_flag": True})["nvme-tcp"]
    assert (queues["queues"], queues["in_capsule_bytes"], queues["success_flag"]) == (
        4,
        16 * KIB,
        True,
    )
    assert protocol(protocol="nbd")["nbd"] == {
        "connections": 1,
        "requests": 16,
        "structured_replies": True,
    }


@pytest.mark.parametrize(
    ("changes", "key", "what"),
    [
        ({"protocol": "iscsi", "initiators": ["db"]}, ".initiators.0", "db"),
        ({"protocol": "iscsi", "nbd": {}}, ".nbd", "no effect with `protocol: iscsi`"),
        (
            {"protocol": "iscsi", "iscsi": {"first_burst": "100B"}},
            ".iscsi.first_burst",
            "not a length of iSCSI",
        ),
        (
            {"protocol": "iscsi", "iscsi": {"max_burst": "16MiB"}},
            ".iscsi.max_burst",
            "not a length of iSCSI",
        ),
        (
            {"protocol": "iscsi", "iscsi": {"max_burst": "32KiB"}},
            ".iscsi.max_burst",
            "longer than the others",
        ),
        (
            {"protocol": "iscsi", "iscsi": {"first_burst": "1MiB"}},
            ".iscsi.first_burst",
            "longer than the others",
        ),
        ({"protocol": "iscsi", "iscsi": {"initiator": "open"}}, ".iscsi.initiator", "libiscsi"),
        (
            {"protocol": "iscsi", "iscsi": {"max_outstanding_r2t": 0}},
            ".iscsi.max_outstanding_r2t",
            "1",
        ),
        (
            {"protocol": "nvme-tcp", "nvme_tcp": {"max_h2c_data": "4095B"}},
            ".nvme_tcp.max_h2c_data",
            "not a MAXH2CDATA",
        ),
        ({"protocol": "nvme-tcp", "nvme_tcp": {"queues": 0}}, ".nvme_tcp.queues", "1"),
        ({"protocol": "nbd", "nbd": {"requests": 0}}, ".nbd.requests", "1"),
    ],
)
def test_what_no_session_has_is_refused(changes: dict[str, Any], key: str, what: str) -> None:
    found = problems(sound(workloads__disk=DISK | changes))
    assert any(
        problem.startswith(f"workloads.disk{key}: ") and what in problem for problem in found
    ), found


def test_sessions_over_the_network_are_sound() -> None:
    for name in ("iscsi", "nvme-tcp", "nbd"):
        assert problems(sound(workloads__disk=DISK | {"protocol": name})) == []
