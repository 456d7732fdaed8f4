"""Tracks of cores: threads on the processors of hosts and hypervisors, work of hypervisors on
single frames, and waits for cores on hosts without a processor."""

from collections import defaultdict
from collections.abc import Sequence

from tailrace.timeline.drawing import Drawing
from tailrace.timeline.labels import label
from tailrace.timeline.log import CoreTime, Work
from tailrace.timeline.perfetto import lanes


def draw_cores(drawing: Drawing) -> None:
    """The groups of all hosts and hypervisors of which the log knows something."""
    log = drawing.log
    for name in dict.fromkeys([*log.cores, *log.works, *log.core_waits]):
        group = drawing.writer.group(f"cores of {name}")
        _works(drawing, group, log.works.get(name, ()))
        by_core: dict[int, list[CoreTime]] = defaultdict(list)
        for one in log.cores.get(name, ()):
            by_core[one.core].append(one)
        for core in sorted(by_core):
            track = drawing.writer.track(group, f"core {core}")
            for one in sorted(by_core[core], key=lambda each: each.from_ps):
                args: dict[str, int | str] = {"time_ps": one.to_ps - one.from_ps}
                if one.task is not None:
                    args["task"] = one.task
                drawing.writer.slice(track, (one.from_ps, one.to_ps), one.what, args)
        _waits(drawing, group, name)


def _works(drawing: Drawing, group: int, works: Sequence[Work]) -> None:
    """Waiting work for the virtual switch or a vhost thread, and running work, in the order of
    arrival."""
    writer = drawing.writer
    for stage in dict.fromkeys(work.stage for work in works):
        own = sorted(
            (work for work in works if work.stage == stage),
            key=lambda work: (work.since_ps, work.start_ps),
        )
        spans = [(work.since_ps, work.done_ps) for work in own]
        by_lane: dict[int, list[Work]] = defaultdict(list)
        for lane, work in zip(lanes(spans), own, strict=True):
            by_lane[lane].append(work)
        for lane in sorted(by_lane):
            track = writer.track(group, stage)
            for work in by_lane[lane]:
                frame = drawing.log.frames[work.frame]
                args = {**drawing.frame_args(frame), "waited_ps": work.start_ps - work.since_ps}
                writer.begin(track, work.since_ps, label(drawing.log, frame), args, [frame.id])
                writer.slice(track, (work.start_ps, work.done_ps), "at work")
                writer.end(track, work.done_ps)
                drawing.own_slices += 1


def _waits(drawing: Drawing, group: int, name: str) -> None:
    writer = drawing.writer
    waits = sorted(drawing.log.core_waits.get(name, ()))
    tracks: dict[int, int] = {}
    for lane, wait in zip(
        lanes([(wait.since_ps, wait.until_ps) for wait in waits]), waits, strict=True
    ):
        whose = drawing.log.sockets[wait.socket]
        if lane not in tracks:
            tracks[lane] = writer.track(group, "waits for a core")
        writer.slice(
            tracks[lane], (wait.since_ps, wait.until_ps), whose.workload, {"socket": whose.name}
        )
