"""What each section of the report shows, as plain values and drawings for the template."""

from collections.abc import Iterable, Sequence
from typing import Any

from tailrace.report.charts import completion as completion_chart
from tailrace.report.charts import drops, flow_slowdown, improvement, latency, occupancy, time, transactions
from tailrace.report.charts.run_queues import run_queue_charts
from tailrace.report.drawing.series import TimeChart
from tailrace.report.limits import ARMS_DRAWN_MAX, EFFECTS_MAX, HOSTS_MAX, PANELS_MAX, QUEUES_MAX, TRIALS_MAX
from tailrace.report.plan_facts import PlanFacts
from tailrace.results import Run
from tailrace.results.compare.effect_words import correction_words, family_words
from tailrace.results.format.numbers import PS_PER_S, bytes_text
from tailrace.results.kinds.contribution import KindTable, TableOfRows
from tailrace.results.kinds.registry import tables_of_kinds
from tailrace.results.metrics.costs import parts_of
from tailrace.results.metrics.definitions import name_of
from tailrace.results.metrics.subject_rows import subject_rows
from tailrace.results.summary.effect import ArmEffect
from tailrace.results.summary.hosts import Costs, HostMeans, HypervisorMeans, ProcessorMeans
from tailrace.results.summary.network import DppMeans, QueueMeans
from tailrace.results.summary.summary import ArmSummary, Summary
from tailrace.results.text.bonds import bond_rows
from tailrace.results.text.fragments import COUNTERS as FRAGMENT_COUNTERS
from tailrace.results.text.fragments import fragment_rows
from tailrace.results.text.limiting_text import verdict_words
from tailrace.results.text.run import CUT_OFF_WORDS
from tailrace.results.workload import REQUEST_COUNTERS, TCP_COUNTERS

NOT_TOLD = "–"
# One frame of the usual Ethernet MTU.
QUIET_BYTES = 1_500
# The lane of drops below the queue of a port, and what a live chart has for its axis of time.
LANE_PX = 60
LIVE_EXTRA_PX = 40
# Ports and interfaces of an arm whose pauses are listed.
PAUSES_MAX = 10


def completion(summary: Summary) -> dict[str, Any]:
    """Completion bars, their table, and the effects by which arms differ from the baseline."""
    bars = completion_chart.completion_bars(summary)
    effects = {
        arm: found for arm in summary.arms if (found := [e for e in summary.comparisons if e.arm == arm and e.is_main])
    }
    charts = {
        arm: improvement.improvement_chart(found, summary.expectations, f"arm-{list(summary.arms).index(arm) % 6}")
        for arm, found in list(effects.items())[:ARMS_DRAWN_MAX]
        if all(effect.ratio is not None for effect in found)
    }
    is_whole = len(summary.comparisons) <= EFFECTS_MAX
    tabulated = {
        arm: [e for e in summary.comparisons if e.arm == arm and (e.is_main or (is_whole and index < ARMS_DRAWN_MAX))]
        for index, arm in enumerate(effects)
    }
    return {
        "chart": completion_chart.completion_chart(bars) if bars else None,
        "has_late": any(bar.late for bar in bars),
        "has_published": any(bar.published_s is not None for bar in bars),
        "has_solo": any(bar.alone_s is not None for bar in bars),
        "rows": _workload_rows(summary),
        "effects": effects,
        "all_effects": tabulated,
        "what": {arm: _what_improves(found) for arm, found in effects.items()},
        "charts": charts,
        "correction": correction_words(summary.comparisons),
        "family": family_words(summary.comparisons),
    }


def _names(effects: Sequence[ArmEffect]) -> list[str]:
    return list(dict.fromkeys(name_of(effect.metric, effect.noun) for effect in effects))


def _what_improves(effects: Sequence[ArmEffect]) -> str:
    """What the percentages of one arm are percentages of."""
    metrics = list(dict.fromkeys(effect.metric for effect in effects))
    return "acceleration" if metrics == ["completion_s"] else ", ".join(_names(effects))


