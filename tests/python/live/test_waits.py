"""How long programs waited for a core, from a stand-in for /proc."""

from pathlib import Path

import pytest
from msgspec import structs

from tailrace.live.measure.waits import Using, Waited, Watch, losses

LAB = 50


class Proc:
    """A folder of the shape of /proc."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(
        self, pid: int, inner: int, children: list[int], **threads: tuple[float, float]
    ) -> None:
        """A process with its threads, each with its seconds on a core and in a run queue."""
        for thread, (run_s, wait_s) in threads.items():
            task = self.folder / str(pid) / "task" / thread.removeprefix("t")
            task.mkdir(parents=True, exist_ok=True)
            own = " ".join(map(str, children)) if task.name == str(pid) else ""
            (task / "children").write_text(own, encoding="ascii")
            (task / "schedstat").write_text(
                f"{run_s * 1e9:.0f} {wait_s * 1e9:.0f} 7\n", encoding="ascii"
            )
        (self.folder / str(pid) / "status").write_text(
            f"Name:\tx\nNSpid:\t{pid}\t{inner}\n", encoding="ascii"
        )

    def end(self, pid: int) -> None:
        """A process ends."""
        for file in sorted((self.folder / str(pid)).rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()


def test_waits_are_summed_over_threads_and_children_and_kept_when_they_end(tmp_path: Path) -> None:
    proc = Proc(tmp_path)
    proc.put(LAB, 1, [60, 70], t50=(9.0, 9.0))
    proc.put(60, 2, [61], t60=(1.0, 0.5))
    proc.put(61, 3, [], t61=(0.0, 0.1))
    proc.put(70, 4, [], t70=(0.0, 0.0), t71=(0.0, 0.0))
    watch = Watch(LAB, tmp_path)
    watch.begin()
    proc.put(60, 2, [61, 62], t60=(1.5, 0.75))
    proc.put(61, 3, [], t61=(1.0, 0.4))
    proc.put(62, 5, [], t62=(0.25, 0.25))  # begun within the interval: all of it counts
    proc.put(70, 4, [], t70=(0.5, 0.0), t71=(0.5, 2.0))
    watch.sample()
    proc.put(60, 2, [62], t60=(1.5, 0.75))
    proc.end(61)
    watch.sample()
    found = watch.waited()
    assert found.keys() == {2, 4}, "programs by their numbers inside the lab"
    assert (found[2].run_s, found[2].wait_s) == pytest.approx((0.5 + 1.0 + 0.25, 0.25 + 0.3 + 0.25))
    assert (found[4].run_s, found[4].wait_s) == pytest.approx((1.0, 2.0))
    watch.begin()
    assert all(one == Waited() for one in watch.waited().values()), (
        "what was before the interval does not count"
    )


def test_threads_that_no_user_waits_for_do_not_count(tmp_path: Path) -> None:
    proc = Proc(tmp_path)
    proc.put(LAB, 1, [60], t50=(9.0, 9.0))
    proc.put(60, 2, [], t60=(0.0, 0.0), t61=(0.0, 0.0))
    for thread, name in (("60", "java"), ("61", "C1 CompilerThre")):
        (tmp_path / "60" / "task" / thread / "comm").write_text(f"{name}\n", encoding="ascii")
    watch = Watch(LAB, tmp_path, background=frozenset({"C1 CompilerThre"}))
    watch.begin()
    proc.put(60, 2, [], t60=(1.0, 0.25), t61=(2.0, 7.0))
    watch.sample()
    assert watch.waited() == {2: Waited(1.0, 0.25)}
    assert watch.spent()[2].user_s + watch.spent()[2].system_s == pytest.approx(3.0), (
        "their work is work"
    )


def test_users_lose_no_more_than_all_of_their_time() -> None:
    found = losses([Using("mq", 2, 1.0, ["java"])], {"java": Waited(1.0, 30.0)}, {"mq": 5.0}, {})
    assert (found["mq"].wait_s, found["mq"].share) == (30.0, 1.0)


def test_the_kernels_threads_that_receive_frames_are_watched(tmp_path: Path) -> None:
    proc = Proc(tmp_path)
    proc.put(2, 2, [15, 16], t2=(0.0, 0.0))
    for pid, name in ((15, "ksoftirqd/0"), (16, "kworker/0")):
        proc.put(pid, pid, [], **{f"t{pid}": (1.0, 1.0)})
        (tmp_path / str(pid) / "comm").write_text(f"{name}\n", encoding="ascii")
        (tmp_path / str(pid) / "schedstat").write_text(
            "1000000000 1000000000 5\n", encoding="ascii"
        )
    watch = Watch(LAB, tmp_path)
    watch.begin()
    (tmp_path / "15" / "schedstat").write_text("1000000000 1750000000 5\n", encoding="ascii")
    watch.sample()
    assert watch.kernel_wait_s() == {"ksoftirqd/0": pytest.approx(0.75)}


def test_a_lab_that_is_gone_waits_for_nothing(tmp_path: Path) -> None:
    watch = Watch(LAB, tmp_path)
    watch.begin()
    assert watch.waited() == {}


def test_the_time_that_users_lose_is_a_share_of_their_time() -> None:
    waited = {
        "users-XS": Waited(1.0, 0.5),
        "users-S": Waited(0.0, 0.0),
        "db": Waited(8.0, 4.0),
        "send": Waited(0.0, 2.0),
    }
    workloads = [
        Using("XS", 2, 1.0, ["users-XS", "db"]),
        Using("S", 6, 0.5, ["users-S", "db"]),
        Using("bulk", 4, 0.0, ["send"]),
    ]
    seconds = {"XS": 5.0, "S": 10.0, "bulk": 10.0}
    found = losses(workloads, waited, seconds, {"idle_share": 0.5, "steal_share": 0.1})
    # A quarter of the server is for XS; a quarter of a second is stolen for each second on a core
    # (0.1 of 0.4).
    outcome = {"wait_s": 1.5, "stolen_s": 0.75, "exposed": 1.0, "of_s": 10.0, "share": 0.225}
    assert structs.asdict(found["XS"]) == pytest.approx(outcome)
    assert found["S"].share == pytest.approx((3.0 + 1.5) / 60 / 2)
    assert (found["bulk"].wait_s, found["bulk"].share) == pytest.approx((2.0, 0.0))
