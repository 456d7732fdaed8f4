"""Parts of a summary: what is written is what is read, means of counters, and the fidelity of live
trials."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import asdict

import whole
from fake_bridging import add_bridging
from fake_hypervisor import add_hypervisor
from fake_processor import add_processor
from fake_run import FakeRun
from tailrace.outcome.types import BondedInterface
from tailrace.results import summarise
from tailrace.results.compare.fidelity import fidelity_rows, summarise_fidelity
from tailrace.results.directory.run_directory import Trial
from tailrace.results.summary.hosts import (
    BondMeans,
    HostMeans,
    HypervisorMeans,
    MachineSpent,
    ProcessorMeans,
)
from tailrace.results.summary.means import means_of
from tailrace.results.summary.network import (
    Deadlock,
    EarlyDrops,
    Lost,
    PauseMeans,
    PortMeans,
    Rates,
)

PARTS: dict[str, Any] = {
    "deadlocks": list[Deadlock],
    "drops": dict[str, Lost],
    "early_drops": list[EarlyDrops],
    "hosts": list[HostMeans],
    "hypervisors": list[HypervisorMeans],
    "pauses": list[PauseMeans],
    "ports": list[PortMeans],
    "processors": list[ProcessorMeans],
    "rates": Rates,
}


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = FakeRun(trials=2, with_solo=False).write(tmp_path_factory.mktemp("run") / "run")
    add_bridging(path)
    add_hypervisor(path)
    add_processor(path, "XS")
    return asdict(summarise(path).arms["dpp"])


@pytest.mark.parametrize("key", PARTS)
def test_a_part_is_read_as_it_was_written_and_holds_something(
    arm: dict[str, Any], key: str
) -> None:
    assert arm[key]
    assert msgspec.json.decode(msgspec.json.encode(arm[key]), type=PARTS[key]) == arm[key]


def test_a_key_that_is_not_known_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `octets`"):
        msgspec.convert({"frames": 1.0, "bytes": None, "octets": 1}, Lost)


def interface(frames: int) -> BondedInterface:
    return BondedInterface(received_frames=frames, sent_bytes=0, sent_frames=2 * frames)


def test_means_are_those_of_fields_of_the_same_names() -> None:
    assert means_of(BondMeans, [interface(1), interface(4)]) == BondMeans(
        received_frames=2.5, sent_bytes=0, sent_frames=5
    )


def test_trials_that_counted_nothing_are_counted_too() -> None:
    assert means_of(BondMeans, [interface(1), interface(4)], 10).received_frames == 0.5


def machine(**told: float | None) -> MachineSpent:
    names = MachineSpent.__struct_fields__
    return msgspec.convert(dict.fromkeys(names, 1.0) | told, MachineSpent)


def test_a_figure_that_some_lack_is_the_mean_of_the_others() -> None:
    found = means_of(
        MachineSpent, [machine(idle_cores=3.0), machine(idle_cores=None, switches_per_s=2.0)]
    )
    assert (found.idle_cores, found.switches_per_s, found.user_cores) == (3.0, 1.5, 1.0)
    assert means_of(MachineSpent, [machine(idle_cores=None)]).idle_cores is None


def live(number: int, fabric: dict[str, Any], **told: Any) -> Trial:
    return whole.trial(number=number, live=told, fabric=fabric)


def test_fidelity_is_the_worst_of_all_trials_and_the_least_idle_time() -> None:
    effect = {"mean_ms": -0.5, "p99_ms": 0.1, "drops": 3, "punctual_drops": 7}
    rates = {"leaf>db": -40.0, "leaf>client": 30.0}
    lost = {"db": {"rx_dropped": 2, "write_failed": 1}, "client": {}}
    first = live(
        1,
        {"effect": {"leaf>db": effect}, "rate_error_ppm": rates},
        idle_share=0.5,
        congestion_controls=["x"],
    )
    second = live(
        2,
        {"lateness_us": {"p99_9": 9.0}, "frames_lost_outside": lost, "cpu": {"switch_share": 0.25}},
        idle_share=0.25,
        core_waits={"shop": {"share": 0.125}},
        generator_lag_us={"shop": 7.0},
        congestion_controls=["cubic", "x"],
    )
    found = summarise_fidelity([first, second])
    assert found is not None
    assert (found.delay_error_ms, found.delay_error_p99_ms, found.drop_error) == (0.5, 0.1, 4)
    assert (found.pacing_error_ppm, found.lateness_p99_9_us, found.frames_lost_outside) == (
        40,
        9,
        3,
    )
    assert (found.idle_share, found.switch_share, found.core_wait_share) == (0.25, 0.25, 0.125)
    assert (found.generator_lag_us, found.congestion_controls) == (7, ["cubic", "x"])
    assert (found.stalls_us, found.own_lateness_p99_9_us, found.steal_share) == (None, None, None)
    head, row = fidelity_rows([("fifo", found), ("simulated", None)])
    assert dict(zip(head[1:], row[1:], strict=True))["rate error, %"] == "0.00400"


def test_simulated_trials_have_no_fidelity() -> None:
    assert summarise_fidelity([whole.trial()]) is None