def distributions(run: Run, summary: Summary, facts: dict[str, PlanFacts]) -> dict[str, Any]:
    """Latency panels with a linear axis and with the tail drawn out, and the table of percentiles."""
    panels = latency.latency_panels(run, facts)
    places = {name: at for at, name in enumerate(summary.workloads)}
    over_time, unread = transactions.charts_over_time(run, facts)
    told = subject_rows(summary, lambda own: own.latency_ms)
    found = [(row, own) for row in told if (own := row.own.latency_ms)]
    return {
        "panels": [
            {
                "workload": panel.workload,
                "at": places.get(panel.workload),
                "what": panel.what,
                "linear": latency.latency_chart(panel, is_tail=False),
                "tail": latency.latency_chart(panel, is_tail=True),
                "csv": latency.latency_csv(panel),
            }
            for panel in panels
        ],
        "omitted": max(0, len(summary.subjects) - PANELS_MAX),
        "arms_omitted": max(0, len(run.arms) - ARMS_DRAWN_MAX),
        "has_solo": any(curve.arm_index < 0 for panel in panels for curve in panel.curves),
        "over_time": [_time(one.percentiles) for one in over_time],
        "has_timeouts": any(one.percentiles.lines[-1].style.startswith("bad") for one in over_time),
        "has_cut_rows": any(one.is_cut for one in over_time),
        "rates": [_time(one.rate) for one in over_time if one.rate],
        "trials_unread": unread,
        "rows": [row.place | {"latency": own} for row, own in found],
        "has_cut_off": any(own.cut_off.count for _, own in found),
        "cut_off_words": CUT_OFF_WORDS,
    }


def slowdowns(summary: Summary) -> dict[str, Any]:
    """Slowdown of flows against their size, and the same as a table."""
    rows = [
        row.place | {"is_first": at == 0, "sizes": flow_slowdown.class_text(found), "found": found}
        for row in subject_rows(summary, lambda own: own.flow_slowdown)
        for at, found in enumerate(row.own.flow_slowdown.sizes if row.own.flow_slowdown else [])
    ]
    return {"panels": flow_slowdown.slowdown_panels(summary), "rows": rows}


def queues(run: Run, summary: Summary) -> dict[str, Any]:
    """Occupancy over time and as a distribution, throughput, drops, and the table of queues."""
    ports = []
    for chart in time.queue_charts(run):
        curves = occupancy.occupancy_curves(run, chart.title)
        drawing = occupancy.occupancy_chart(curves, run.arms) if curves else None
        lane = time.drop_lane(run, chart.title, chart.key)
        ports.append(
            _time(chart)
            | {"occupancy": drawing, "csv_occupancy": occupancy.occupancy_csv(curves)}
            | {"drops": _time(lane, height=LANE_PX) if lane else None}
        )
    throughput = time.throughput_charts(run)
    highest = time.highest_value(throughput)
    loud, quiet = _queue_rows(summary)
    return {
        "ports": ports,
        "throughput": [_time(chart, highest) for chart in throughput],
        "run_queues": [_time(chart) for chart in run_queue_charts(run)],
        "arms_omitted": max(0, len(run.arms) - ARMS_DRAWN_MAX),
        "drops": drops.drops_chart(summary) if drops.drop_causes(summary) else None,
        "drops_unit": drops.drops_unit(summary),
        "rates": [
            {"arm": arm, "index": index, "is_unfinished": bool(own.unfinished_trials), "rates": own.rates}
            for index, (arm, own) in enumerate(summary.arms.items())
            if own.trials
        ],
        "rows": loud,
        "quiet": quiet,
        "early": _early_rows(summary),
        "omitted": max((arm.ports_omitted for arm in summary.arms.values()), default=0),
    }


