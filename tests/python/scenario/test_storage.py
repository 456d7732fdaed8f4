"""Storage: what is refused, what presets set, and what stands in the plan."""

from typing import Any

import pytest

from lab import load, problems, sound
from tailrace.errors import ScenarioError
from tailrace.exact.refuse import refuse as refuse_exact
from tailrace.scenario.lowering.plan import lower
from tailrace.scenario.network.device import PRESETS, Device
from tailrace.scenario.text.units import exact_size
from tailrace.scenario.workloads.division import Divisor
from tailrace.scenario.workloads.planned import planned_workloads
from tailrace.scenario.workloads.storage import Storage

DISK: dict[str, Any] = {
    "kind": "storage",
    "initiators": ["client", "db"],
    "device": "sata-ssd",
    "depth": 8,
}
OWN: dict[str, Any] = {
    "read_latency": "80us",
    "write_latency": "100us",
    "read_rate": "500MB/s",
    "write_rate": "400MB/s",
}
HEAD: dict[str, Any] = {"preset": "disk-7200"}


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in (base | changes).items() if value is not ...}


def workload(**changes: Any) -> Storage:
    found = load(workloads__disk=merged(DISK, changes)).scenario.workloads["disk"]
    assert isinstance(found, Storage)
    return found


def plan(
    devices: dict[str, Any] | None = None, **changes: Any
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    scenario = load(workloads__disk=merged(DISK, changes), devices=devices or {}).scenario
    raw = lower(scenario, "t", 1)
    body = next(own for own in raw["workloads"] if own["header"]["name"] == "disk")["body"][
        "storage"
    ]
    return body, raw["devices"]


@pytest.mark.parametrize(
    ("changes", "key", "what"),
    [
        ({"initiators": []}, ".initiators", "at least 1"),
        ({"initiators": ["db", "db"]}, ".initiators", "a host is named twice"),
        ({"initiators": ["dbb"]}, ".initiators.0", "there is no host 'dbb'"),
        ({"target": "db"}, ".target", "the device is in the initiator"),
        ({"device": ...}, ".device", "it is missing"),
        ({"device": "sata-sdd"}, ".device", "there is no device 'sata-sdd'"),
        ({"protocol": "iscsii"}, ".protocol", "iscsi"),
        ({"read": 101}, ".read", "100"),
        ({"read": -1}, ".read", "0"),
        ({"access": "randomly"}, ".access", "is no access"),
        ({"access": {"random": 101}}, ".access", "no share in percent"),
        ({"access": {"zipf": 0}}, ".access", "no exponent"),
        ({"access": {"random": 50, "zipf": 1}}, ".access", "not one that is known"),
        ({"block": "1000B"}, ".block", "not a multiple of the sector of 512 B"),
        ({"block": "0B"}, ".block", "not a multiple of the sector"),
        ({"block": "uniform(1B, 100B)"}, ".block", "less than a sector"),
        ({"block": "2MiB", "size": "1MiB"}, ".size", "does not fit the area of 1 MiB"),
        ({"block": "4KiB", "size": "16KiB", "jobs": 5}, ".size", "which 5 jobs share"),
        ({"device": "disk-7200", "size": "2TB"}, ".size", "larger than the device of 1 TB"),
        (
            {"block": "4294966784B", "size": "8TiB", "jobs": 32, "depth": 1024},
            ".block",
            "pieces of 512 KiB, more than 4194304",
        ),
        (
            {
                "protocol": "iscsi",
                "iscsi": {"max_recv_data_segment": "512B"},
                "block": "1GB",
                "size": "8GB",
            },
            ".block",
            "8 requests at a time are cut into 15625000 pieces of 512 B, more than 4194304",
        ),
        ({"depth": 0}, ".depth", "at least 1"),
        ({"jobs": 0}, ".jobs", "at least 1"),
        ({"jobs": 1025}, ".jobs", "1024"),
        ({"rate": "0/s"}, ".rate", "must be greater than zero"),
        ({"rate": 1000}, ".rate", "has no unit"),
        ({"rate": "1e9/s"}, ".rate", "100 million"),
        ({"rate": "100/s", "arrivals": "1ms"}, ".arrivals", "both say when requests begin"),
        ({"arrivals": "1ns"}, ".arrivals", "100 million"),
        ({"rate": "100/s", "think": "1ms"}, ".think", "no effect"),
        ({"requests": 10, "bytes": "1MiB"}, ".bytes", "both end the jobs"),
        ({"bytes": "0B"}, ".bytes", "must be greater than zero"),
        ({"start": "1000s"}, ".start", "after the end of the trial"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_key(
    changes: dict[str, Any], key: str, what: str
) -> None:
    found = problems(sound(workloads__disk=merged(DISK, changes)))
    assert any(
        problem.startswith(f"workloads.disk{key}: ") and what in problem for problem in found
    ), found


@pytest.mark.parametrize(
    ("base", "changes", "key", "what"),
    [
        (OWN, {"read_latency": ...}, "", "the device has no `read_latency`"),
        (OWN, {"write_rate": ...}, "", "the device has no `write_rate`"),
        (OWN, {"read_rate": "0MB/s"}, ".read_rate", "must be greater than zero"),
        (OWN, {"read_rate": "4Gbit/s"}, ".read_rate", "is not a unit of data rate"),
        (OWN, {"preset": "ssd"}, ".preset", "sata-ssd"),
        (OWN, {"servers": 0}, ".servers", "at least 1"),
        (OWN, {"queue_depth": 0}, ".queue_depth", "at least 1"),
        (OWN, {"sector": "520B"}, ".sector", "512B"),
        (OWN, {"limits": {"max_sectors": "100B"}}, ".limits.max_sectors", "less than a sector"),
        (
            OWN,
            {"sector": "4096B", "limits": {"segment": "512B"}},
            ".limits.segment",
            "less than a sector",
        ),
        (OWN, {"cache": {"latency": "1us"}}, ".cache", "the cache has no `size`"),
        (OWN, {"cache": {"size": "1MiB"}}, ".cache", "the cache has no `latency`"),
        (OWN, {"cache": {"size": "1B", "latency": "1us"}}, ".cache.size", "does not hold a sector"),
        (OWN, {"rotation": {"rpm": 7200}}, ".rotation", "the head has no `seek_track`"),
        (HEAD, {"servers": 2}, ".servers", "a disk has one head"),
        (HEAD, {"capacity": "0B"}, "", "a disk has no `capacity`"),
        (
            HEAD,
            {"rotation": {"seek_track": "20ms"}},
            ".rotation.seek_track",
            "longer than the longest",
        ),
    ],
)
def test_a_device_that_makes_no_sense_is_refused_with_its_key(
    base: dict[str, Any], changes: dict[str, Any], key: str, what: str
) -> None:
    found = problems(sound(workloads__disk=DISK, devices__own=merged(base, changes)))
    assert any(
        problem.startswith(f"devices.own{key}: ") and what in problem for problem in found
    ), found


def test_workloads_that_name_the_same_device_of_a_host_share_it() -> None:
    other = DISK | {"initiators": ["db"], "offset": "1GiB"}
    assert problems(sound(workloads__disk=DISK, workloads__other=other)) == []
    body, devices = plan(offset="1GiB")
    assert (body["offset_bytes"], len(devices)) == (2**30, 1)
    assert "offset_bytes" not in plan()[0], "plans of scenarios without it stay what they were"


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({"offset": "100B"}, "100 B is not a multiple of the sector of 512 B"),
        ({"device": "disk-7200", "offset": "999999999488B"}, "the area ends behind the device"),
        ({"offset": f"{2**60 - 512}B"}, "a device has at most 2^60 bytes"),
    ],
)
def test_an_area_that_is_not_on_the_device_is_refused(keys: dict[str, Any], what: str) -> None:
    found = problems(sound(workloads__disk=DISK | keys))
    assert any(
        problem.startswith("workloads.disk.offset: ") and what in problem for problem in found
    ), found


def test_the_plan_has_every_value() -> None:
    body, devices = plan(
        read=62.5,
        access={"random": 30},
        rate="2000/s",
        request_cost="12us",
        bytes="1MiB",
        start="1ms",
    )
    assert (body["initiators"], body["device"], body["protocol"]) == (
        ["client", "db"],
        "sata-ssd",
        "local",
    )
    assert (body["read_ppb"], body["access"], body["block"]) == (
        625_000_000,
        {"random": 300_000_000},
        {"constant": 4096},
    )
    assert body["arrivals"] == {"constant": 500 * 10**6}, "2000 a second, evenly spaced"
    assert (body["read_cost_ps"], body["write_cost_ps"], body["bytes"]) == (
        12 * 10**6,
        12 * 10**6,
        2**20,
    )
    [device] = devices
    assert (device["read_bps"], device["write_bps"], device["servers"]) == (
        4_320_000_000,
        4_160_000_000,
        10,
    )
    assert device["limits"] == {
        "max_sectors_bytes": 512 * 1024,
        "max_segments": 128,
        "segment_bytes": 4096,
        "transfer_bytes": 0,
    }
    assert plan(access={"zipf": 1.1})[0]["access"] == {"zipf": 1100}
    assert plan(access="sequential")[0]["access"] == "sequential"


def test_keys_of_a_device_override_its_preset_and_parts_are_merged() -> None:
    own = {
        "preset": "sata-ssd",
        "servers": 3,
        "limits": {"max_segments": 32},
        "cache": {"size": "0B"},
    }
    _, [device] = plan(devices={"mine": own}, device="mine")
    assert (device["name"], device["servers"], device["read_bps"]) == ("mine", 3, 4_320_000_000)
    assert (device["limits"]["max_segments"], device["limits"]["max_sectors_bytes"]) == (
        32,
        512 * 1024,
    )
    assert "cache" not in device, "a size of zero switches it off"
    _, [disk] = plan(device="disk-7200")
    assert disk["head"]["turn_ps"] == 60 * 10**12 // 7200
    mean_ms = 1 + (disk["head"]["seek_full_ps"] / 10**9 - 1) * 8 / 15
    assert mean_ms == pytest.approx(8.5, rel=1e-3), "the mean seek of the data sheet"


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_is_sound_and_a_device_may_have_its_name(name: str) -> None:
    assert problems(sound(workloads__disk=DISK | {"device": name})) == []
    _, [device] = plan(devices={name: OWN}, device=name)
    assert device["read_bps"] == 4_000_000_000


def test_rates_of_a_preset_are_those_of_the_specification() -> None:
    ssd = Device(preset="sata-ssd").effective
    assert ssd.servers is not None
    assert ssd.read_latency is not None
    assert ssd.write_latency is not None
    assert ssd.servers * 1e12 / ssd.read_latency.mean == pytest.approx(98_000, rel=1e-4)
    assert ssd.servers * 1e12 / ssd.write_latency.mean == pytest.approx(90_000, rel=1e-4)


def test_a_shorter_trial_has_fewer_requests_and_a_divided_one_a_lower_rate() -> None:
    assert workload(requests=100).scaled(0.25).requests == 25
    assert workload(rate="1000/s").divided("disk", {}, Divisor(2, 1)).rate == 500_000


def test_a_job_that_ends_after_bytes_has_work_and_needs_time_as_one_that_ends_after_requests() -> (
    None
):
    assert workload(bytes="1MiB", block="4KiB").work() == 256
    assert workload(bytes="5000B", block="4KiB").work() == 2
    assert workload(bytes="1MB", block="uniform(512B, 7680B)").work() == 245
    assert workload().work() == 0
    for end in ({"bytes": "1MiB"}, {"requests": 256}):
        raw = lower(load(workloads__disk=merged(DISK, {**end, "jobs": 3})).scenario, "t", 1)
        found = {own.name: own for own in planned_workloads(raw)}
        assert found["disk"].work == 256 * 3 * len(DISK["initiators"])

    def late(**end: Any) -> list[str]:
        found = load(workloads__disk=merged(DISK, {"rate": "10/s", **end})).warnings
        return [caution.path for caution in found if "it cannot finish" in caution.what]

    assert late(bytes="1GiB") == ["workloads.disk.bytes"]
    assert late(requests=262144) == ["workloads.disk.requests"]
    assert late() == []


def test_what_has_no_effect_and_what_never_ends_is_a_warning() -> None:
    def warned(**changes: Any) -> list[str]:
        return [str(caution) for caution in load(workloads__disk=merged(DISK, changes)).warnings]

    assert any("nothing is flushed" in said for said in warned(flush_every=4))
    assert any("1.02 times what the servers" in said for said in warned(rate="100000/s"))
    assert not any(
        "workloads.disk" in said for said in warned(read=50, flush_every=4, rate="9000/s")
    )


def test_a_share_of_reads_is_a_number() -> None:
    [found] = problems(sound(workloads__disk=DISK | {"read": True}))
    assert found.startswith("workloads.disk.read: true is not a number (hint: ")


def test_a_device_that_no_arm_uses_is_a_warning() -> None:
    devices = {"one": {"preset": "nvme"}, "two": {"preset": "nvme"}, "three": {"preset": "nvme"}}
    disk = DISK | {"device": "one"}
    found = load(
        devices=devices, workloads__disk=disk, arms={"a": {}, "b": {"workloads.disk.device": "two"}}
    ).warnings
    assert [each.what for each in found if each.path.startswith("devices")] == [
        "no workload has the device 'three'"
    ]


def test_a_buffer_without_room_for_a_frame_is_a_warning() -> None:
    def warned(buffer: str) -> list[str]:
        found = load(switches={"leaf": {"buffer": buffer}}, arms=..., policies=...).warnings
        return [each.what for each in found if each.path == "switches.leaf.buffer"]

    assert warned("1B") == ["a buffer of 1 B holds no frame of 1514 B: all of these are dropped"]
    assert warned("1514B") == []


def test_a_trial_that_takes_long_is_a_warning_before_it_runs() -> None:
    def warned(**changes: Any) -> list[str]:
        devices = {"tiny": {"preset": "nvme", "limits": {"max_sectors": "512B"}}}
        found = load(devices=devices, workloads__disk=merged(DISK, changes)).warnings
        return [f"{each.path}: {each.what}" for each in found if "million" in each.what]

    # 2^21 pieces of each request, of which 2 initiators have 2 under way.
    [many] = warned(device="tiny", block="1GiB", size="4GiB", depth=2)
    initiators = len(DISK["initiators"])
    assert many.startswith("workloads.disk.block: a request is 2097152 pieces of 512 B, and ")
    assert f"{2 * initiators * 2**21 / 1e6:.3g} million may be under way" in many
    [long] = warned(device="memory", block="512B", bytes="8GiB")
    assert long.startswith(
        "workloads.disk.bytes: a trial simulates up to "
        f"{initiators * 2**24 / 1e6:.3g} million requests:"
    )
    assert warned(device="memory", block="512B", bytes="64MiB") == []
    assert warned(device="tiny", block="1MiB", depth=2) == []


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1000, "1 kB"),
        (1024, "1 KiB"),
        (10**6, "1 MB"),
        (2**20, "1 MiB"),
        (2**20 + 1, "1048577 B"),
        (3 * 2**40, "3 TiB"),
    ],
)
def test_a_size_in_a_comparison_is_exact(size_bytes: int, text: str) -> None:
    assert exact_size(size_bytes) == text


def test_exact_runs_refuse_it_in_words() -> None:
    loaded = load(workloads__disk=DISK)
    with pytest.raises(ScenarioError, match="does not answer reads and writes after one time"):
        refuse_exact(loaded, {"base": loaded.scenario})
