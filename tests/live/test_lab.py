"""A lab by itself: two at once, and pgbench's pauses against the ones that are computed."""

import re
import time
from pathlib import Path

import machine
from tailrace.live.lab.lab import Lab
from tailrace.live.lab.program import Program
from tailrace.live.measure import probe
from tailrace.live.trial.servers import Servers
from tailrace.programs import postgres
from tailrace.programs.command import Command
from tailrace.programs.draws import Draw
from tailrace.programs.pgbench import Script
from tailrace.scenario.loading import load_scenario
from tailrace.scenario.lowering.plan import canonical_json, lower
from tailrace.scenario.workloads.planned import planned_workloads

MS = 10**9
DISTRIBUTIONS = (
    {"constant": 2 * MS},
    {"uniform": {"low": MS, "high": 3 * MS}},
    {"exponential": {"mean": 2 * MS}},
    {"normal": {"mean": 2 * MS, "deviation": MS // 2}},
    {"log-normal": {"median": 2 * MS, "sigma_milli": 500}},
    {"erlang": {"mean": 2 * MS, "shape": 4}},
    {"cumulative": [[MS, 100_000_000], [2 * MS, 500_000_000], [4 * MS, 10**9]]},
)


def plan() -> str:
    """The plan of the first arm."""
    return canonical_json(lower(load_scenario(machine.SCENARIO).arms["fifo"], "fifo", 1))


def sent_frames(lab: Lab) -> int:
    """Of all hosts of a lab."""
    return int(lab.call("counters")["outcome"]["conservation"]["sent"])


def test_two_labs_at_once_do_not_see_each_other(tmp_path: Path) -> None:
    with Lab(plan(), tmp_path / "a") as one, Lab(plan(), tmp_path / "b") as two:
        for lab, other in ((one, two), (two, one)):
            before = sent_frames(other)
            least_us = probe.round_trip_us(lab, "client", "db", lab.addresses["db"]).min
            assert least_us is not None
            assert least_us > 0
            # More where answers are late: ping goes on until it has so many.
            assert sent_frames(lab) >= 2 * probe.PINGS
            assert sent_frames(other) == before
        one.run(Command("touch", ["touch", f"{one.scratch}/mark"]), 5)
        assert "mark" not in two.run(Command("look", ["ls", two.scratch]), 5)
    assert machine.wait_until_gone(str(tmp_path)) == []


def test_nothing_of_a_lab_listens_on_the_machine(tmp_path: Path) -> None:
    def listening() -> set[str]:
        lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        return {line.split()[1] for line in lines if line.split()[3] == "0A"}

    before = listening()
    with Lab(plan(), tmp_path / "lab") as lab:
        server = lab.start(
            Command("server", ["iperf3", "--server", "--bind", lab.addresses["db"]], host="db")
        )
        assert listening() <= before
        assert server.ended is None
        server.stop("INT")


def test_pgbench_waits_as_long_as_is_computed(tmp_path: Path) -> None:
    raw = planned_workloads(lower(load_scenario(machine.SCENARIO).arms["fifo"], "fifo", 1))[0].flat
    servers = Servers([("oltp", raw)], tmp_path / "templates")
    servers.make_templates()
    program = postgres.installation().program("pgbench")
    with Lab(plan(), tmp_path / "lab") as lab:
        servers.start(lab, {})
        for index, distribution in enumerate(DISTRIBUTIONS):
            load = Script(
                raw | {"gap": distribution, "start": distribution, "name": f"w{index}"},
                7,
                {18_000: 1000},
            )
            script = tmp_path / f"{index}.pgbench"
            text = load.script().replace(
                r"\set left :pause", "\\set left 0\n\\set shown debug(:pause)"
            )
            script.write_text(text, encoding="utf-8")
            script.chmod(0o644)
            shown = lab.start(
                load.command(program, script, tmp_path / f"log-{index}", lab.addresses["db"], 0)
            )
            deadline = time.monotonic() + 30
            while len(said := _whole_numbers(shown)) < 2 * 62 and time.monotonic() < deadline:
                time.sleep(0.02)
            shown.signal("ALRM")
            shown.require(30)
            # The pause before the transaction that is not done any more, and the number of that
            # transaction.
            drawn = sorted(said)
            wanted = [
                load.pause_us(user, number) for user in range(2) for number in range(1, 62)
            ] + [61, 61]
            assert drawn == sorted(wanted), distribution
            assert isinstance(load.gap, Draw)


def _whole_numbers(program: Program) -> list[int]:
    """What a script has shown so far."""
    # Each thread writes a line in two pieces, and pieces of two threads may come one behind the
    # other.
    return list(
        map(
            int,
            re.findall(r"int (\d+)$", program.err_path.read_text(encoding="utf-8"), re.MULTILINE),
        )
    )