def transport(summary: Summary) -> dict[str, Any]:
    """Counters of TCP, of requests, of dynamic packet prioritisation, of pauses and of hosts."""
    arms = list(summary.arms.items())
    told = subject_rows(summary, lambda own: own.tcp)
    tcp = [(row, counters) for row in told if (counters := row.own.tcp)]
    limited_by = [verdict_words(row.own.limits) if row.own.limits else NOT_TOLD for row, _ in tcp]
    requests = subject_rows(summary, lambda own: own.request_counts)
    dpp = [
        {"arm": arm, "index": index, "port": port.place, "counters": port.dpp}
        for index, (arm, arm_summary) in enumerate(arms)
        for port in arm_summary.ports
        if port.dpp and (port.dpp.prioritised_frames or port.dpp.normal_frames)
    ]
    hosts = [
        {"arm": arm, "index": index, "host": host, "is_first": at == 0}
        for index, (arm, arm_summary) in enumerate(arms)
        for at, host in enumerate(_busiest(arm_summary.hosts))
    ]
    pauses = [
        {"arm": arm, "index": index, "pauses": row, "is_first": at == 0}
        for index, (arm, arm_summary) in enumerate(arms)
        for at, row in enumerate(arm_summary.pauses[:PAUSES_MAX])
    ]
    pauses_omitted = max((len(arm_summary.pauses) - PAUSES_MAX for _, arm_summary in arms), default=0)
    return {
        "tcp": [
            row.place | {"tcp": counters, "limited_by": words}
            for (row, counters), words in zip(tcp, limited_by, strict=True)
        ],
        "tcp_counters": [key for key in TCP_COUNTERS if any(getattr(own, key) is not None for _, own in tcp)],
        "request_counts": [row.place | {"request_counts": row.own.request_counts} for row in requests],
        "request_counters": REQUEST_COUNTERS,
        "kind_tables": [_kind_table(table) for table in tables_of_kinds(summary)],
        "dpp": dpp,
        "dpp_counters": DppMeans.__struct_fields__,
        "pauses": pauses,
        "pauses_omitted": max(0, pauses_omitted),
        "hosts": hosts,
        "bonds": bond_rows((arm, own.hosts) for arm, own in arms),
        "fragments": fragment_rows(((arm, own.hosts) for arm, own in arms), HOSTS_MAX),
        "fragment_head": [*FRAGMENT_COUNTERS, "most memory"],
        "has_limits": any(words != NOT_TOLD for words in limited_by),
        "processors": _firsts((arm, _fewest_idle(own.processors)) for arm, own in arms),
        "hypervisors": _firsts((arm, _most_overruns(own.hypervisors)) for arm, own in arms),
        "costs": _costs(arms),
    }


def _kind_table(table: KindTable) -> dict[str, Any]:
    """What the template shows of a table of a kind: rows of workloads and arms, or a table for each of these."""
    if isinstance(table, TableOfRows):
        rows = [row.place | {"cells": cells} for row, cells in table.rows]
        return {"title": table.title, "caption": "", "head": table.head, "rows": rows, "tables": []}
    return {"title": table.title, "caption": table.caption, "head": [], "rows": [], "tables": table.tables}


def provenance(summary: Summary) -> dict[str, Any]:
    """Everything needed to get the same numbers again."""
    arms = {**summary.arms, **{f"solo:{name}": arm for name, arm in summary.solo.items()}}
    trials = [
        {"arm": name, "trial": number, "seed": seed, "digest": digest, "wall_s": wall_s, "hops": hops}
        for name, arm in arms.items()
        for number, seed, digest, wall_s, hops in zip(
            arm.trials, arm.seeds, arm.digests, arm.wall_s, arm.packet_hops, strict=True
        )
    ]
    return {
        "trials": trials[:TRIALS_MAX],
        "fidelity": [{"arm": name, "found": arm.fidelity} for name, arm in arms.items() if arm.fidelity],
        "hops": sum(trial["hops"] or 0 for trial in trials),
        "machine": _machine(summary.run.machine or {}),
        "calibration": [_choice(choice) for choice in (summary.run.calibration or {}).get("choices", [])],
    }


def _machine(machine: dict[str, Any]) -> str:
    """`AMD EPYC, 2 cores, 25.3 GB, Linux 6.18`."""
    cores, memory = machine.get("cores"), machine.get("memory_bytes")
    parts = [machine.get("cpu"), f"{cores} cores" if cores else None, bytes_text(memory) if memory else None]
    return ", ".join(str(part) for part in [*parts, machine.get("kernel"), machine.get("architecture")] if part)


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    """What calibration chose for one workload."""
    return choice | {"wanted_s": choice["wanted_ps"] / PS_PER_S, "alone_s": choice["alone_ps"] / PS_PER_S}


def _workload_rows(summary: Summary) -> list[dict[str, Any]]:
    return [row.place | {"own": row.own} for row in subject_rows(summary, lambda _: True)]


def _queue_rows(summary: Summary) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Queues that carried or lost anything: per arm those where most happened, and the rest. Ports come sorted."""
    loud: list[dict[str, Any]] = []
    quiet: list[dict[str, Any]] = []
    for index, (arm, arm_summary) in enumerate(summary.arms.items()):
        shown = 0
        for port in arm_summary.ports:
            for queue in (queue for queue in port.queues if queue.tx_frames or queue.drops_frames):
                is_loud = shown < QUEUES_MAX and not _is_quiet(queue)
                rows = loud if is_loud else quiet
                is_first = not rows or rows[-1]["arm"] != arm
                rows.append({"arm": arm, "index": index, "port": port.place, "queue": queue, "is_first": is_first})
                shown += is_loud
    return loud, quiet


def _early_rows(summary: Summary) -> list[dict[str, Any]]:
    rows = [
        {"arm": arm, "index": index, "switch": entry.switch, "cause": cause, "lost": lost}
        for index, (arm, arm_summary) in enumerate(summary.arms.items())
        for entry in arm_summary.early_drops
        for cause, lost in entry.drops.items()
    ]
    return [row | {"is_first": not at or rows[at - 1]["arm"] != row["arm"]} for at, row in enumerate(rows)]


def _is_quiet(queue: QueueMeans) -> bool:
    """Nothing lost, nothing marked, and less than one full frame waiting on average."""
    return not queue.drops_frames and not queue.marked_frames and (queue.depth_mean_bytes or 0) < QUIET_BYTES


def _time(chart: TimeChart, highest: float | None = None, height: int = time.HEIGHT_PX) -> dict[str, Any]:
    styles = ",".join(f"{line.style} thin" if line.trial else line.style for line in chart.lines)
    about = [("of-workload", chart.workload), ("of-arm", chart.arm)]
    return {
        "key": chart.key,
        "title": chart.title,
        "y_title": chart.y_title,
        "chart": time.time_chart(chart, highest, height),
        "csv": chart.csv(),
        "styles": styles,
        "highest": highest or "",
        "height": height + LIVE_EXTRA_PX,
        "is_log": chart.is_log,
        "about": " ".join(f"{kind}-{index}" for kind, index in about if index is not None),
    }


def _fewest_idle(processors: list[ProcessorMeans]) -> list[ProcessorMeans]:
    return sorted(processors, key=lambda own: own.idle_cores)


def _most_overruns(hypervisors: list[HypervisorMeans]) -> list[HypervisorMeans]:
    return sorted(hypervisors, key=lambda own: (-own.overruns, own.idle_cores))


def _firsts(arms: Iterable[tuple[str, Sequence[ProcessorMeans | HypervisorMeans]]]) -> list[dict[str, Any]]:
    """Rows of the first processors of hosts, or hypervisors, of each arm."""
    return [
        {"arm": arm, "index": index, "own": own, "is_first": at == 0}
        for index, (arm, found) in enumerate(arms)
        for at, own in enumerate(found[:HOSTS_MAX])
    ]


def _costs(arms: Sequence[tuple[str, ArmSummary]]) -> list[dict[str, Any]]:
    """What live programs, the switch and the machine of each arm spent, and the interfaces that lost frames."""
    found = []
    for index, (arm, arm_summary) in enumerate(arms):
        costs: Costs | None = arm_summary.costs
        if costs:
            rows, losses = parts_of(costs, HOSTS_MAX), list(costs.losses.items())[:HOSTS_MAX]
            found.append({"arm": arm, "index": index, "rows": rows, "machine": costs.machine, "losses": losses})
    return found


def _busiest(hosts: list[HostMeans]) -> list[HostMeans]:
    """Hosts that lost frames or were busiest: a fabric has hundreds that did little."""
    ranked = sorted(hosts, key=lambda host: (-(host.nic_queue_drops + host.rx_ring_drops), -host.cpu_busy_share))
    kept = {host.name for host in ranked[:HOSTS_MAX]}
    return [host for host in hosts if host.name in kept]
